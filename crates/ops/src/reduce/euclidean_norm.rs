//! `EuclideanNorm`: the length of vectors along axes.

use super::stretch::with_reduced_axes;
use crate::math::complex_parts::{part, whole_of_real};
use super::fold::{Fold, Reduction, reduction};
use crate::number::{Number, with_number};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;
use std::marker::PhantomData;

pub(crate) fn def() -> OpDef {
    reduction("EuclideanNorm", run)
        .doc("The square root of the sum of squares along `reduction_indices`; 0 of none. Integers truncate.")
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

pub(crate) struct EuclideanNorm<T>(PhantomData<T>);

impl<T: Number> Fold for EuclideanNorm<T> {
    type In = T;
    type Out = T;
    type Acc = T::Wide;
    const START: Self::Acc = <T::Wide as Number>::ZERO;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.plus(x.widen().times(x.widen().conjugate()))
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.plus(b)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, _: usize) -> T {
        T::narrow(acc.root())
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let reduction = Reduction::of(cx)?;
    let out = with_number!("EuclideanNorm", reduction.dtype(), T => reduction.fold::<EuclideanNorm<T>>())?;
    cx.set(0, out);
    Ok(())
}

// d|x| = Re(x̅ dx) / |x|
fn grad(cx: &mut GradCx) -> Result<()> {
    let (mut dy, x, y) = (cx.grad(0), cx.input(0), cx.output(0));
    if cx.dtype(0).is_complex() {
        // The length is real: an imaginary gradient does nothing to it.
        let real = part(cx, "Real", dy);
        dy = whole_of_real(cx, real);
    }
    let dy = with_reduced_axes(cx, dy / y);
    cx.give(0, x * dy);
    Ok(())
}

cases! {
    of_rows: "EuclideanNorm([[3.0 4.0] [5.0 12.0]], [1]) = [5.0 13.0]",
    integers_truncate: "EuclideanNorm([3 5], 0) = 5",
    of_single_elements: "EuclideanNorm([3.0 -5.0], i32[0] []) = [3.0 5.0]",
    of_nothing: "EuclideanNorm(f32[0] [], 0) = 0.0",
    shape: "EuclideanNorm(f32[2,?], 0) : f32[?]",
    axis_out_of_range: "EuclideanNorm([1.0], [1]) ! `reduction_indices` is 1",
}
