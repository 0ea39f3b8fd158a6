//! `Min`: the minimum along axes.

use super::stretch::to_extremes;
use super::fold::{Fold, Reduction, reduction};
use crate::number::{Real, with_real};
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;
use std::marker::PhantomData;

pub(crate) fn def() -> OpDef {
    reduction("Min", run)
        .doc("The least element along `reduction_indices`; NaN if one is NaN; the highest value (infinity) of none.")
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(to_extremes))
}

pub(crate) struct Min<T>(PhantomData<T>);

impl<T: Real> Fold for Min<T> {
    type In = T;
    type Out = T;
    type Acc = T;
    const START: Self::Acc = T::HIGHEST;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        x.lesser(acc)
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.lesser(b)
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
        with_real!("Min", reduction.dtype(), T => reduction.fold::<Min<T>>())?
    };
    cx.set(0, out);
    Ok(())
}

cases! {
    of_rows: "Min([[1 2] [4 3]], [1]) = [1 3]",
    of_columns: "Min([[1 2] [4 0]], [0]) = [1 0]",
    nan_wins: "Min([1.0 2.0 nan], 0) = nan",
    of_no_floats: "Min(f32[0] [], 0) = inf",
    shape: "Min(f32[2,?], 0) : f32[?]",
    axis_out_of_range: "Min([1.0], [1]) ! `reduction_indices` is 1",
}
