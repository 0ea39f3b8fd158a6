//! `EuclideanNorm`: the Euclidean norm along axes.

use super::gradients::with_reduced_axes;
use super::reduction::reduction;
use crate::number::no_kernel;
use crate::shared::fold::Reduction;
use crate::shared::folds::EuclideanNorm;
use crate::shared::gradient::{part, whole_of_real};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    reduction("EuclideanNorm", run)
        .doc(
            "Computes the square root of the sum of squares along `reduction_indices`. It is 0 for no \
             elements. Integer results are truncated.",
        )
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let reduction = Reduction::of(cx)?;
    let out = with_element!(reduction.dtype(), T in numbers => reduction.fold::<EuclideanNorm<T>>(), else => Err(no_kernel("EuclideanNorm", reduction.dtype())))?;
    cx.set(0, out);
    Ok(())
}

// d|x| = Re(x̅ dx) / |x|
fn grad(cx: &mut GradCx) -> Result<()> {
    let (mut dy, x, y) = (cx.grad(0), cx.input(0), cx.output(0));
    if cx.dtype(0).is_complex() {
        // The norm is real, so only the real part of its gradient counts.
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
