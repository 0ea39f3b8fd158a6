//! `UnsortedSegmentMin`: the minimum over segments of ids in any order.

use super::gradients::to_extremes;
use super::segments::{reduce_unsorted, unsorted};
use crate::number::{Real, RealElement, no_kernel};
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    unsorted("UnsortedSegmentMin", run)
        .doc(
            "Computes the minimum of the slices of `data` for each id in `segment_ids`, which are below \
             `num_segments`, in any order. Ids without slices give the greatest finite value. Negative ids \
             are ignored.",
        )
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(to_extremes))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in reals => reduce_unsorted::<T>(cx, T::GREATEST_FINITE, Real::min), else => Err(no_kernel("UnsortedSegmentMin", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    finds: "UnsortedSegmentMin([3 2 5], [2 0 2], 4) = [2 2147483647 3 2147483647]",
    finite_floats: "UnsortedSegmentMin([1.0], [1], 2) = [3.4028235e38 1.0]",
    shape: "UnsortedSegmentMin(f32[5,3,7], i32[5,?], 4) : f32[4,7]",
    unknown_count: "UnsortedSegmentMin(f32[5,3], i32[5], i32[]) : f32[?,3]",
    id_out_of_range: "UnsortedSegmentMin([1 2], [0 4], 3) ! has 4 at 1, but `num_segments` is 3",
    shapes_fit: "UnsortedSegmentMin([1 2], [0], 3) ! does not start with the shape [1]",
    count_is_not_negative: "UnsortedSegmentMin([1 2], [0 1], -3) ! `num_segments` is -3",
}
