//! `UnsortedSegmentProd`: product over the rows with each id.

use super::back::through_products;
use super::rows::{reduce_unsorted, unsorted};
use crate::number::{Number, with_number};
use millstream_graph::op::{Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    unsorted("UnsortedSegmentProd", run)
        .doc("The product of the parts of `data` for each id below `num_segments` in `segment_ids`, in any order; ids without parts give 1. Negative ids are left out.")
        .attr("T", spec::Number)
        .gradient(Gradient::of(through_products))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_number!("UnsortedSegmentProd", cx.input(0).dtype(), T => reduce_unsorted::<T>(cx, T::ONE, |a, b| a.times(b)))?;
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
