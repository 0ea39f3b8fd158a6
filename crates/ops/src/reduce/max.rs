//! `Max`: the maximum along axes.

use super::stretch::to_extremes;
use super::fold::{Fold, Reduction, reduction};
use crate::number::{Real, with_real};
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;
use std::marker::PhantomData;

pub(crate) fn def() -> OpDef {
    reduction("Max", run)
        .doc("The greatest element along `reduction_indices`; NaN if one is NaN; the lowest value (negative infinity) of none.")
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(to_extremes))
}

pub(crate) struct Max<T>(PhantomData<T>);

impl<T: Real> Fold for Max<T> {
    type In = T;
    type Out = T;
    type Acc = T;
    const START: Self::Acc = T::LOWEST;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        x.greater(acc)
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.greater(b)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, _: usize) -> T {
        acc
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let reduction = Reduction::of(cx)?;
    let out = if reduction.is_trivial() {
        reduction.unreduced()?
    } else {
        with_real!("Max", reduction.dtype(), T => reduction.fold::<Max<T>>())?
    };
    cx.set(0, out);
    Ok(())
}

cases! {
    of_rows: "Max([[1 2] [4 3]], [1]) = [2 4]",
    of_columns: "Max([[1 2] [4 3]], [0]) = [4 3]",
    nan_wins: "Max([1.0 nan 2.0], 0) = nan",
    of_no_floats: "Max(f32[0] [], 0) = -inf",
    of_no_integers: "Max(i32[0] [], 0) = -2147483648",
    shape: "Max(f32[2,?], 0) : f32[?]",
    axis_out_of_range: "Max([1.0], [1]) ! `reduction_indices` is 1",
}
