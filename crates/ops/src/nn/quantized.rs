//! What the ops that simulate a quantization share: the grid of numbers, and the attributes.

use millstream_graph::Attrs;
use millstream_graph::op::spec::{Bool, Int, Spec};
use millstream_graph::op::{InferCx, KernelCx, OpDef};
use millstream_tensor::pace::paced;
use millstream_tensor::{PartialShape, Result, Tensor, ensure};

/// The numbers that integers of some bits stand for: `min`, `min + step`, .., `max`. Zero is one of them.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    min: f32,
    max: f32,
    step: f32,
}

impl Grid {
    /// Moves the range `min ..= max` so that zero is on the grid.
    pub fn of(attrs: &Attrs, min: f32, max: f32) -> Result<Grid> {
        let (bits, narrow) = (attrs.int("num_bits")?, attrs.bool("narrow_range")?);
        ensure!(
            (2..=16).contains(&bits),
            "num_bits must be between 2 and 16, inclusive";
            "`num_bits` is {bits}"
        );
        let (first, last) = (f32::from(u8::from(narrow)), ((1u32 << bits) - 1) as f32);
        let step = (max - min) / (last - first);
        let zero = first - min / step;
        let zero = if zero < first {
            first
        } else if last < zero {
            last
        } else {
            zero.round()
        };
        Ok(Grid { min: (first - zero) * step, max: (last - zero) * step, step })
    }

    /// The number of the grid that is nearest to `x`. NaN stays NaN.
    pub fn nearest(&self, x: f32) -> f32 {
        let inside = if self.max < x { self.max } else { x };
        let inside = if inside < self.min { self.min } else { inside };
        ((inside - self.min) * (1.0 / self.step) + 0.5).floor() * self.step + self.min
    }

    /// 1 if `x` is in the range, and 0 elsewhere. Gradients are multiplied by it, as in TensorFlow, so that
    /// one that is NaN stays NaN.
    pub fn holds(&self, x: f32) -> f32 {
        mask(self.min <= x && x <= self.max)
    }

    /// As [`Grid::holds`], below the range.
    pub fn below(&self, x: f32) -> f32 {
        mask(x < self.min)
    }

    /// As [`Grid::holds`], above the range.
    pub fn above(&self, x: f32) -> f32 {
        mask(self.max < x)
    }
}

fn mask(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// Declares the attributes of a grid.
pub(super) fn attrs(def: OpDef) -> OpDef {
    def.attr("num_bits", Int.or(8)).attr("narrow_range", Bool.or(false))
}

/// Reads the limits that are inputs `i` and `i + 1`: scalars, or vectors with a limit for each channel.
pub(super) fn limits(cx: &KernelCx, i: usize, channels: Option<usize>) -> Result<(Tensor, Tensor)> {
    for i in i..i + 2 {
        let (name, shape) = (cx.name_of(i), cx.input(i).shape());
        match channels {
            None => ensure!(shape.rank() == 0, "`{name}` must be a scalar but has shape {shape}"),
            Some(n) => ensure!(
                shape.dims() == [n],
                "{name} has incorrect size, expected {n} was {}", shape.elements();
                "`{name}` has shape {shape}: it must have an entry for each of {n} channels"
            ),
        }
    }
    Ok((cx.input(i).clone(), cx.input(i + 1).clone()))
}

/// The grid of each channel; none if both limits are 0.
pub(super) fn grids(attrs: &Attrs, (min, max): (Tensor, Tensor)) -> Result<Vec<Option<Grid>>> {
    let limits = min.as_slice::<f32>()?.iter().zip(max.as_slice::<f32>()?);
    let grid = |(&min, &max): (&f32, &f32)| match (min, max) {
        (0.0, 0.0) => Ok(None),
        _ => Grid::of(attrs, min, max).map(Some),
    };
    limits.map(grid).collect()
}

/// The number of channels of input `i`: the size of its last axis.
pub(super) fn channels(cx: &KernelCx, i: usize) -> Result<usize> {
    let shape = cx.input(i).shape();
    shape.dims().last().copied().ok_or_else(|| {
        millstream_tensor::invalid!("`{}` is a scalar: it must have an axis of channels", cx.name_of(i))
    })
}

/// Checks the static shapes of the limits `i` and `i + 1` of each channel of input 0, and returns the number
/// of channels.
pub(super) fn infer_channels(cx: &InferCx, i: usize) -> Result<PartialShape> {
    cx.vector(i)?;
    let limits = cx.merge(i, i + 1)?;
    let Some(dims) = cx.input(0).dims() else { return Ok(limits) };
    let channels = dims.last().ok_or_else(|| {
        millstream_tensor::invalid!("`{}` is a scalar: it must have an axis of channels", cx.name_of(0))
    })?;
    let channels = PartialShape::new([*channels]);
    limits.merge(&channels).ok_or_else(|| {
        millstream_tensor::invalid!(
            "{}", limits.unlike_dims(&channels);
            "`{}` has shape {limits}, and `{}` has channels {channels}", cx.name_of(i), cx.name_of(0)
        )
    })
}

/// Returns `f(i, x)` for each element of `x`.
pub(super) fn map(x: &Tensor, f: impl Fn(usize, f32) -> f32) -> Result<Tensor> {
    let xs = x.as_slice::<f32>()?;
    let mut out = Tensor::anything(x.dtype(), x.shape().clone())?;
    let cells = crate::shared::elementwise::fresh::<f32>(&mut out)?;
    paced(xs.len(), |range| {
        for i in range {
            cells[i] = f(i, xs[i]);
        }
    })?;
    Ok(out)
}
