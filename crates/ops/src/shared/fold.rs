//! Reductions along axes: the declaration and shape rule that they share, and the loops under them.
//!
//! An input is seen as `[outer, n, inner]` where the middle axis is reduced (other patterns of axes are
//! transposed to `[outer, n]` first). Sums are pairwise over blocks, and a contiguous block is summed in 16
//! lanes that are then added as a tree: the order depends on the sizes alone, never on threads or on the
//! width of the machine's vectors, and the error grows with the logarithm of the count.

use super::casting::To;
use millstream_graph::op::{KernelCx, Meaning, NodeInfo, RunFn};
use millstream_tensor::DType::{Bool, F32, F64, I32, I64};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Element, Result, Shape, Tensor, ensure};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Mul;

/// A way to make one value of many: a fold that may be split anywhere.
pub(crate) trait Fold {
    /// The type of the elements.
    type In: Element;
    /// The type of the result.
    type Out: Element;
    /// What is kept on the way.
    type Acc: Copy;
    /// Of no elements.
    const START: Self::Acc;
    /// With one element more.
    fn step(acc: Self::Acc, x: Self::In) -> Self::Acc;
    /// Of two parts together.
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The result over `n` elements.
    fn finish(acc: Self::Acc, n: usize) -> Self::Out;
}

/// The same fold over the squares of the elements.
struct OfSquares<F>(PhantomData<F>);

impl<F: Fold<In: Mul<Output = F::In>>> Fold for OfSquares<F> {
    type In = F::In;
    type Out = F::Out;
    type Acc = F::Acc;
    const START: Self::Acc = F::START;
    #[inline(always)]
    fn step(acc: Self::Acc, x: Self::In) -> Self::Acc {
        F::step(acc, x * x)
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        F::merge(a, b)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, n: usize) -> Self::Out {
        F::finish(acc, n)
    }
}

/// Whether a node makes the squares that [`fold_squares`] takes in.
pub(crate) fn makes_squares(node: &NodeInfo) -> bool {
    node.op.meaning == Some(Meaning::Square) && matches!(node.input_types[0].dtype, F32 | F64)
}

/// The kernel of a reduction, given by its folds over f32 and f64, whose input is what is to be squared
/// first.
pub(crate) fn fold_squares<A: Fold<In = f32>, B: Fold<In = f64>>(cx: &mut KernelCx) -> Result<()> {
    let reduction = Reduction::of(cx)?;
    let out = match reduction.dtype() {
        F64 => reduction.fold::<OfSquares<B>>()?,
        _ => reduction.fold::<OfSquares<A>>()?,
    };
    cx.set(0, out);
    Ok(())
}

/// The same fold over the numbers that bools are cast to.
struct OfBools<F>(PhantomData<F>);

impl<F: Fold> Fold for OfBools<F>
where
    bool: To<F::In>,
{
    type In = bool;
    type Out = F::Out;
    type Acc = F::Acc;
    const START: Self::Acc = F::START;
    #[inline(always)]
    fn step(acc: Self::Acc, x: bool) -> Self::Acc {
        F::step(acc, To::<F::In>::to(x))
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        F::merge(a, b)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, n: usize) -> Self::Out {
        F::finish(acc, n)
    }
}

/// The kernel of a reduction, given by its folds over i32, i64, f32 and f64, that also casts its input from
/// bools, as `before` does: how often a condition holds, or in what part of all cases. `None` if `before` is
/// another node. Counts are wanted of these types.
pub(crate) fn fold_bools<A, B, C, D>(before: &NodeInfo) -> Option<RunFn>
where
    A: Fold<In = i32>,
    B: Fold<In = i64>,
    C: Fold<In = f32>,
    D: Fold<In = f64>,
{
    fn run<F: Fold>(cx: &mut KernelCx) -> Result<()>
    where
        bool: To<F::In>,
    {
        let out = Reduction::of(cx)?.fold::<OfBools<F>>()?;
        cx.set(0, out);
        Ok(())
    }
    if before.op.meaning != Some(Meaning::Cast) || before.input_types.first()?.dtype != Bool {
        return None;
    }
    Some(match before.output_types.first()?.dtype {
        I32 => run::<A>,
        I64 => run::<B>,
        F32 => run::<C>,
        F64 => run::<D>,
        _ => return None,
    })
}

/// Which axes are named; an error if one is out of range or named twice.
pub(crate) fn reduced_axes(
    axes: &[i64],
    rank: usize,
    words: impl Fn(i64) -> String,
) -> Result<SmallVec<[bool; 8]>> {
    let mut reduced: SmallVec<[bool; 8]> = SmallVec::from_elem(false, rank);
    for &axis in axes {
        let i =
            super::axes::input_axis("reduction_indices", axis, rank).map_err(|e| e.led_by(words(axis)))?;
        ensure!(!reduced[i], "Invalid reduction arguments: Axes contains duplicate dimension: {i}"; "`reduction_indices` names axis {i} twice, in {axes:?}");
        reduced[i] = true;
    }
    Ok(reduced)
}

/// A reduction made ready: the input as `[outer, n, inner]`, and the shape of the result.
pub(crate) struct Reduction {
    input: Tensor,
    n: usize,
    inner: usize,
    shape: Shape,
}

impl Reduction {
    /// Reads the inputs and attributes that reductions share.
    pub fn of(cx: &mut KernelCx) -> Result<Reduction> {
        let keep = cx.attrs().bool("keep_dims")?;
        let axes = cx.ints(1)?;
        let input = cx.take(0);
        if let ([0 | -1], &[n]) = (&axes[..], input.shape().dims()) {
            // All of a vector: the most frequent, and the shortest.
            let shape = if keep { Shape::from([1]) } else { Shape::scalar() };
            return Ok(Reduction { input, n, inner: 1, shape });
        }
        let rank = input.rank();
        let reduced = reduced_axes(&axes, rank, |axis| {
            format!("Invalid reduction dimension ({axis} for input with {rank} dimension(s)")
        })?;
        Self::along(input, &reduced, keep)
    }

    /// Whether each element of the result is of a single element, which TensorFlow then returns as it is.
    pub fn is_of_singles(&self) -> bool {
        self.n == 1
    }

    /// Returns the elements in the shape of the result, if each is of a single one.
    pub fn singles(self) -> Result<Tensor> {
        self.input.into_shape(self.shape)
    }

    /// Over the axes marked.
    pub fn along(input: Tensor, reduced: &[bool], keep: bool) -> Result<Reduction> {
        let dims = input.shape().clone();
        let kept = dims.iter().zip(reduced).filter(|(_, r)| keep || !**r);
        let shape = Shape::new(kept.map(|(d, r)| if *r { 1 } else { *d }));
        // Merge neighbours of one kind; axes of size 1 are of either kind.
        let mut groups: SmallVec<[(bool, usize); 8]> = SmallVec::new();
        for (&d, &r) in dims.iter().zip(reduced).filter(|(d, _)| **d != 1) {
            match groups.last_mut() {
                Some((kind, size)) if *kind == r => *size = size.saturating_mul(d),
                _ => groups.push((r, d)),
            }
        }
        let (n, inner) = match groups[..] {
            [] | [(false, _)] => (1, 1),
            [(true, n)] | [(false, _), (true, n)] => (n, 1),
            [(true, n), (false, inner)] | [(false, _), (true, n), (false, inner)] => (n, inner),
            _ => return Self::transposed(&input, reduced, shape),
        };
        Ok(Reduction { input, n, inner, shape })
    }

    /// Brings the kept axes to the front.
    fn transposed(input: &Tensor, reduced: &[bool], shape: Shape) -> Result<Reduction> {
        let strides = input.shape().strides();
        let axes = || input.shape().iter().zip(&strides).zip(reduced);
        let order = axes().filter(|(_, r)| !**r).chain(axes().filter(|(_, r)| **r));
        let (dims, strides): (Vec<usize>, Vec<isize>) = order.map(|((d, s), _)| (*d, *s as isize)).unzip();
        let input = input.strided(dims, 0, &strides)?;
        let n = axes().filter(|(_, r)| **r).fold(1usize, |n, ((d, _), _)| n.saturating_mul(*d));
        Ok(Reduction { input, n, inner: 1, shape })
    }

    /// Whether every element is reduced alone.
    pub fn is_trivial(&self) -> bool {
        self.n == 1
    }

    /// The input in the shape of the result, if [`Reduction::is_trivial`].
    pub fn unreduced(self) -> Result<Tensor> {
        self.input.into_shape(self.shape)
    }

    /// The dtype of the input.
    pub fn dtype(&self) -> millstream_tensor::DType {
        self.input.dtype()
    }

    /// Reduces.
    pub fn fold<F: Fold>(self) -> Result<Tensor> {
        let xs = self.input.as_slice::<F::In>()?;
        if self.n == 0 || xs.is_empty() {
            let none = Tensor::scalar(F::finish(F::START, 0));
            return Tensor::fill(self.shape, &none);
        }
        if self.inner == 1 && self.n <= BLOCK {
            let rows = xs.chunks_exact(self.n).map(|row| F::finish(fold_block::<F>(row), self.n));
            return Tensor::from_iter(self.shape, rows);
        }
        let mut out = Tensor::zeros(F::Out::DTYPE, self.shape.clone())?;
        let cells = out.make_mut_or_copy::<F::Out>()?;
        let mut pace = Pace::new();
        for (cells, xs) in cells.chunks_exact_mut(self.inner).zip(xs.chunks_exact(self.n * self.inner)) {
            fold_columns::<F>(xs, self.n, cells, &mut pace)?;
        }
        Ok(out)
    }
}

const LANES: usize = 16;
/// Elements that one block of a run takes.
const BLOCK: usize = 1024;
/// Rows that one block of a column sum takes.
const ROWS: usize = 64;
/// Columns that are summed together.
const STRIP: usize = 256;

/// A contiguous run, pairwise over blocks.
pub(crate) fn fold_run<F: Fold>(xs: &[F::In], pace: &mut Pace) -> Result<F::Acc> {
    if xs.len() <= BLOCK {
        pace.spend(xs.len())?;
        return Ok(fold_block::<F>(xs));
    }
    let half = (xs.len() / 2).next_multiple_of(BLOCK).min(xs.len());
    let (a, b) = xs.split_at(half);
    if b.is_empty() {
        return Ok(fold_block::<F>(a));
    }
    let a = fold_run::<F>(a, pace)?;
    Ok(F::merge(a, fold_run::<F>(b, pace)?))
}

fn fold_block<F: Fold>(xs: &[F::In]) -> F::Acc {
    if xs.len() < LANES {
        return xs.iter().fold(F::START, |a, &x| F::step(a, x));
    }
    let mut lanes = [F::START; LANES];
    let (chunks, rest) = xs.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = F::step(*lane, x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane = F::step(*lane, x);
    }
    let mut width = LANES / 2;
    while 0 < width {
        let (low, high) = lanes.split_at_mut(width);
        low.iter_mut().zip(high).for_each(|(a, b)| *a = F::merge(*a, *b));
        width /= 2;
    }
    lanes[0]
}

/// Reduces `n` rows of `out.len()` columns each to one row.
pub(crate) fn fold_columns<F: Fold>(
    xs: &[F::In],
    n: usize,
    out: &mut [F::Out],
    pace: &mut Pace,
) -> Result<()> {
    let pitch = out.len();
    if let [out] = out {
        *out = F::finish(fold_run::<F>(xs.get(..n).unwrap_or(xs), pace)?, n);
        return Ok(());
    }
    // A strip of columns whose accumulators stay in the first-level cache.
    let mut acc = [F::START; STRIP];
    for (s, out) in out.chunks_mut(STRIP).enumerate() {
        let acc = &mut acc[..out.len()];
        acc.fill(F::START);
        fold_rows::<F>(xs, pitch, s * STRIP, n, acc, pace)?;
        out.iter_mut().zip(acc).for_each(|(c, a)| *c = F::finish(*a, n));
    }
    Ok(())
}

/// Adds `n` rows of a strip of columns to `acc`, pairwise over blocks of rows.
fn fold_rows<F: Fold>(
    xs: &[F::In],
    pitch: usize,
    at: usize,
    n: usize,
    acc: &mut [F::Acc],
    pace: &mut Pace,
) -> Result<()> {
    if n <= ROWS {
        pace.spend(n * acc.len())?;
        for row in xs.chunks(pitch).take(n) {
            acc.iter_mut().zip(&row[at..]).for_each(|(a, &x)| *a = F::step(*a, x));
        }
        return Ok(());
    }
    let half = (n / 2).next_multiple_of(ROWS).min(n);
    fold_rows::<F>(xs, pitch, at, half, acc, pace)?;
    if half < n {
        let mut other = [F::START; STRIP];
        let other = &mut other[..acc.len().min(STRIP)];
        fold_rows::<F>(&xs[half * pitch..], pitch, at, n - half, other, pace)?;
        acc.iter_mut().zip(other).for_each(|(a, b)| *a = F::merge(*a, *b));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::folds::Sum;
    use super::*;

    #[test]
    fn sums_are_accurate_in_every_direction() {
        let n = 100_000;
        let ones = vec![0.1f32; n * 3];
        for (outer, n, inner) in [(1, 3 * n, 1), (3, n, 1), (1, n, 3), (1, 100, 3000), (100, 1000, 3)] {
            let input = Tensor::vector(&ones).unwrap();
            let shape = Shape::from([outer * inner]);
            let sums = Reduction { input, n, inner, shape }.fold::<Sum<f32>>().unwrap();
            for s in sums.as_slice::<f32>().unwrap() {
                let want = n as f64 * f64::from(0.1f32);
                assert!((f64::from(*s) - want).abs() < want * 1e-6, "{outer} {n} {inner}: {s} {want}");
            }
        }
    }
}
