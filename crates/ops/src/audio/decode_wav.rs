//! `DecodeWav`: the samples of a WAV file.

use crate::shared::elementwise::fresh;
use crate::shared::strings::strs;
use millstream_graph::op::spec::{Int, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I32, Str};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Dim, PartialShape, Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("DecodeWav")
        .doc(
            "Decodes a WAV file with samples of 16 bits to floats between -1 and 1, of shape `[samples, channels]`, \
             and its sample rate. `desired_samples` cuts the sound, or appends silence. `desired_channels` leaves \
             out the last channels, or repeats the last one. Both are -1 for the numbers in the file.",
        )
        .input("contents", Str)
        .output("audio", F32)
        .output("sample_rate", I32)
        .attr("desired_channels", Int.or(-1))
        .attr("desired_samples", Int.or(-1))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(10_000.0)))
        .gradient(Gradient::none("what is read from bytes has none, as in TensorFlow"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    let wanted = |name: &str, what: &str| -> Result<Dim> {
        match cx.attrs().int(name)? {
            -1 => Ok(None),
            n => usize::try_from(n).map(Some).map_err(|_| {
                invalid!("{what} must be non-negative, got {n}"; "`{name}` is -1 for the number in the file")
            }),
        }
    };
    let shape =
        PartialShape::new([wanted("desired_samples", "samples")?, wanted("desired_channels", "channels")?]);
    cx.set(0, shape);
    cx.set(1, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (strs, shape) = (strs(cx, 0)?, cx.input(0).shape());
    let ([contents], 0) = (strs, shape.rank()) else {
        return Err(invalid!("contents must be scalar, got shape {shape}"; "`contents` is one WAV file"));
    };
    let sound = Sound::of(contents)?;
    let size = |name: &str, held: usize| -> Result<usize> {
        Ok(usize::try_from(cx.attrs().int(name)?).unwrap_or(held))
    };
    let columns = size("desired_channels", sound.channels)?;
    let shape = Shape::from([size("desired_samples", sound.samples())?, columns]);
    shape.checked_elements()?;
    let mut out = Tensor::zeros(F32, shape)?;
    if columns != 0 {
        let mut pace = Pace::new();
        let rows = fresh::<f32>(&mut out)?.chunks_exact_mut(columns);
        for (row, frame) in rows.zip(sound.data.chunks_exact(2 * sound.channels)) {
            pace.spend(columns)?;
            for (i, cell) in row.iter_mut().enumerate() {
                let at = 2 * i.min(sound.channels - 1);
                *cell = f32::from(i16::from_le_bytes([frame[at], frame[at + 1]])) / 32768.0;
            }
        }
    }
    // A rate beyond i32 wraps around, as in TensorFlow.
    let rate = sound.rate as i32;
    cx.set(0, out);
    cx.set(1, Tensor::scalar(rate));
    Ok(())
}

/// A WAV file.
struct Sound<'a> {
    channels: usize,
    rate: u32,
    /// The samples: of each moment, those of all channels.
    data: &'a [u8],
}

impl<'a> Sound<'a> {
    /// Reads a file of chunks. Those that are not about the samples are skipped.
    fn of(file: &'a [u8]) -> Result<Sound<'a>> {
        let mut rest = Bytes(file);
        rest.expect("RIFF")?;
        rest.u32()?;
        rest.expect("WAVE")?;
        rest.expect("fmt ")?;
        let size = rest.u32()?;
        ensure!(
            size == 16 || size == 18,
            "Bad file size for WAV: Expected 16 or 18, but got{size}";
            "the chunk `fmt ` has {size} bytes: only that of uncompressed samples is known"
        );
        let format = rest.u16()?;
        ensure!(
            format == 1,
            "Bad audio format for WAV: Expected 1 (PCM), but got{format}"; "the samples must not be compressed"
        );
        let (channels, rate, rate_of_bytes) = (rest.u16()?, rest.u32()?, rest.u32()?);
        ensure!(
            0 < channels,
            "Bad number of channels for WAV: Expected at least 1, but got {channels}";
            "`contents` is a sound of nothing"
        );
        let (frame, bits) = (rest.u16()?, rest.u16()?);
        ensure!(
            bits == 16,
            "Can only read 16-bit WAV files, but received {bits}"; "convert the samples to 16 bits first"
        );
        let expected = 2 * u32::from(channels);
        ensure!(
            u32::from(frame) == expected,
            "Bad bytes per sample in WAV header: Expected {expected} but got {frame}";
            "there are {channels} channels of 2 bytes"
        );
        let per_second = u64::from(frame) * u64::from(rate);
        ensure!(
            u64::from(rate_of_bytes) == per_second,
            "Bad bytes per second in WAV header: Expected {per_second} but got {rate_of_bytes} (sample_rate={rate}, bytes_per_sample={frame})";
            "`contents` has a header that contradicts itself"
        );
        if size == 18 {
            rest.u16()?;
        }
        let mut data = None;
        while !rest.0.is_empty() {
            let (name, size) = (rest.take(4)?, rest.u32()?);
            ensure!(
                size <= i32::MAX as u32,
                "WAV data chunk '{}' is too large: {size} bytes, but the limit is {}", name.escape_ascii(), i32::MAX;
                "`contents` is damaged"
            );
            if name != b"data" {
                rest.0 = rest.0.get(size as usize..).unwrap_or_default();
                continue;
            }
            ensure!(data.is_none(), "More than one data chunk found in WAV"; "split `contents` into one file for each");
            data = Some(rest.take((size / expected * expected) as usize)?);
        }
        let data = data.ok_or_else(|| invalid!("No data chunk found in WAV"; "`contents` has no samples"))?;
        Ok(Sound { channels: channels.into(), rate, data })
    }

    fn samples(&self) -> usize {
        self.data.len() / (2 * self.channels)
    }
}

/// What remains to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let Some((head, rest)) = self.0.split_at_checked(n) else {
            return Err(invalid!(
                "Data too short when trying to read string";
                "`contents` ends {} bytes early", n - self.0.len()
            ));
        };
        self.0 = rest;
        Ok(head)
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        let found = self.take(4)?;
        ensure!(
            found == text.as_bytes(),
            "Header mismatch: Expected {text} but found {}", found.escape_ascii(); "`contents` is no WAV file"
        );
        Ok(())
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(self.take(2)?.iter().rev().fold(0, |n, b| n << 8 | u16::from(*b)))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(self.take(4)?.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b)))
    }
}

cases! {
    written: "DecodeWav(EncodeWav([[0.0 0.5] [-1.0 1.0]], 8000)) = [[0.0 0.5] [-1.0 0.999969482421875]], 8000",
    cut: "DecodeWav(EncodeWav([[0.0 0.5] [-1.0 0.25]], 8000); desired_channels=1, desired_samples=1) = [[0.0]], 8000",
    with_silence: "DecodeWav(EncodeWav([[0.5]], 8000); desired_channels=2, desired_samples=2) = [[0.5 0.5] [0.0 0.0]], 8000",
    of_no_channels: "DecodeWav(EncodeWav([[0.5]], 8000); desired_channels=0) = f32[1,0] [], 8000",
    a_chunk_more: r#"DecodeWav("RIFF\x32\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00LIST\x02\x00\x00\x00abdata\x02\x00\x00\x00\x00\x40") = [[0.5]], 8000"#,
    infers: "DecodeWav(str[]; desired_channels=1) : f32[?,1], i32[]",
    one_file: "DecodeWav(str[2]) ! must be rank 0 but is rank 1",
    of_this_kind: r#"DecodeWav("RIFXabcdWAVE") ! Header mismatch: Expected RIFF but found RIFX"#,
    whole: r#"DecodeWav("RIFF") ! Data too short"#,
    not_compressed: r#"DecodeWav("RIFFabcdWAVEfmt \x10\x00\x00\x00\x03\x00") ! Bad audio format for WAV: Expected 1 (PCM), but got3"#,
    some_channel: "DecodeWav(str[]; desired_channels=-2) ! channels must be non-negative, got -2",
    with_samples: r#"DecodeWav("RIFF\x32\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00LIST\x02\x00\x00\x00ab") ! No data chunk found in WAV"#,
}
