//! `Prod`: the product along axes.

use super::fold::{Fold, Reduction, reduction};
use crate::number::{Number, with_number};
use millstream_graph::op::spec;
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;
use std::marker::PhantomData;

pub(crate) fn def() -> OpDef {
    reduction("Prod", run)
        .doc("The product of the elements along `reduction_indices`; 1 of none. Integers wrap around.")
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::Number)
}

pub(crate) struct Prod<T>(PhantomData<T>);

impl<T: Number> Fold for Prod<T> {
    type In = T;
    type Out = T;
    type Acc = T::Wide;
    const START: Self::Acc = <T::Wide as Number>::ONE;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.times(x.widen())
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.times(b)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, _: usize) -> T {
        T::narrow(acc)
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let reduction = Reduction::of(cx)?;
    let out = if reduction.is_trivial() {
        reduction.unreduced()?
    } else {
        with_number!("Prod", reduction.dtype(), T => reduction.fold::<Prod<T>>())?
    };
    cx.set(0, out);
    Ok(())
}

cases! {
    multiplies_rows: "Prod([[1 2] [3 4]], [1]) = [2 12]",
    of_nothing: "Prod(f32[0] [], 0) = 1.0",
    keeps_dims: "Prod([[1 2] [3 4]], 0; keep_dims=true) = [[3 8]]",
    shape: "Prod(f32[?,3], -1) : f32[?]",
    axis_out_of_range: "Prod(3, 0) ! `reduction_indices` is 0 but the input has rank 0",
}
