//! PNG files, by the crate `png`, decoded to the channels that an op wants.
//!
//! As in TensorFlow, gray is the integer part of 0.299 red + 0.587 green + 0.114 blue, 16 bits become 8 by
//! their high byte, and 8 bits 16 by repetition.

use millstream_graph::op::StepEnv;
use millstream_tensor::budget::{Charged, left};
use millstream_tensor::{Code, Error, Result, invalid};
use png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};
use std::io::Cursor;

/// A PNG file whose head has been read.
pub(super) struct Image<'a> {
    file: &'a [u8],
    reader: png::Reader<Cursor<&'a [u8]>>,
    pub height: usize,
    pub width: usize,
    /// The number of channels that are wanted.
    pub channels: usize,
}

/// The largest side, and the largest number of bytes.
const SIDE: usize = 1 << 27;
const MOST: usize = 1 << 29;

#[cold]
fn broken(file: &[u8], why: &str) -> Error {
    invalid!("Invalid PNG data, size {}", file.len(); "the PNG file is not valid: {why}")
}

#[cold]
fn failed(file: &[u8], error: &DecodingError) -> Error {
    match error {
        DecodingError::LimitsExceeded => {
            Error::new(Code::ResourceExhausted, "the PNG file exceeds the memory limit")
        }
        _ => broken(file, &error.to_string()),
    }
}

impl<'a> Image<'a> {
    /// Opens a file, to be decoded to this many channels, or to its own if it is 0.
    pub fn open(file: &'a [u8], channels: usize) -> Result<Image<'a>> {
        // The size stands in the first chunk. It is checked before the decoder sets up anything for it.
        let word = |at: usize| file.get(at..at + 4)?.try_into().ok().map(|b| u32::from_be_bytes(b) as usize);
        let (Some(width), Some(height)) = (word(16), word(20)) else {
            return Err(broken(file, "it is short"));
        };
        let bytes = width.checked_mul(height).and_then(|n| n.checked_mul(8));
        if width == 0 || height == 0 || SIDE <= width || SIDE <= height || bytes.is_none_or(|n| 2 * MOST <= n)
        {
            return Err(
                invalid!("PNG size too large for int: {width} by {height}"; "the PNG file is too large"),
            );
        }
        let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: left() });
        decoder.set_transformations(Transformations::EXPAND);
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let reader = decoder.read_info().map_err(|e| failed(file, &e))?;
        let info = reader.info();
        let own = match info.color_type {
            ColorType::Indexed if info.trns.is_some() => 4,
            ColorType::Indexed => 3,
            other => other.samples(),
        };
        let channels = if channels == 0 { own } else { channels };
        Ok(Image { file, reader, height, width, channels })
    }

    /// Reads the pixels as they are in the file. Returns their channels, and whether a sample has two bytes.
    fn pixels(&mut self) -> Result<(Charged<u8>, usize, bool)> {
        let size = self.reader.output_buffer_size().ok_or_else(|| broken(self.file, "it is too large"))?;
        let mut pixels = Charged::with_room(size)?;
        pixels.resize_with(size, || 0)?;
        self.reader.next_frame(&mut pixels).map_err(|e| failed(self.file, &e))?;
        // The rest of the file is checked, too.
        self.reader.finish().map_err(|e| failed(self.file, &e))?;
        let (color, depth) = self.reader.output_color_type();
        Ok((pixels, color.samples(), depth == BitDepth::Sixteen))
    }

    /// Fills an image of bytes.
    pub fn read(mut self, env: &StepEnv, out: &mut [u8]) -> Result<()> {
        let (pixels, n, wide) = self.pixels()?;
        let step = if wide { 2 } else { 1 };
        self.convert(env, out, |i| u32::from(pixels[i * step]), n, 0xFF, |v| v as u8)
    }

    /// Fills an image of samples of 16 bits.
    pub fn read_wide(mut self, env: &StepEnv, out: &mut [u16]) -> Result<()> {
        let (pixels, n, wide) = self.pixels()?;
        // Bytes are widened at the end, so that their gray is that of bytes.
        match wide {
            true => {
                let sample = |i: usize| u32::from(pixels[2 * i]) << 8 | u32::from(pixels[2 * i + 1]);
                self.convert(env, out, sample, n, 0xFFFF, |v| v as u16)
            }
            false => self.convert(env, out, |i| u32::from(pixels[i]), n, 0xFF, |v| (v * 257) as u16),
        }
    }

    /// Fills `out` with pixels of the wanted channels, from those of `n` channels.
    fn convert<T>(
        &self,
        env: &StepEnv,
        out: &mut [T],
        sample: impl Fn(usize) -> u32,
        n: usize,
        opaque: u32,
        to: impl Fn(u32) -> T,
    ) -> Result<()> {
        let (has_alpha, is_gray) = (n.is_multiple_of(2), n < 3);
        for (y, line) in out.chunks_exact_mut(self.width * self.channels).enumerate() {
            if y.is_multiple_of(64) {
                env.cancel.check()?;
            }
            for (x, pixel) in line.chunks_exact_mut(self.channels).enumerate() {
                let at = (y * self.width + x) * n;
                let colour = |i: usize| sample(if is_gray { at } else { at + i });
                let last = self.channels - 1;
                for (i, v) in pixel.iter_mut().enumerate() {
                    *v = to(match i {
                        _ if i == last && self.channels.is_multiple_of(2) => {
                            if has_alpha {
                                sample(at + n - 1)
                            } else {
                                opaque
                            }
                        }
                        _ if self.channels < 3 && !is_gray => gray(colour(0), colour(1), colour(2)),
                        _ => colour(i),
                    });
                }
            }
        }
        Ok(())
    }
}

/// The brightness of a colour, with weights of 15 bits.
fn gray(r: u32, g: u32, b: u32) -> u32 {
    if r == g && g == b { r } else { (r * 9798 + g * 19235 + b * 3735) >> 15 }
}
