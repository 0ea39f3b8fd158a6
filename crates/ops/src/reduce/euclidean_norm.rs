//! `EuclideanNorm`: the Euclidean norm along axes.

use super::gradients::with_reduced_axes;
use super::reduction::reduction;
use crate::number::no_kernel;
use crate::shared::fold::Reduction;
use crate::shared::folds::EuclideanNorm;
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

// d√(Σ x²) = (x / √(Σ x²)) dx, of complex numbers with the conjugate.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x, y) = (cx.grad(0), cx.input(0), cx.output(0));
    let y = with_reduced_axes(cx, y);
    let dy = with_reduced_axes(cx, dy);
    let slope = cx.conj(x / y);
    cx.give(0, slope * dy);
    Ok(())
}

cases! {
    of_rows: "EuclideanNorm([[3.0 4.0] [5.0 12.0]], [1]) = [5.0 13.0]",
    integers_truncate: "EuclideanNorm([3 5], 0) = 5",
    of_single_elements: "EuclideanNorm([3.0 -5.0], i32[0] []) = [3.0 5.0]",
    no_conjugates: "EuclideanNorm(c64[2,1] [[3+4j] [3+4j]], [1]) = c64[2] [3+4j 3+4j]",
    of_nothing: "EuclideanNorm(f32[0] [], 0) = 0.0",
    shape: "EuclideanNorm(f32[2,?], 0) : f32[?]",
    axis_out_of_range: "EuclideanNorm([1.0], [1]) ! `reduction_indices` is 1",
}
