//! `SparseSegmentMean` and `SparseSegmentMeanWithNumSegments`: the mean over segments of selected rows.

use super::gradients::{counts, to_chosen_rows};
use super::segments::{Mean, reduce_sparse, sparse, sparse_counted};
use crate::number::no_kernel;

use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [
        sparse("SparseSegmentMean", run)
            .doc(
                "Computes the mean of the rows of `data` at `indices` for each id in the sorted `segment_ids`. \
                 Ids without rows give 0.",
            )
            .attr("T", spec::FloatType)
            .gradient(Gradient::of(grad)),
        sparse_counted("SparseSegmentMeanWithNumSegments", run)
            .doc(
                "Computes the mean of the rows of `data` at `indices` for each id in the sorted `segment_ids`. \
                 Ids without rows give 0. The result has `num_segments` rows.",
            )
            .attr("T", spec::FloatType)
            .gradient(Gradient::of(grad)),
    ]
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => reduce_sparse::<Mean<T>>(cx), else => Err(no_kernel("SparseSegmentMean", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, ids) = (cx.grad(0), cx.input(2));
    let share = dy / counts(cx, dy, ids);
    to_chosen_rows(cx, share);
    Ok(())
}

cases! {
    takes_rows: "SparseSegmentMean([[1.0 2.0] [3.0 4.0] [5.0 6.0]], [0 2 1], [1 1 2]) ~ [[0.0 0.0] [3.0 4.0] [3.0 4.0]]",
    of_nothing: "SparseSegmentMean([[1.0 2.0]], i32[0] [], i32[0] []) = f32[0,2] []",
    shape: "SparseSegmentMean(f32[5,3], i32[?], i32[?]) : f32[?,3]",
    index_out_of_range: "SparseSegmentMean([1.0], [7], [0]) ! has 7 at 0, but `data` has 1 rows",
    must_be_sorted: "SparseSegmentMean([1.0], [0 0], [1 0]) ! must be sorted",
    equal_lengths: "SparseSegmentMean([1.0], [0 0], [0]) ! they must be equal",
    counted: "SparseSegmentMeanWithNumSegments([[1.0 2.0] [3.0 4.0] [5.0 6.0]], [0 2 1], [0 0 2], 4) ~ [[3.0 4.0] [0.0 0.0] [3.0 4.0] [0.0 0.0]]",
    counted_nothing: "SparseSegmentMeanWithNumSegments([[1.0 2.0]], i32[0] [], i32[0] [], i64 2) = [[0.0 0.0] [0.0 0.0]]",
    counted_shape: "SparseSegmentMeanWithNumSegments(f32[5,3], i32[?], i32[?], 7) : f32[7,3]",
    too_few: "SparseSegmentMeanWithNumSegments([1.0 2.0], [0 1], [0 2], 2) ! `segment_ids` has 2 but `num_segments` is 2",
    not_negative: "SparseSegmentMeanWithNumSegments([1.0 2.0], [0 1], [0 2], -1) ! must not be negative",
}
