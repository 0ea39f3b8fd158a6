//! `Max`: the maximum along axes.

use super::gradients::to_extremes;
use super::reduction::reduction;
use crate::number::no_kernel;
use crate::shared::fold::Reduction;
use crate::shared::folds::Max;
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    reduction("Max", run)
        .doc(
            "Computes the maximum of the elements along `reduction_indices`. It is NaN if an element is \
             NaN, and the lowest value of the dtype (negative infinity for floats) for no elements.",
        )
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(to_extremes))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let reduction = Reduction::of(cx)?;
    let out = if reduction.is_trivial() {
        reduction.unreduced()?
    } else {
        with_element!(reduction.dtype(), T in reals => reduction.fold::<Max<T>>(), else => Err(no_kernel("Max", reduction.dtype())))?
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
