//! `SegmentMin`: the minimum over segments of sorted ids.

use super::gradients::to_extremes;
use super::segments::{reduce_sorted, sorted};
use crate::number::{Number, no_kernel};
use crate::shared::folds::Min;
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    sorted("SegmentMin", run)
        .doc(
            "Computes the minimum of the rows of `data` for each id in the sorted `segment_ids`. Ids \
             without rows give 0.",
        )
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(to_extremes))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in reals => reduce_sorted::<Min<T>>(cx, <T as Number>::ZERO), else => Err(no_kernel("SegmentMin", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    finds: "SegmentMin([1 2 4 6], [1 1 3 3]) = [0 1 0 4]",
    shape: "SegmentMin(f32[5,3], i32[5]) : f32[?,3]",
    must_be_sorted: "SegmentMin([1 2], [1 0]) ! must be sorted but has 0 after 1",
    must_not_be_negative: "SegmentMin([1 2], [-1 0]) ! has -1 at 0",
    one_id_per_row: "SegmentMin([1 2], [0]) ! an id for each row",
    needs_rows: "SegmentMin(f32[], i32[0]) ! `data` must have rank 1",
}
