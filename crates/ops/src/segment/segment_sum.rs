//! `SegmentSum`: sum over runs of rows.

use super::back::of_segment;
use super::rows::{reduce_sorted, sorted};
use crate::number::{Number, with_number};
use crate::reduce::Sum;
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    sorted("SegmentSum", run)
        .doc("The sum of the rows of `data` for each id in the sorted `segment_ids`; ids without rows give 0.")
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_number!("SegmentSum", cx.input(0).dtype(), T => reduce_sorted::<Sum<T>>(cx, <T as Number>::ZERO))?;
    cx.set(0, out);
    Ok(())
}

// Every row counted in its segment.
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
