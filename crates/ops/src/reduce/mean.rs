//! `Mean`: the mean along axes.

use super::gradients::{count, stretched};
use super::reduction::reduction_by;
use crate::number::{Num, Number, no_kernel};
use crate::shared::fold::{Fold, Reduction, fold_bools, fold_squares, makes_squares};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::{Result, with_element};
use std::marker::PhantomData;

pub(crate) fn def() -> OpDef {
    let kernel = Kernel::pure(run).absorbing(|before| match makes_squares(before) {
        true => Some(fold_squares::<Mean<f32>, Mean<f64>> as RunFn),
        false => fold_bools::<Mean<i32>, Mean<i64>, Mean<f32>, Mean<f64>>(before),
    });
    reduction_by("Mean", kernel)
        .doc(
            "Computes the mean of the elements along `reduction_indices`. Integers are summed in 64 bits, \
             and their mean is truncated. The mean of no elements is NaN, or 0 for integers.",
        )
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

pub(crate) struct Mean<T>(PhantomData<T>);

impl<T: Number> Fold for Mean<T> {
    type In = T;
    type Out = T;
    type Acc = T::Total;
    const START: Self::Acc = <T::Total as Number>::ZERO;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.add(x.total())
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.add(b)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, n: usize) -> T {
        T::of_total(acc.over(T::Total::count(n)))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let reduction = Reduction::of(cx)?;
    let out = if reduction.is_trivial() {
        reduction.unreduced()?
    } else {
        with_element!(reduction.dtype(), T in numbers => reduction.fold::<Mean<T>>(), else => Err(no_kernel("Mean", reduction.dtype())))?
    };
    cx.set(0, out);
    Ok(())
}

// Each element has the weight one over their number.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let count = count(cx);
    let dx = stretched(cx, dy / count);
    cx.give(0, dx);
    Ok(())
}

cases! {
    of_rows: "Mean([[1.0 2.0] [3.0 5.0]], [1]) = [1.5 4.0]",
    of_columns: "Mean([[1.0 2.0] [3.0 5.0]], [0]; keep_dims=true) = [[2.0 3.5]]",
    integers_truncate: "Mean([-7 2], 0) = -2",
    integers_do_not_overflow: "Mean(i8[3] [100 100 101], 0) = i8[] 100",
    of_no_floats: "Mean(f32[0] [], 0) ~ nan",
    of_no_integers: "Mean(i32[0] [], 0) = 0",
    shape: "Mean(f32[2,?], [0 1]) : f32[]",
    axis_out_of_range: "Mean([1.0], [-2]) ! `reduction_indices` is -2",
}
