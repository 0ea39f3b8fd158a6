//! `SparseSegmentSum` and `SparseSegmentSumWithNumSegments`: the sum over segments of selected rows.

use super::gradients::to_chosen_rows;
use super::segments::{reduce_sparse, sparse, sparse_counted};
use crate::number::no_kernel;
use crate::shared::folds::Sum;
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [
        sparse("SparseSegmentSum", run)
            .doc(
                "Computes the sum of the rows of `data` at `indices` for each id in the sorted `segment_ids`. \
                 Ids without rows give 0.",
            )
            .attr("T", spec::RealNumber)
            .gradient(Gradient::of(grad)),
        sparse_counted("SparseSegmentSumWithNumSegments", run)
            .doc(
                "Computes the sum of the rows of `data` at `indices` for each id in the sorted `segment_ids`. \
                 Ids without rows give 0. The result has `num_segments` rows.",
            )
            .attr("T", spec::RealNumber)
            .gradient(Gradient::of(grad)),
    ]
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in reals => reduce_sparse::<Sum<T>>(cx), else => Err(no_kernel("SparseSegmentSum", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    to_chosen_rows(cx, dy);
    Ok(())
}

cases! {
    takes_rows: "SparseSegmentSum([[1.0 2.0] [3.0 4.0] [5.0 6.0]], [0 2 1], [1 1 2]) ~ [[0.0 0.0] [6.0 8.0] [3.0 4.0]]",
    of_nothing: "SparseSegmentSum([[1.0 2.0]], i32[0] [], i32[0] []) = f32[0,2] []",
    shape: "SparseSegmentSum(f32[5,3], i32[?], i32[?]) : f32[?,3]",
    index_out_of_range: "SparseSegmentSum([1.0], [7], [0]) ! has 7 at 0, but `data` has 1 rows",
    must_be_sorted: "SparseSegmentSum([1.0], [0 0], [1 0]) ! must be sorted",
    equal_lengths: "SparseSegmentSum([1.0], [0 0], [0]) ! they must be equal",
    counted: "SparseSegmentSumWithNumSegments([[1.0 2.0] [3.0 4.0] [5.0 6.0]], [0 2 1], [0 0 2], 4) ~ [[6.0 8.0] [0.0 0.0] [3.0 4.0] [0.0 0.0]]",
    counted_nothing: "SparseSegmentSumWithNumSegments([[1.0 2.0]], i32[0] [], i32[0] [], i64 2) = [[0.0 0.0] [0.0 0.0]]",
    counted_shape: "SparseSegmentSumWithNumSegments(f32[5,3], i32[?], i32[?], 7) : f32[7,3]",
    too_few: "SparseSegmentSumWithNumSegments([1.0 2.0], [0 1], [0 2], 2) ! `segment_ids` has 2 but `num_segments` is 2",
    not_negative: "SparseSegmentSumWithNumSegments([1.0 2.0], [0 1], [0 2], -1) ! must not be negative",
}
