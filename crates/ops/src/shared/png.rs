//! PNG files of images and of summaries: [`encoded`].

use millstream_tensor::budget::Room;
use millstream_tensor::pace::look;
use millstream_tensor::{Error, Result, invalid};
use png::{BitDepth, ColorType};
use std::io::Write as _;

/// Encodes an image, whose samples are big-endian if `wide`. The level of compression is from 0 to 9.
pub(crate) fn encoded(
    [height, width, channels]: [usize; 3],
    samples: &[u8],
    wide: bool,
    level: Option<u8>,
) -> Result<Vec<u8>> {
    let side =
        |n: usize| u32::try_from(n).map_err(|_| invalid!("an image with a side of {n} pixels is too large"));
    // The filtered samples, and the file.
    let _room = Room::of(samples.len().saturating_mul(2))?;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, side(width)?, side(height)?);
    encoder.set_depth(if wide { BitDepth::Sixteen } else { BitDepth::Eight });
    encoder.set_color(match channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    });
    encoder.set_compression(match level {
        Some(0) => png::Compression::NoCompression,
        Some(1..=3) => png::Compression::Fast,
        None | Some(4..=6) => png::Compression::Balanced,
        Some(_) => png::Compression::High,
    });
    let mut writer = encoder.write_header().map_err(|e| not_encoded(&e))?;
    if samples.len() <= AT_ONCE {
        writer.write_image_data(samples).map_err(|e| not_encoded(&e))?;
    } else {
        let mut stream = writer.stream_writer().map_err(|e| not_encoded(&e))?;
        for part in samples.chunks(PART) {
            look()?;
            stream.write_all(part).map_err(|e| not_encoded(&e))?;
        }
        stream.finish().map_err(|e| not_encoded(&e))?;
    }
    writer.finish().map_err(|e| not_encoded(&e))?;
    Ok(file)
}

/// The samples of an image that is compressed at once, and those of a part of a larger one. At the highest
/// level a MiB takes up to 0.2 s (2026-11), and the run's deadline is looked at in between.
const AT_ONCE: usize = 1 << 18;
const PART: usize = 1 << 16;

fn not_encoded(why: &dyn std::fmt::Display) -> Error {
    Error::internal(format!("an image could not be encoded: {why}"))
}
