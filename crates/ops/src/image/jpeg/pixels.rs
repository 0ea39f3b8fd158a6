//! Pixels of samples: planes are enlarged to the size of the image, and colours are converted, with libjpeg's
//! roundings.

use super::header::{Space, Tables};
use super::{Options, Plane};
use millstream_graph::op::StepEnv;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Error, Result};

/// Fills an image.
pub(super) fn fill(
    env: &StepEnv,
    tables: &Tables,
    planes: &[Plane],
    options: &Options,
    out: &mut [u8],
) -> Result<()> {
    let (frame, space) = (tables.frame()?, tables.space()?);
    let depth = super::channels(frame, options.channels)?;
    let needed = match (space, depth) {
        (Space::Gray | Space::Ycc, 1) | (Space::Gray, _) => 1,
        (Space::Cmyk | Space::Ycck, 1) => {
            return Err(Error::unimplemented(
                "a CMYK JPEG file cannot be decoded to 1 channel: decode 3 channels, then convert",
            ));
        }
        _ => planes.len(),
    };
    let planes = &planes[..needed];
    let mut lines: Vec<Charged<u8>> = Vec::new();
    for _ in planes {
        let mut line = Charged::with_room(frame.width + 8)?;
        line.resize_with(frame.width + 8, || 0)?;
        lines.push(line);
    }
    for (y, pixels) in out.chunks_exact_mut(frame.width * depth).enumerate() {
        if y.is_multiple_of(64) {
            env.cancel.check()?;
        }
        for (plane, line) in planes.iter().zip(&mut lines) {
            enlarge(plane, y, options.smooth, &mut line[..frame.width]);
        }
        let at = |i: usize| lines.get(i).map(|line| &**line).unwrap_or_default();
        let (a, b, c, d) = (at(0), at(1), at(2), at(3));
        let inverted = tables.adobe.is_some();
        match (space, depth) {
            (Space::Gray | Space::Ycc, 1) => pixels.copy_from_slice(&a[..frame.width]),
            (Space::Gray, _) => each(pixels, |x| [a[x]; 3]),
            (Space::Rgb, 1) => pixels.iter_mut().enumerate().for_each(|(x, p)| *p = gray(a[x], b[x], c[x])),
            (Space::Rgb, _) => each(pixels, |x| [a[x], b[x], c[x]]),
            (Space::Ycc, _) => each(pixels, |x| rgb(a[x], b[x], c[x])),
            (Space::Cmyk, _) => each(pixels, |x| of_inks([a[x], b[x], c[x]], d[x], inverted)),
            (Space::Ycck, _) => {
                each(pixels, |x| of_inks(rgb(a[x], b[x], c[x]).map(|v| 255 - v), d[x], inverted));
            }
        }
    }
    Ok(())
}

fn each(pixels: &mut [u8], colour: impl Fn(usize) -> [u8; 3]) {
    for (x, pixel) in pixels.chunks_exact_mut(3).enumerate() {
        pixel.copy_from_slice(&colour(x));
    }
}

/// `x` with 16 bits of fraction.
const fn fixed(x: f64) -> i32 {
    (x * 65536.0 + 0.5) as i32
}

const HALF: i32 = 1 << 15;

/// The colour of a brightness and two differences.
fn rgb(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
    let red = (fixed(1.40200) * cr + HALF) >> 16;
    let blue = (fixed(1.77200) * cb + HALF) >> 16;
    let green = (-fixed(0.34414) * cb - fixed(0.71414) * cr + HALF) >> 16;
    [red, green, blue].map(|v| (y + v).clamp(0, 255) as u8)
}

fn gray(r: u8, g: u8, b: u8) -> u8 {
    let sum = fixed(0.29900) * i32::from(r) + fixed(0.58700) * i32::from(g) + fixed(0.11400) * i32::from(b);
    ((sum + HALF) >> 16) as u8
}

/// The colour of inks. Adobe's files hold what the inks leave.
fn of_inks(inks: [u8; 3], black: u8, inverted: bool) -> [u8; 3] {
    let left = |v: u8| u32::from(if inverted { v } else { 255 - v });
    inks.map(|ink| (left(ink) * left(black) / 255) as u8)
}

/// Fills line `y` of the image with samples of a plane.
fn enlarge(plane: &Plane, y: usize, smooth: bool, out: &mut [u8]) {
    // As in libjpeg, narrow planes are not smoothed, nor are those that are enlarged otherwise.
    match (plane.across, plane.down, smooth && 2 < plane.width) {
        (1, 1, _) => out.copy_from_slice(&plane.line(y)[..out.len()]),
        (2, 1, true) => {
            let line = plane.line(y);
            triangle(out, line.len(), |x| line[x].into(), [1, 2], 2);
        }
        (2, 2, true) => {
            let near = y / 2;
            let far = if y.is_multiple_of(2) { near.saturating_sub(1) } else { near + 1 };
            let (near, far) = (plane.line(near), plane.line(far));
            triangle(out, near.len(), |x| 3 * u32::from(near[x]) + u32::from(far[x]), [8, 7], 4);
        }
        _ => {
            let line = plane.line(y / plane.down);
            for (i, v) in out.iter_mut().enumerate() {
                *v = line[i / plane.across];
            }
        }
    }
}

/// Puts two pixels in place of each value: three parts of it, and one of its neighbour. `round` is added to
/// the left and to the right pixel, whose sums have `bits` bits of fraction.
fn triangle(out: &mut [u8], n: usize, value: impl Fn(usize) -> u32, round: [u32; 2], bits: u32) {
    let last = n - 1;
    for (i, v) in out.iter_mut().enumerate() {
        let (x, side) = (i / 2, i % 2);
        let neighbour = if side == 0 { x.saturating_sub(1) } else { (x + 1).min(last) };
        *v = ((3 * value(x) + value(neighbour) + round[side]) >> bits) as u8;
    }
}
