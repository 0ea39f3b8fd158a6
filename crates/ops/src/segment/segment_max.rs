//! `SegmentMax`: the maximum over segments of sorted ids.

use super::gradients::to_extremes;
use super::segments::{reduce_sorted, sorted};
use crate::number::{Number, no_kernel};
use crate::shared::folds::Max;
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    sorted("SegmentMax", run)
        .doc(
            "Computes the maximum of the rows of `data` for each id in the sorted `segment_ids`. Ids \
             without rows give 0.",
        )
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(to_extremes))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in reals => reduce_sorted::<Max<T>>(cx, <T as Number>::ZERO), else => Err(no_kernel("SegmentMax", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    finds: "SegmentMax([1 2 4 6], [1 1 3 3]) = [0 2 0 6]",
    shape: "SegmentMax(f32[5,3], i32[5]) : f32[?,3]",
    must_be_sorted: "SegmentMax([1 2], [1 0]) ! must be sorted but has 0 after 1",
    must_not_be_negative: "SegmentMax([1 2], [-1 0]) ! has -1 at 0",
    one_id_per_row: "SegmentMax([1 2], [0]) ! an id for each row",
    needs_rows: "SegmentMax(f32[], i32[0]) ! `data` must have rank 1",
}
