//! `UnsortedSegmentProd`: the product over segments of ids in any order.

use super::gradients::through_products;
use super::segments::{reduce_unsorted, unsorted};
use crate::number::{Num, Number, no_kernel};
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    unsorted("UnsortedSegmentProd", run)
        .doc(
            "Computes the product of the slices of `data` for each id in `segment_ids`, which are below \
             `num_segments`, in any order. Ids without slices give 1. Negative ids are ignored.",
        )
        .attr("T", spec::Number)
        .gradient(Gradient::of(through_products))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in numbers => reduce_unsorted::<T>(cx, T::ONE, |a, b| a.mul(b)), else => Err(no_kernel("UnsortedSegmentProd", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    multiplies: "UnsortedSegmentProd([3 2 5], [2 0 2], 4) = [2 1 15 1]",
    shape: "UnsortedSegmentProd(f32[5,3,7], i32[5,?], 4) : f32[4,7]",
    unknown_count: "UnsortedSegmentProd(f32[5,3], i32[5], i32[]) : f32[?,3]",
    id_out_of_range: "UnsortedSegmentProd([1 2], [0 4], 3) ! has 4 at 1, but `num_segments` is 3",
    shapes_fit: "UnsortedSegmentProd([1 2], [0], 3) ! does not start with the shape [1]",
    count_is_not_negative: "UnsortedSegmentProd([1 2], [0 1], -3) ! `num_segments` is -3",
}
