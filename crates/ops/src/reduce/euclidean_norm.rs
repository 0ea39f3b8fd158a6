//! `EuclideanNorm`: the Euclidean norm along axes.

use super::gradients::with_reduced_axes;
use super::reduction::reduction;
use crate::number::no_kernel;
use crate::shared::fold::Reduction;
use crate::shared::folds::{EuclideanNorm, IntegerNorm};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    reduction("EuclideanNorm", run)
        .doc(
            "Computes the square root of the sum of squares along `reduction_indices`. The square of a complex \
             number is that of its absolute value. The norm of no elements is 0. A single element is returned \
             as it is, with its sign, as in TensorFlow. Integer results are truncated.",
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
    if reduction.is_of_singles() {
        // As in TensorFlow, whose kernels copy where there is nothing to add up: the sign stays.
        let out = reduction.singles()?;
        cx.set(0, out);
        return Ok(());
    }
    let out = with_element!(reduction.dtype(), T in floats => reduction.fold::<EuclideanNorm<T>>(), else =>
        with_element!(reduction.dtype(), T in complexes => reduction.fold::<EuclideanNorm<T>>(), else =>
        with_element!(reduction.dtype(), T in ints => reduction.fold::<IntegerNorm<T>>(), else =>
            Err(no_kernel("EuclideanNorm", reduction.dtype())))))?;
    cx.set(0, out);
    Ok(())
}

// d√(Σ |x|²) = Re(x̄ dx) / √(Σ |x|²). The norm is real, so of a complex `dy` only the real part counts.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x, y) = (cx.grad(0), cx.input(0), cx.output(0));
    let y = with_reduced_axes(cx, y);
    let dy = with_reduced_axes(cx, dy);
    let dy = match cx.dtype(0).is_complex() {
        true => (dy + cx.conj(dy)) * cx.scalar(cx.dtype(0), 0.5),
        false => dy,
    };
    cx.give(0, x / y * dy);
    Ok(())
}

cases! {
    of_rows: "EuclideanNorm([[3.0 4.0] [5.0 12.0]], [1]) = [5.0 13.0]",
    integers_truncate: "EuclideanNorm([3 5], 0) = 5",
    of_single_elements: "EuclideanNorm([3.0 -5.0], i32[0] []) = [3.0 -5.0]",
    of_complex_numbers: "EuclideanNorm(c64[2,2] [[3+4j 0+0j] [0+3j 4+0j]], [1]) = c64[2] [5+0j 5+0j]",
    squares_beyond_the_type: "EuclideanNorm(i64 [1099511627776 0], 0) = i64 1099511627776",
    of_the_least_integer: "EuclideanNorm(i16 [-128 300], 0) = i16 326",
    beyond_the_type: "EuclideanNorm(i8 [100 100], 0) = i8 5",
    of_nothing: "EuclideanNorm(f32[0] [], 0) = 0.0",
    shape: "EuclideanNorm(f32[2,?], 0) : f32[?]",
    axis_out_of_range: "EuclideanNorm([1.0], [1]) ! `reduction_indices` is 1",
}
