//! Decoding of JPEG files, with libjpeg's arithmetic: TensorFlow uses libjpeg-turbo, and its default
//! transform is libjpeg's fast one, whose rounding is its own. The decoders that are kept as crates
//! (`zune-jpeg` 0.5 and `jpeg-decoder` 0.3 were measured) use an exact transform, and differ from
//! TensorFlow's default by more than one step in 26 to 43 of 100 bytes, and by up to 8 steps. None of them
//! gives access to coefficients.
//!
//! - [`header`]: the segments of a file; [`Frame`] is the image that it declares.
//! - [`scan`]: the coefficients, from sequential and progressive Huffman scans.
//! - [`transform`]: blocks of samples from coefficients, fast or accurate.
//! - [`encoder`]: the way back.
//! - [`pixels`]: larger planes from samples, and colours.
//!
//! Not there: arithmetic coding, lossless files, 12 bits a sample.

mod codes;
mod encoder;
mod header;
mod pixels;
mod scan;
mod transform;

pub(super) use encoder::{Form, encode};
pub(super) use header::{Frame, frame_of};
pub(super) use transform::Method;

use header::Reader;
use millstream_graph::op::StepEnv;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, invalid};

/// How a file is decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// The number of channels of the result: 1 or 3, or 0 for that of the file.
    pub channels: usize,
    /// Whether small planes are enlarged by a triangle filter. Otherwise samples are repeated.
    pub smooth: bool,
    /// The transform.
    pub method: Method,
    /// Whether the missing part of a file that ends early is gray instead of an error.
    pub recover: bool,
}

/// The largest number of bytes of an image.
pub(super) const MOST: usize = 1 << 29;

/// Returns the number of channels that an image of this frame has.
pub(super) fn channels(frame: &Frame, wanted: usize) -> Result<usize> {
    let channels = if wanted == 0 { frame.components.len().min(3) } else { wanted };
    match channels {
        1 | 3 => Ok(channels),
        _ => Err(invalid!("a JPEG file decodes to 1 or 3 channels, not {channels}")),
    }
}

/// Decodes a file into `out`, whose size is that of the frame.
pub(super) fn decode(env: &StepEnv, file: &[u8], options: &Options, out: &mut [u8]) -> Result<()> {
    let mut reader = Reader::new(file);
    let planes = scan::planes(env, &mut reader, options)?;
    pixels::fill(env, &reader.tables, &planes, options, out)
}

/// The samples of a component. Lines are `stride` samples apart, and only the first `width` of each and the
/// first `height` lines belong to the image.
#[derive(Debug)]
struct Plane {
    samples: Charged<u8>,
    stride: usize,
    width: usize,
    height: usize,
    /// How much larger the image is along each axis.
    across: usize,
    down: usize,
}

impl Plane {
    /// Line `y`, or the last one.
    fn line(&self, y: usize) -> &[u8] {
        &self.samples[y.min(self.height - 1) * self.stride..][..self.width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_graph::op::lone;

    const SIZE: [usize; 2] = [19, 37];

    fn options() -> Options {
        Options { channels: 3, smooth: true, method: Method::Fast, recover: false }
    }

    /// A picture of slopes, and its file.
    fn file(halves: bool) -> (Vec<u8>, Vec<u8>) {
        let [height, width] = SIZE;
        let pixel = |i: usize| [(i % width * 6) as u8, (i / width * 12) as u8, (i / 4) as u8];
        let pixels: Vec<u8> = (0..height * width).flat_map(pixel).collect();
        let form = Form {
            height,
            width,
            channels: 3,
            quality: 95,
            halves,
            density: (1, 300, 300),
            about: Vec::new(),
        };
        let file = encode(&lone::env(), &form, &pixels).unwrap();
        (pixels, file)
    }

    fn decoded(file: &[u8], options: &Options) -> Result<Vec<u8>> {
        let frame = frame_of(file)?;
        let n = frame.height * frame.width * channels(&frame, options.channels)?;
        if 1 << 20 < n {
            return Err(invalid!("a test does not wait for that"));
        }
        let mut out = vec![0; n];
        decode(&lone::env(), file, options, &mut out).map(|()| out)
    }

    #[test]
    fn pictures_come_back() {
        for halves in [false, true] {
            let (pixels, file) = file(halves);
            for method in [Method::Fast, Method::Accurate] {
                let back = decoded(&file, &Options { method, ..options() }).unwrap();
                let off = pixels.iter().zip(&back).map(|(a, b)| u32::from(a.abs_diff(*b))).sum::<u32>();
                assert!(off < 3 * pixels.len() as u32, "{method:?}: {off}");
            }
        }
    }

    #[test]
    fn cut_files_are_errors_and_can_be_recovered() {
        let (_, file) = file(true);
        for n in 0..file.len() {
            assert!(decoded(&file[..n], &options()).is_err(), "{n} bytes");
        }
        let recover = Options { recover: true, ..options() };
        let (whole, part) =
            (decoded(&file, &recover).unwrap(), decoded(&file[..file.len() - 40], &recover).unwrap());
        assert_eq!(whole[..600], part[..600]);
        assert_eq!(part[part.len() - 3..], [128; 3]);
    }

    #[test]
    fn broken_files_end() {
        let (_, file) = file(true);
        for i in 0..file.len() {
            for byte in [0, 0xFF, file[i] ^ 0x10] {
                let mut broken = file.clone();
                broken[i] = byte;
                // Whether it is an image or an error: nothing panics.
                let _ = decoded(&broken, &options());
            }
        }
    }
}
