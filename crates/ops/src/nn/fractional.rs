//! Fractional pools: the attributes, the shape rule and the cells of `FractionalAvgPool`,
//! `FractionalMaxPool` and the ops of their gradients.
//!
//! A pool of ratio `r` cuts an axis of `n` cells into `floor(n / r)` windows of two sizes, `k` and `k + 1`.
//! The order of the sizes is random. Streams of random numbers are TensorFlow's.

use crate::shared::philox::{Philox, Stream, WORDS, Words, seeded};
use millstream_graph::op::spec::{Bool, FloatList, Int, OneOf, Spec};
use millstream_graph::op::{BuildCx, InferCx, KernelCx, OpDef};
use millstream_tensor::DType::{F32, F64, I32, I64};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::paced;
use millstream_tensor::{DType, Dim, Error, PartialShape, Result, Shape, Tensor, ensure, invalid};
use std::ops::Range;

/// The dtypes of cells.
pub(super) const CELLS: &[DType] = &[F32, F64, I32, I64];

/// Adds the attributes and outputs of a pool.
pub(super) fn pool(def: OpDef) -> OpDef {
    def.input("value", "T")
        .output("output", "T")
        .output("row_pooling_sequence", I64)
        .output("col_pooling_sequence", I64)
        .attr("pooling_ratio", FloatList)
        .attr("pseudo_random", Bool.or(false))
        .attr("overlapping", Bool.or(false))
        .attr("deterministic", Bool.or(false))
        .attr("seed", Int.or(0))
        .attr("seed2", Int.or(0))
        .attr("T", OneOf(CELLS))
        .infer(infer)
}

fn ratios(attrs: &millstream_graph::Attrs) -> Result<[f32; 4]> {
    let list = attrs.floats("pooling_ratio")?;
    <[f32; 4]>::try_from(&list[..])
        .map_err(|_| match list.len() {
            0..4 => invalid!("passed list of length {} less than minimum 4", list.len(); "`pooling_ratio` is {list:?}"),
            _ => invalid!("pooling_ratio field must specify 4 dimensions"; "`pooling_ratio` is {list:?}"),
        })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let input = cx.with_rank(0, 4)?;
    let ratios = ratios(cx.attrs())?;
    let side = |i: usize| -> Dim {
        let size = (input.dim(i)? as f32 / ratios[i]).floor();
        (1.0..=input.dim(i)?.max(1) as f32).contains(&size).then_some(size as usize)
    };
    let shape = PartialShape::from([input.dim(0), side(1), side(2), input.dim(3)]);
    let borders = |n: Dim| PartialShape::from([n.map(|n| n + 1)]);
    let (rows, columns) = (borders(shape.dim(1)), borders(shape.dim(2)));
    cx.set(0, shape);
    cx.set(1, rows);
    cx.set(2, columns);
    Ok(())
}

/// Where a node's random numbers come from.
pub(super) enum Draws {
    /// Each run draws windows of its own.
    Anew,
    /// Each run draws the same.
    Same(Philox),
}

impl Draws {
    pub fn of(cx: &BuildCx) -> Result<Draws> {
        let attrs = &cx.node.attrs;
        if attrs.bool("deterministic")? {
            // Without seeds they are chosen once for the node.
            return Ok(Draws::Same(Stream::of(cx)?.reserve(0)));
        }
        ensure!(
            attrs.int("seed")? == 0 && attrs.int("seed2")? == 0,
            "Both seed and seed2 should be 0 if deterministic is false.";
            "set `deterministic`, or leave out the seeds"
        );
        Ok(Draws::Anew)
    }
}

/// A call: the shapes, and the borders of the windows along rows and columns.
pub(super) struct Call {
    pub input: [usize; 4],
    pub output: [usize; 4],
    borders: [Vec<i64>; 2],
    overlapping: bool,
}

impl Call {
    /// Draws the windows over input 0. `kind` is TensorFlow's word for the pool.
    pub fn draw(cx: &KernelCx, draws: &Draws, kind: &str) -> Result<Call> {
        let shape = cx.input(0).shape();
        let input = <[usize; 4]>::try_from(shape.dims())
            .map_err(|_| invalid!("tensor_in must be 4-dimensional"; "`value` has shape {shape}"))?;
        let ratios = ratios(cx.attrs())?;
        if ratios[0] != 1.0 || ratios[3] != 1.0 {
            return Err(Error::unimplemented(format!(
                "Fractional {kind} pooling is not yet supported on the batch nor channel dimension."
            ))
            .with_help("make the first and the last entry of `pooling_ratio` 1"));
        }
        let mut output = input;
        for i in [1, 2] {
            ensure!(
                1.0 <= ratios[i],
                "pooling_ratio cannot be smaller than 1, got: {}", ratios[i]; "`pooling_ratio` is {ratios:?}"
            );
            output[i] = (input[i] as f32 / ratios[i]).floor() as usize;
            ensure!(
                0 < output[i] && output[i] <= input[i],
                "Pooling ratio is higher than input dimension size for dimension {i}. Input dim size: {} pooling \
                 ratio: {}", input[i], ratios[i];
                "no window is left: `value` has shape {shape}"
            );
        }
        let _room = Room::of((output[1] + output[2]).saturating_mul(3 * size_of::<i64>()))?;
        let mut philox = match draws {
            Draws::Anew => seeded(0, 0)?,
            Draws::Same(philox) => *philox,
        };
        let pseudo = cx.attrs().bool("pseudo_random")?;
        let mut along = |i: usize| sequence(input[i], output[i], pseudo, &mut philox);
        let borders = [along(1)?, along(2)?];
        Ok(Call { input, output, borders, overlapping: cx.attrs().bool("overlapping")? })
    }

    /// Reads the borders in inputs `i` and `i + 1` for the gradient in input `i - 1`.
    pub fn given(cx: &KernelCx, i: usize, input: &Shape) -> Result<Call> {
        let grads = cx.input(i - 1).shape();
        let four = |shape: &Shape, name: &str| {
            <[usize; 4]>::try_from(shape.dims())
                .map_err(|_| invalid!("{name} must be 4-dimensional"; "it has shape {shape}"))
        };
        let (input, output) = (four(input, "the original input")?, four(grads, "out_backprop")?);
        ensure!(
            input[0] == output[0] && input[3] == output[3],
            "the gradient has shape {grads}, but the input has {} images of {} channels",
            input[0],
            input[3]
        );
        let borders = |axis: usize| -> Result<Vec<i64>> {
            let i = i + axis - 1;
            let t = cx.input(i);
            ensure!(
                t.shape().dims() == [output[axis] + 1],
                "`{}` has shape {} but the gradient has {} windows along axis {axis}",
                cx.name_of(i),
                t.shape(),
                output[axis]
            );
            let list = t.as_slice::<i64>()?.to_vec();
            let size = input[axis] as i64;
            ensure!(
                list.iter().all(|v| (0..=size).contains(v)) && list.windows(2).all(|w| w[0] < w[1]),
                "`{}` must increase from 0 to at most {size}, the size of axis {axis}",
                cx.name_of(i)
            );
            Ok(list)
        };
        Ok(Call {
            borders: [borders(1)?, borders(2)?],
            input,
            output,
            overlapping: cx.attrs().bool("overlapping")?,
        })
    }

    /// The borders along rows (0) or columns (1).
    pub fn borders(&self, axis: usize) -> Result<Tensor> {
        Tensor::vector(&self.borders[axis])
    }

    /// The cells of window `i` along rows (0) or columns (1).
    fn range(&self, axis: usize, i: usize) -> Range<usize> {
        let list = &self.borders[axis];
        let (first, next) = (list[i] as usize, list[i + 1] as usize);
        let behind = if self.overlapping { next + 1 } else { next };
        first..behind.min(self.input[axis + 1])
    }

    /// The number of cells in window `p`.
    pub fn count(&self, p: usize) -> usize {
        let (rows, columns) = self.window(p);
        rows.len() * columns.len()
    }

    fn window(&self, p: usize) -> (Range<usize>, Range<usize>) {
        let p = p % (self.output[1] * self.output[2]);
        (self.range(0, p / self.output[2]), self.range(1, p % self.output[2]))
    }

    /// The number of windows in all images.
    pub fn windows(&self) -> usize {
        self.output[..3].iter().product()
    }

    /// Calls `take` with the first element of each cell of window `p`.
    pub fn cells(&self, p: usize, mut take: impl FnMut(usize)) {
        let image = p / (self.output[1] * self.output[2]);
        let (rows, columns) = self.window(p);
        for y in rows {
            for x in columns.clone() {
                take(((image * self.input[1] + y) * self.input[2] + x) * self.input[3]);
            }
        }
    }

    /// Calls `take` with each window, in order.
    pub fn each(&self, mut take: impl FnMut(usize)) -> Result<()> {
        let n = self.windows();
        if self.input[3] == 0 {
            return Ok(());
        }
        paced(n, |range| range.for_each(&mut take))
    }
}

/// The borders of `to` windows over `from` cells.
fn sequence(from: usize, to: usize, pseudo: bool, philox: &mut Philox) -> Result<Vec<i64>> {
    let sizes = if pseudo { by_slope(from, to, philox) } else { shuffled(from, to, philox) };
    let mut at = 0;
    Ok(std::iter::once(0)
        .chain(sizes.into_iter().map(|size| {
            at += size;
            at
        }))
        .collect())
}

/// The borders are multiples of the ratio from a random start on.
fn by_slope(from: usize, to: usize, philox: &mut Philox) -> Vec<i64> {
    let alpha = from as f64 / to as f64;
    let k = (from / to) as f64;
    let (left, right) = ((k + 2.0) / alpha - 1.0, (from as f64 + 1.0 - k) / alpha - (to as f64 - 1.0));
    let mut words = Words::new(*philox);
    philox.skip(1);
    let (high, low) = (words.word(), words.word());
    let unit = f64::from_bits(1023 << 52 | u64::from(high & 0xF_FFFF) << 32 | u64::from(low)) - 1.0;
    let start = unit * left.min(right);
    let at = |i: usize| match i {
        0 => 1,
        i if i == to => from as i64 + 1,
        i => (alpha * (i as f64 + start)).ceil() as i64,
    };
    (0..to).map(|i| at(i + 1) - at(i)).collect()
}

/// The larger windows come first, and then all are shuffled.
fn shuffled(from: usize, to: usize, philox: &mut Philox) -> Vec<i64> {
    let (k, larger) = (from / to, from % to);
    let mut sizes: Vec<i64> = (0..to).map(|i| k as i64 + i64::from(i < larger)).collect();
    let mut words = Words::new(*philox);
    philox.skip(to.div_ceil(WORDS) as u64);
    for i in 0..to - 1 {
        let rest = ((to - i) as u32).max(1);
        sizes.swap(i, i + (words.word() % rest) as usize);
    }
    sizes
}
