//! `Min`: the minimum along axes.

use super::gradients::to_extremes;
use super::reduction::reduction;
use crate::number::no_kernel;
use crate::shared::fold::Reduction;
use crate::shared::folds::Min;
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    reduction("Min", run)
        .doc(
            "Computes the minimum of the elements along `reduction_indices`. It is NaN if an element is \
             NaN, and the highest value of the dtype (infinity for floats) for no elements.",
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
        with_element!(reduction.dtype(), T in reals => reduction.fold::<Min<T>>(), else => Err(no_kernel("Min", reduction.dtype())))?
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
