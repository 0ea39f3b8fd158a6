//! Softmax over the rows of a matrix, for `Softmax`, `LogSoftmax` and the cross entropies.

use crate::number::{Field, FloatElement, Number, RealElement};
use crate::shared::elementwise::vectorized;
use crate::shared::fold::fold_run;
use crate::shared::folds::{Max, Sum};
use millstream_graph::Output;
use millstream_graph::op::GradCx;
use millstream_tensor::budget::Room;
use millstream_tensor::pace::{Pace, paced};
use millstream_tensor::{Code, Error, Result, Shape, Tensor, invalid};

/// The intermediate values of a row: its elements minus their maximum, the exponentials of these, and their
/// sum.
pub(super) struct Row<W> {
    pub shifted: Vec<W>,
    pub exps: Vec<W>,
    pub sum: W,
    pace: Pace,
    _room: Room,
}

impl<W: Number<Wide = W> + RealElement + Field> Row<W> {
    /// Allocates buffers for rows of `n` elements.
    pub fn new(n: usize) -> Result<Self> {
        let room = || {
            let mut v = Vec::new();
            v.try_reserve_exact(n).map_err(|_| {
                Error::new(
                    Code::ResourceExhausted,
                    format!("the system has no memory for a row of {n} elements"),
                )
            })?;
            v.resize(n, W::ZERO);
            Ok::<_, Error>(v)
        };
        let charged = Room::of(n.saturating_mul(2 * size_of::<W>()))?;
        Ok(Row { shifted: room()?, exps: room()?, sum: W::ZERO, pace: Pace::new(), _room: charged })
    }

    /// Computes the values for a row. A NaN makes the whole row NaN.
    pub fn compute<T: FloatElement<Work = W>>(&mut self, xs: &[T]) -> Result<()> {
        let (shifted, exps) = (&mut self.shifted[..], &mut self.exps[..]);
        paced(xs.len(), |range| {
            let pairs = shifted[range.clone()].iter_mut().zip(&xs[range]);
            vectorized(|| pairs.for_each(|(to, x)| *to = x.work()));
        })?;
        let max = fold_run::<Max<W>>(shifted, &mut self.pace)?;
        paced(xs.len(), |range| {
            let pairs = shifted[range.clone()].iter_mut().zip(&mut exps[range]);
            vectorized(|| {
                pairs.for_each(|(x, exp)| {
                    *x = x.sub(max);
                    *exp = x.exp();
                });
            });
        })?;
        self.sum = fold_run::<Sum<W>>(exps, &mut self.pace)?;
        Ok(())
    }
}

/// Computes each element of the result as `f(shifted, exp, of_row(row))`.
pub(super) fn by_rows<T: FloatElement>(
    name: &str,
    logits: &Tensor,
    of_row: impl Fn(&Row<T::Work>) -> T::Work,
    f: impl Fn(T::Work, T::Work, T::Work) -> T::Work,
) -> Result<Tensor>
where
    T::Work: Number<Wide = T::Work> + Field,
{
    let Some(&n) = logits.shape().last() else {
        return Err(
            invalid!("logits must have >= 1 dimension, got []"; "`{name}` must have rank 1 or more but is a scalar"),
        );
    };
    let shape: Shape = logits.shape().clone();
    let mut out = Tensor::zeros(T::DTYPE, shape)?;
    let cells = out.make_mut_or_copy::<T>()?;
    if cells.is_empty() {
        return Ok(out);
    }
    let mut row = Row::new(n)?;
    for (cells, xs) in cells.chunks_exact_mut(n).zip(logits.as_slice::<T>()?.chunks_exact(n)) {
        row.compute(xs)?;
        let rest = of_row(&row);
        paced(n, |range| {
            let values = row.shifted[range.clone()].iter().zip(&row.exps[range.clone()]);
            let values = cells[range].iter_mut().zip(values);
            vectorized(|| values.for_each(|(cell, (x, exp))| *cell = T::of_work(f(*x, *exp, rest))));
        })?;
    }
    Ok(out)
}

/// Returns the sums of the innermost rows, with size 1 along the last axis.
pub(super) fn sum_of_rows<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    cx.op("Sum").input(x).input([-1]).attr("keep_dims", true).output()
}

/// Returns the gradient of the logits, given the gradient `dy` of their softmax `y`.
pub(super) fn through_softmax<'g>(cx: &GradCx<'g, '_>, dy: Output<'g>, y: Output<'g>) -> Output<'g> {
    (dy - sum_of_rows(cx, dy * y)) * y
}

/// Returns the gradient of the logits of a cross entropy, from those of its loss and of its `backprop`, which
/// is the softmax minus the labels.
pub(super) fn through_entropy<'g>(cx: &mut GradCx<'g, '_>) -> Output<'g> {
    let mut logits = None;
    if cx.has_grad(0) {
        let (dloss, backprop) = (cx.grad(0), cx.output(1));
        logits = Some(cx.op("ExpandDims").input(dloss).input(-1).output() * backprop);
    }
    if cx.has_grad(1) {
        let (dback, features) = (cx.grad(1), cx.input(0));
        // The softmax has the shape of `features`, which broadcasts to that of `backprop`.
        let softmax = cx.call("Softmax", [features]);
        let through = through_softmax(cx, dback, softmax);
        logits = Some(logits.map_or(through, |sum| sum + through));
    }
    logits.unwrap_or_else(|| cx.zeros_like_input(0))
}
