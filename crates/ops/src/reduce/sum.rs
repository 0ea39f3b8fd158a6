//! `Sum`: the sum along axes.

use super::gradients::stretched;
use super::reduction::reduction_by;
use crate::number::no_kernel;
use crate::shared::fold::{Reduction, fold_bools, fold_squares, makes_squares};
use crate::shared::folds::Sum;
use millstream_graph::op::spec;
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    let kernel = Kernel::pure(run).absorbing(|before| match makes_squares(before) {
        true => Some(fold_squares::<Sum<f32>, Sum<f64>> as RunFn),
        false => fold_bools::<Sum<i32>, Sum<i64>, Sum<f32>, Sum<f64>>(before),
    });
    reduction_by("Sum", kernel)
        .doc(
            "Computes the sum of the elements along `reduction_indices`. It is 0 for no elements. Integers \
             wrap around.",
        )
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

// Each element is a term of one sum.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let dx = stretched(cx, dy);
    cx.give(0, dx);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let reduction = Reduction::of(cx)?;
    let out = if reduction.is_trivial() {
        reduction.unreduced()?
    } else {
        with_element!(reduction.dtype(), T in numbers => reduction.fold::<Sum<T>>(), else => Err(no_kernel("Sum", reduction.dtype())))?
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
    axes_in_a_vector: "Sum([1 2], [[0]]) ! Shape must be at most rank 1 but is rank 2",
    axis_out_of_range: "Sum([1 2], [1]) ! `reduction_indices` is 1 but the input has rank 1",
    axis_twice: "Sum([[1 2]], [0 -2]) ! names axis 0 twice",
}
