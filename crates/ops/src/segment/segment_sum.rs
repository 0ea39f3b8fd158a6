//! `SegmentSum`: the sum over segments of sorted ids.

use super::gradients::of_segment;
use super::segments::{reduce_sorted, sorted};
use crate::number::{Number, no_kernel};
use crate::shared::folds::Sum;
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    sorted("SegmentSum", run)
        .doc(
            "Computes the sum of the rows of `data` for each id in the sorted `segment_ids`. Ids without \
             rows give 0.",
        )
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in numbers => reduce_sorted::<Sum<T>>(cx, <T as Number>::ZERO), else => Err(no_kernel("SegmentSum", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// Each row is a term of its segment's sum.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, ids) = (cx.grad(0), cx.input(1));
    cx.give(0, of_segment(cx, dy, ids));
    Ok(())
}

cases! {
    sums: "SegmentSum([[1 2] [3 4] [5 6]], [0 0 2]) = [[4 6] [0 0] [5 6]]",
    of_nothing: "SegmentSum(f32[0] [], i32[0] []) = f32[0] []",
    shape: "SegmentSum(f32[5,3], i32[5]) : f32[?,3]",
    must_be_sorted: "SegmentSum([1 2], [1 0]) ! must be sorted but has 0 after 1",
    must_not_be_negative: "SegmentSum([1 2], [-1 0]) ! has -1 at 0",
    one_id_per_row: "SegmentSum([1 2], [0]) ! an id for each row",
    needs_rows: "SegmentSum(f32[], i32[0]) ! `data` must have rank 1",
}
