//! `UnsortedSegmentSum`: the sum over segments of ids in any order.

use super::gradients::of_segment_or_zeros;
use super::segments::{reduce_unsorted, unsorted};
use crate::number::{Num, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    unsorted("UnsortedSegmentSum", run)
        .doc(
            "Computes the sum of the slices of `data` for each id in `segment_ids`, which are below \
             `num_segments`, in any order. Ids without slices give 0. Negative ids are ignored.",
        )
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in numbers => reduce_unsorted::<T>(cx, T::ZERO, |a, b| a.add(b)), else => Err(no_kernel("UnsortedSegmentSum", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// Each row with an id is a term of its segment's sum.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, ids) = (cx.grad(0), cx.input(1));
    cx.give(0, of_segment_or_zeros(cx, dy, ids));
    Ok(())
}

cases! {
    sums: "UnsortedSegmentSum([1 2 5], [2 0 2], 4) = [2 0 6 0]",
    ids_of_any_rank: "UnsortedSegmentSum([[1 2] [3 4]], [[0 1] [1 1]], 2) = [1 9]",
    leaves_negative_ids_out: "UnsortedSegmentSum([1 2 5], [0 -1 2], 3) = [1 0 5]",
    shape: "UnsortedSegmentSum(f32[5,3,7], i32[5,?], 4) : f32[4,7]",
    unknown_count: "UnsortedSegmentSum(f32[5,3], i32[5], i32[]) : f32[?,3]",
    id_out_of_range: "UnsortedSegmentSum([1 2], [0 4], 3) ! has 4 at 1, but `num_segments` is 3",
    shapes_fit: "UnsortedSegmentSum([1 2], [0], 3) ! does not start with the shape [1]",
    count_is_not_negative: "UnsortedSegmentSum([1 2], [0 1], -3) ! `num_segments` is -3",
}
