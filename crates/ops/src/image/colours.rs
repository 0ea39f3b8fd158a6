//! Colours of pixels: what the ops over them share. A pixel is the last axis of a tensor, of 3 channels.

use crate::number::no_kernel;
use crate::shared::casting::cast;
use crate::shared::elementwise::fresh;
use crate::shared::pieces::in_pieces;
use millstream_graph::op::{InferCx, KernelCx, StepEnv};
use millstream_tensor::DType::{BF16, F16, F32};
use millstream_tensor::{Element, PartialShape, Result, Tensor, ensure, invalid};

/// The shape rule of ops that turn pixels into pixels.
pub(super) fn infer_pixels(cx: &mut InferCx) -> Result<()> {
    cx.at_least_rank(0, 1)?;
    let shape = cx.input(0).clone();
    if let Some(dims) = shape.dims() {
        let mut dims: Vec<_> = dims.to_vec();
        if let Some(last) = dims.last_mut() {
            let n = *last.get_or_insert(3);
            ensure!(n == 3, "Dimension must be 3 but is {n}"; "pixels have 3 channels, but the shape is {shape}");
        }
        cx.set(0, PartialShape::new(dims));
    }
    Ok(())
}

/// The shape rule of ops that adjust images of rank 3 or more by the scalar in input 1.
pub(super) fn infer_adjusted(cx: &mut InferCx) -> Result<()> {
    cx.at_least_rank(0, 3)?;
    cx.scalar(1)?;
    cx.same_as_input()
}

/// The channels of a pixel.
pub(super) type Pixel<T> = [T; 3];

/// Sets output 0 to the pixels that `turn` makes of those in input 0. Halves are computed in f32.
pub(super) fn run_pixels(
    cx: &mut KernelCx,
    narrow: impl Fn(Pixel<f32>) -> Pixel<f32> + Sync,
    wide: impl Fn(Pixel<f64>) -> Pixel<f64> + Sync,
) -> Result<()> {
    let pixels = cx.take(0);
    let (shape, dtype) = (pixels.shape().clone(), pixels.dtype());
    let last = shape.dims().last().copied();
    ensure!(
        last == Some(3),
        "input must have 3 channels but instead has {} channels.", last.unwrap_or(0);
        "{}: `{}` has shape {shape}", cx.node.op.name, cx.name_of(0)
    );
    let pixels = if matches!(dtype, F16 | BF16) { cast(&pixels, F32)? } else { pixels };
    let mut out = Tensor::anything(pixels.dtype(), shape)?;
    match pixels.dtype() {
        F32 => each(cx.env, pixels.as_slice()?, fresh(&mut out)?, narrow)?,
        millstream_tensor::DType::F64 => each(cx.env, pixels.as_slice()?, fresh(&mut out)?, wide)?,
        other => return Err(no_kernel(cx.node.op.name, other)),
    }
    cx.set(0, cast(&out, dtype)?);
    Ok(())
}

/// The number of pixels of a piece of work.
const PIECE: usize = 1 << 13;

fn each<T: Element>(
    env: &StepEnv,
    pixels: &[T],
    out: &mut [T],
    turn: impl Fn(Pixel<T>) -> Pixel<T> + Sync,
) -> Result<()> {
    in_pieces(env, out, 3 * PIECE, pixels.len() as f64 * 8.0, |i, piece| {
        let from = &pixels[i * 3 * PIECE..];
        for (out, pixel) in piece.chunks_exact_mut(3).zip(from.chunks_exact(3)) {
            out.copy_from_slice(&turn([pixel[0], pixel[1], pixel[2]]));
        }
        Ok(())
    })
}

/// Reads input 1, a scalar of f32.
pub(super) fn factor(cx: &KernelCx) -> Result<f32> {
    let t = cx.input(1);
    t.to_scalar::<f32>().map_err(|_| {
        invalid!(
            "{} must be scalar: {}", cx.name_of(1), t.shape(); "{}: `{}` must be a scalar", cx.node.op.name, cx.name_of(1)
        )
    })
}

/// Checks that input 0 has rank 3 or more.
pub(super) fn image_checked(cx: &KernelCx) -> Result<()> {
    let shape = cx.input(0).shape();
    ensure!(3 <= shape.rank(), "input must be at least 3-D, got shape{shape}"; "{} adjusts images", cx.node.op.name);
    Ok(())
}

/// Hue, saturation and value of a colour, and colours of them.
pub(super) trait Colour: Sized {
    fn hsv(self) -> Self;
    fn rgb(self) -> Self;
}

macro_rules! colours {
    ($($t:ident),*) => { $(
        impl Colour for Pixel<$t> {
            fn hsv(self) -> Self {
                let [r, g, b] = self;
                let value = r.max(g).max(b);
                let range = value - r.min(g).min(b);
                let saturation = if 0.0 < value { range / value } else { 0.0 };
                let norm = 1.0 / range * (1.0 / 6.0);
                let hue = if r == value {
                    norm * (g - b)
                } else if g == value {
                    norm * (b - r) + 2.0 / 6.0
                } else {
                    norm * (r - g) + 4.0 / 6.0
                };
                let hue = if 0.0 < range { hue } else { 0.0 };
                [if hue < 0.0 { hue + 1.0 } else { hue }, saturation, value]
            }

            fn rgb(self) -> Self {
                let [hue, saturation, value] = self;
                let at = hue * 6.0;
                let part = |share: $t| (1.0 - saturation + saturation * share.clamp(0.0, 1.0)) * value;
                [(at - 3.0).abs() - 1.0, 2.0 - (at - 2.0).abs(), 2.0 - (at - 4.0).abs()].map(part)
            }
        }
    )* };
}
colours!(f32, f64);
