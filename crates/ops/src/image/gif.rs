//! GIF files, by the crate `gif`. As in TensorFlow, transparency is ignored: a frame replaces the part of the
//! canvas that it covers, and the first must cover all of it.

use gif::{ColorOutput, DecodeOptions, Decoder, DecodingError, MemoryLimit};
use millstream_graph::op::StepEnv;
use millstream_tensor::budget::{Charged, left};
use millstream_tensor::{Code, Error, Result, ensure, invalid};
use std::num::NonZeroU64;

/// The size of a file's canvas, and the number of its frames. As in TensorFlow, the canvas is as large as the
/// largest frame, whatever the head of the file says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub width: usize,
    pub height: usize,
    pub frames: usize,
}

fn decoder(file: &[u8], skips: bool) -> Result<Decoder<&[u8]>> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::Indexed);
    options.skip_frame_decoding(skips);
    let most = NonZeroU64::new(left() as u64).unwrap_or(NonZeroU64::MIN);
    options.set_memory_limit(MemoryLimit::Bytes(most));
    options.read_info(file).map_err(|e| failed(file, &e))
}

#[cold]
fn failed(file: &[u8], error: &DecodingError) -> Error {
    match error {
        DecodingError::MemoryLimit | DecodingError::OutOfMemory => {
            Error::new(Code::ResourceExhausted, "a frame of the GIF file exceeds the memory limit")
        }
        _ => broken(file, &error.to_string()),
    }
}

#[cold]
fn broken(file: &[u8], why: &str) -> Error {
    invalid!("Invalid GIF data (size {}), {why}", file.len(); "`contents` is not a whole GIF file")
}

/// Reads the size of the canvas, and counts the frames.
pub(super) fn head(env: &StepEnv, file: &[u8]) -> Result<Head> {
    let mut decoder = decoder(file, true)?;
    let (mut width, mut height, mut frames) = (0, 0, 0);
    loop {
        env.cancel.check()?;
        match decoder.next_frame_info().map_err(|e| failed(file, &e))? {
            Some(frame) => {
                width = width.max(usize::from(frame.width));
                height = height.max(usize::from(frame.height));
                frames += 1;
            }
            None => break,
        }
    }
    if frames == 0 {
        return Err(broken(file, "failed to slurp gif file: No Image Descriptor detected"));
    }
    ensure!(0 < width && 0 < height, "a GIF image of {width} x {height} pixels has none");
    Ok(Head { width, height, frames })
}

/// Fills `out` with the canvas after each frame.
pub(super) fn read(env: &StepEnv, file: &[u8], head: &Head, out: &mut [u8]) -> Result<()> {
    let mut decoder = decoder(file, false)?;
    let size = head.width * head.height * 3;
    let mut indices: Charged<u8> = Charged::new();
    for k in 0..head.frames {
        env.cancel.check()?;
        let frame = decoder.next_frame_info().map_err(|e| failed(file, &e))?;
        let Some(frame) = frame else { return Err(broken(file, "it ends before its frames do")) };
        let place = [frame.left, frame.top, frame.width, frame.height].map(usize::from);
        if k == 0 && place != [0, 0, head.width, head.height] {
            return Err(broken(file, "the first frame does not fill the canvas"));
        }
        indices.resize_with(place[2] * place[3], || 0)?;
        decoder.read_into_buffer(&mut indices[..place[2] * place[3]]).map_err(|e| failed(file, &e))?;
        let palette = decoder.palette().map_err(|e| failed(file, &e))?;
        let (before, canvas) = out[..(k + 1) * size].split_at_mut(k * size);
        if let Some(last) = before.rchunks_exact(size).next() {
            canvas.copy_from_slice(last);
        }
        paint(head, place, &indices, palette, canvas)
            .ok_or_else(|| broken(file, "a colour is not in its color map"))?;
    }
    Ok(())
}

/// Paints the part of a frame that is on the canvas. `None` if a colour does not exist.
fn paint(
    head: &Head,
    [left, top, width, height]: [usize; 4],
    indices: &[u8],
    palette: &[u8],
    canvas: &mut [u8],
) -> Option<()> {
    for y in 0..height.min(head.height.saturating_sub(top)) {
        for x in 0..width.min(head.width.saturating_sub(left)) {
            let at = usize::from(indices[y * width + x]) * 3;
            let to = ((top + y) * head.width + left + x) * 3;
            canvas[to..to + 3].copy_from_slice(palette.get(at..at + 3)?);
        }
    }
    Some(())
}
