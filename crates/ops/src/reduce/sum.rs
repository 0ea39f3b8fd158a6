//! `Sum`: the sum along axes.

use super::fold::{Fold, Reduction, fold_squares, makes_squares, reduction_by};
use super::stretch::stretched;
use crate::number::{Number, with_number};
use millstream_graph::op::spec;
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::Result;
use std::marker::PhantomData;

pub(crate) fn def() -> OpDef {
    let kernel = Kernel::pure(run)
        .absorbing(|before| makes_squares(before).then_some(fold_squares::<Sum<f32>, Sum<f64>> as RunFn));
    reduction_by("Sum", kernel)
        .doc("The sum of the elements along `reduction_indices`; 0 of none. Integers wrap around.")
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

// Each element counts once.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let dx = stretched(cx, dy);
    cx.give(0, dx);
    Ok(())
}

pub(crate) struct Sum<T>(PhantomData<T>);

impl<T: Number> Fold for Sum<T> {
    type In = T;
    type Out = T;
    type Acc = T::Wide;
    const START: Self::Acc = <T::Wide as Number>::ZERO;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.plus(x.widen())
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.plus(b)
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
        with_number!("Sum", reduction.dtype(), T => reduction.fold::<Sum<T>>())?
    };
    cx.set(0, out);
    Ok(())
}

cases! {
    sums_rows: "Sum([[1 2] [3 4]], [1]) = [3 7]",
    sums_columns: "Sum([[1.0 2.0] [3.0 4.0]], 0) = [4.0 6.0]",
    sums_all: "Sum([[1 2] [3 4]], [0 1]) = 10",
    negative_axes: "Sum([[1 2] [3 4]], [-1]) = [3 7]",
    keeps_dims: "Sum([[1 2] [3 4]], [1]; keep_dims=true) = [[3] [7]]",
    outer_and_inner: "Sum([[[1 2] [3 4]] [[5 6] [7 8]]], [0 2]) = [14 22]",
    the_middle: "Sum([[[1 2] [3 4]] [[5 6] [7 8]]], [1]) = [[4 6] [12 14]]",
    no_axes: "Sum([[1 2] [3 4]], i32[0] []) = [[1 2] [3 4]]",
    of_nothing: "Sum(f32[2,0] [[] []], [1]) = [0.0 0.0]",
    wraps_around: "Sum(i8[2] [127 1], 0) = i8[] -128",
    shape: "Sum(f32[?,3,5], [1]) : f32[?,5]",
    shape_kept: "Sum(f32[?,3,5], i32[?]; keep_dims=true) : f32[?,?,?]",
    shape_unknown: "Sum(f32[?,3,5], i32[?]) : f32[..]",
    axis_out_of_range: "Sum([1 2], [1]) ! `reduction_indices` is 1 but the input has rank 1",
    axis_twice: "Sum([[1 2]], [0 -2]) ! names axis 0 twice",
}
