//! `AudioSummary`, `AudioSummaryV2`: audio clips as WAV files.

use super::message::{each_tag, give, room_for_value, scalar, tag};
use millstream_graph::op::spec::{AtLeast, Float, Spec};
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_proto::summary::{Audio, Value, value};
use millstream_tensor::DType::{F32, Str};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::{Pace, look};
use millstream_tensor::{Result, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    let declare = |name| {
        OpDef::new(name)
            .doc(
                "Returns a summary with the first `max_outputs` of a batch of audio clips of shape \
                 `[batch, frames]` or `[batch, frames, channels]`, as 16-bit WAV files with `sample_rate` \
                 frames per second. The tags are `TAG/audio/0` and so on, or `TAG/audio` if `max_outputs` \
                 is 1. Values are clipped to the range from -1 to 1.",
            )
            .input("tag", Str)
            .input("tensor", F32)
    };
    let rest = |def: OpDef| {
        def.output("summary", Str)
            .attr("max_outputs", AtLeast(1).or(3))
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(2.0)))
    };
    [
        rest(declare("AudioSummary").attr("sample_rate", Float)),
        rest(declare("AudioSummaryV2").input("sample_rate", F32)),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let sounds = cx.input(1);
    ensure!(
        sounds.rank().is_none_or(|rank| matches!(rank, 2 | 3)),
        "Tensor must be 3-D or 2-D, got: {sounds}"
    );
    cx.scalars()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let tag = tag(scalar(cx, 0, "Tag must be a scalar")?)?;
    let sample_rate = match cx.n_inputs() {
        2 => cx.attrs().float("sample_rate")?,
        _ => match cx.input(2).as_slice::<f32>()? {
            [rate] => *rate,
            _ => {
                return Err(invalid!("`sample_rate` must be a scalar but has shape {}", cx.input(2).shape()));
            }
        },
    };
    let sounds = cx.input(1);
    let (n, frames, channels) = match sounds.shape()[..] {
        [n, frames] => (n, frames, 1),
        [n, frames, channels] => (n, frames, channels),
        _ => return Err(invalid!("Tensor must be 3-D or 2-D, got: {}", sounds.shape())),
    };
    ensure!(sample_rate > 0.0, "sample_rate must be > 0, but is {sample_rate}");
    let most = usize::try_from(cx.attrs().int("max_outputs")?).unwrap_or(usize::MAX);
    let (mut values, mut room) = (Vec::new(), Room::default());
    for (i, tag) in each_tag(&tag, "audio", most).take(n.min(most)).enumerate() {
        look()?;
        room_for_value(&mut room, tag.len(), frames.saturating_mul(channels).saturating_mul(2))?;
        let audio = Audio {
            sample_rate,
            num_channels: channels as i64,
            length_frames: frames as i64,
            encoded_audio_string: wav(sounds.row(i)?.as_slice()?, frames, channels, sample_rate)?,
            content_type: "audio/wav".into(),
        };
        values.push(Value { tag, value: Some(value::Value::Audio(audio)), ..Value::default() });
    }
    give(cx, values)
}

/// Encodes samples as a WAV file. The samples of a frame are adjacent.
fn wav(samples: &[f32], frames: usize, channels: usize, sample_rate: f32) -> Result<Vec<u8>> {
    const BYTES: u32 = 2;
    ensure!(!samples.is_empty(), "a sound must not be empty, but has {frames} frames of {channels} channels");
    let rate = sample_rate.round_ties_even().max(1.0);
    ensure!(rate < u32::MAX as f32, "sample_rate must be less than 2^32, but is {sample_rate}");
    let rate = rate as u32;
    let too_large = || invalid!("{frames} frames of {channels} channels are too large for a WAV file");
    let n_channels = u16::try_from(channels).map_err(|_| too_large())?;
    let frame = u32::from(n_channels).checked_mul(BYTES).ok_or_else(too_large)?;
    let size =
        u32::try_from(frames).ok().and_then(|frames| frame.checked_mul(frames)).ok_or_else(too_large)?;
    let whole = size.checked_add(36).ok_or_else(too_large)?;
    let per_second = rate.checked_mul(frame).ok_or_else(too_large)?;
    let frame_bytes = u16::try_from(frame).map_err(|_| too_large())?;

    let mut file = Vec::with_capacity(whole as usize + 8);
    file.extend(b"RIFF");
    file.extend(whole.to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16u32.to_le_bytes());
    // The format code of PCM.
    file.extend(1u16.to_le_bytes());
    file.extend(n_channels.to_le_bytes());
    file.extend(rate.to_le_bytes());
    file.extend(per_second.to_le_bytes());
    file.extend(frame_bytes.to_le_bytes());
    file.extend(16u16.to_le_bytes());
    file.extend(b"data");
    file.extend(size.to_le_bytes());
    let mut pace = Pace::new();
    for samples in samples.chunks(1024) {
        pace.spend(samples.len())?;
        // The cast saturates, and converts NaN to 0.
        file.extend(samples.iter().flat_map(|v| ((v * 32768.0).round() as i16).to_le_bytes()));
    }
    Ok(file)
}

cases! {
    one: r#"AudioSummaryV2("t", [[0.5]], 8000.0; max_outputs=1) = "\nO\n\x07t/audio2D\r\0\0\xfaE\x10\x01\x18\x01\".RIFF&\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0data\x02\0\0\0\0@*\taudio/wav""#,
    nothing: r#"AudioSummaryV2("t", f32[0,3] [], 8000.0) = """#,
    by_its_old_name: r#"AudioSummary("t", f32[0,3] []; sample_rate=8000.0) = """#,
    is_a_scalar: "AudioSummaryV2(str[], f32[?,?,2], f32[]) : str[]",
    two_or_three_axes: r#"AudioSummaryV2("t", [0.5], 8000.0) ! Tensor must be 3-D or 2-D, got: [1]"#,
    one_tag: r#"AudioSummaryV2(["t"], [[0.5]], 8000.0) ! Tag must be a scalar"#,
    some_rate: r#"AudioSummaryV2("t", [[0.5]], 0.0) ! sample_rate must be > 0"#,
    no_such_rate: r#"AudioSummaryV2("t", [[0.5]], 1e20) ! sample_rate must be less than 2^32"#,
    a_number: r#"AudioSummaryV2("t", [[0.5]], nan) ! sample_rate must be > 0"#,
    one_rate: r#"AudioSummaryV2("t", [[0.5]], [1.0 2.0]) ! `sample_rate` must be a scalar"#,
    something_to_hear: r#"AudioSummaryV2("t", f32[1,3,0] [], 8000.0) ! a sound must not be empty"#,
}
