//! `EncodeWav`: a WAV file of samples.

use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I32, Str as Text};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::paced;
use millstream_tensor::{PartialShape, Result, Shape, Str, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("EncodeWav")
        .doc(
            "Encodes samples of shape `[samples, channels]` as a WAV file with samples of 16 bits. Samples beyond \
             -1 and 1 are cut off.",
        )
        .input("audio", F32)
        .input("sample_rate", I32)
        .output("contents", Text)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(2.0)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.with_rank(0, 2)?;
    cx.scalar(1)?;
    cx.set(0, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (shape, of_rate) = (cx.input(0).shape(), cx.input(1).shape());
    ensure!(shape.rank() == 2, "audio must be 2-dimensional{shape}"; "`audio` must have rank 2: `[samples, channels]`");
    ensure!(
        of_rate.rank() == 0,
        "Input sample_rate should be a scalar tensor, got {of_rate} instead."; "`sample_rate` is one number"
    );
    let rate = cx.int(1)?;
    ensure!(
        0 < rate,
        "sample_rate must be in (0, 2^32), got: {}", rate as u64; "`sample_rate` is {rate}, and must be positive"
    );
    ensure!(0 < shape.elements(), "audio is null"; "`audio` has shape {shape}: it must hold a sample");
    let channels = shape[1];
    ensure!(
        channels <= usize::from(u16::MAX),
        "num_channels must be in (0, 2^16), got: {channels}"; "`audio` has shape {shape}"
    );
    let size = u32::try_from(shape.elements().saturating_mul(2)).ok().filter(|n| *n <= u32::MAX - 36);
    ensure!(size.is_some(), "`audio` has shape {shape}: a WAV file has less than 4 GB");
    let (size, rate, channels) = (size.unwrap_or(0), rate as u32, channels as u16);
    let _room = Room::of(44 + size as usize)?;
    let mut file = Vec::with_capacity(44 + size as usize);
    let mut put = |bytes: &[u8]| file.extend_from_slice(bytes);
    put(b"RIFF");
    put(&(36 + size).to_le_bytes());
    put(b"WAVEfmt ");
    put(&16u32.to_le_bytes());
    put(&1u16.to_le_bytes());
    put(&channels.to_le_bytes());
    put(&rate.to_le_bytes());
    // As in TensorFlow, a product that does not fit wraps around.
    put(&rate.wrapping_mul(2 * u32::from(channels)).to_le_bytes());
    put(&channels.wrapping_mul(2).to_le_bytes());
    put(&16u16.to_le_bytes());
    put(b"data");
    put(&size.to_le_bytes());
    let samples = cx.input(0).as_slice::<f32>()?;
    paced(samples.len(), |range| {
        for sample in &samples[range] {
            // The conversion keeps within the integers, and makes 0 of NaN.
            file.extend_from_slice(&((sample * 32768.0).round() as i16).to_le_bytes());
        }
    })?;
    cx.set(0, Tensor::strings(Shape::default(), vec![Str::new(file)?])?);
    Ok(())
}

cases! {
    a_file: r#"EncodeWav([[0.0] [0.5]], 8000) = "RIFF\x28\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x04\x00\x00\x00\x00\x00\x00\x40""#,
    cut_off: "DecodeWav(EncodeWav([[2.0] [-2.0] [nan]], 1)) = [[0.999969482421875] [-1.0] [0.0]], 1",
    infers: "EncodeWav(f32[?,?], i32[]) : str[]",
    of_samples: "EncodeWav(f32[3], i32[]) ! must be rank 2 but is rank 1",
    of_something: "EncodeWav(f32[0,2] [], 8000) ! it must hold a sample",
    at_a_rate: "EncodeWav([[1.0]], 0) ! sample_rate must be in (0, 2^32), got: 0",
}
