//! `SegmentProd`: the product over segments of sorted ids.

use super::gradients::through_products;
use super::segments::{reduce_sorted, sorted};
use crate::number::{Number, no_kernel};
use crate::shared::folds::Prod;
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    sorted("SegmentProd", run)
        .doc(
            "Computes the product of the rows of `data` for each id in the sorted `segment_ids`. Ids \
             without rows give 1.",
        )
        .attr("T", spec::Number)
        .gradient(Gradient::of(through_products))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in numbers => reduce_sorted::<Prod<T>>(cx, <T as Number>::ONE), else => Err(no_kernel("SegmentProd", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    multiplies: "SegmentProd([1 2 4 6], [1 1 3 3]) = [1 2 1 24]",
    shape: "SegmentProd(f32[5,3], i32[5]) : f32[?,3]",
    must_be_sorted: "SegmentProd([1 2], [1 0]) ! must be sorted but has 0 after 1",
    must_not_be_negative: "SegmentProd([1 2], [-1 0]) ! has -1 at 0",
    one_id_per_row: "SegmentProd([1 2], [0]) ! an id for each row",
    needs_rows: "SegmentProd(f32[], i32[0]) ! `data` must have rank 1",
}
