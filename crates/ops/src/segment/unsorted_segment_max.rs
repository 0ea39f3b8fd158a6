//! `UnsortedSegmentMax`: the maximum over segments of ids in any order.

use super::gradients::to_extremes;
use super::segments::{reduce_unsorted, unsorted};
use crate::number::{Real, RealElement, no_kernel};
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    unsorted("UnsortedSegmentMax", run)
        .doc(
            "Computes the maximum of the slices of `data` for each id in `segment_ids`, which are below \
             `num_segments`, in any order. Ids without slices give the least finite value. Negative ids are \
             ignored.",
        )
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(to_extremes))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in reals => reduce_unsorted::<T>(cx, T::LEAST_FINITE, Real::max), else => Err(no_kernel("UnsortedSegmentMax", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    finds: "UnsortedSegmentMax([3 2 5], [2 0 2], 4) = [2 -2147483648 5 -2147483648]",
    finite_floats: "UnsortedSegmentMax([1.0], [1], 2) = [-3.4028235e38 1.0]",
    shape: "UnsortedSegmentMax(f32[5,3,7], i32[5,?], 4) : f32[4,7]",
    unknown_count: "UnsortedSegmentMax(f32[5,3], i32[5], i32[]) : f32[?,3]",
    id_out_of_range: "UnsortedSegmentMax([1 2], [0 4], 3) ! has 4 at 1, but `num_segments` is 3",
    shapes_fit: "UnsortedSegmentMax([1 2], [0], 3) ! does not start with the shape [1]",
    count_is_not_negative: "UnsortedSegmentMax([1 2], [0 1], -3) ! `num_segments` is -3",
}
