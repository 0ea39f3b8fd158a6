//! `SparseSegmentSqrtN` and `SparseSegmentSqrtNWithNumSegments`: the sum divided by the square root of the
//! count, over segments of selected rows.

use super::gradients::{counts, to_chosen_rows};
use super::segments::{SqrtN, reduce_sparse, sparse, sparse_counted};
use crate::number::no_kernel;

use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [
        sparse("SparseSegmentSqrtN", run)
            .doc(
                "Computes the sum of the rows of `data` at `indices` for each id in the sorted `segment_ids`, \
                 divided by the square root of their number. Ids without rows give 0.",
            )
            .attr("T", spec::FloatType)
            .gradient(Gradient::of(grad)),
        sparse_counted("SparseSegmentSqrtNWithNumSegments", run)
            .doc(
                "Computes the sum of the rows of `data` at `indices` for each id in the sorted `segment_ids`, \
                 divided by the square root of their number. Ids without rows give 0. The result has \
                 `num_segments` rows.",
            )
            .attr("T", spec::FloatType)
            .gradient(Gradient::of(grad)),
    ]
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => reduce_sparse::<SqrtN<T>>(cx), else => Err(no_kernel("SparseSegmentSqrtN", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, ids) = (cx.grad(0), cx.input(2));
    let share = dy / cx.call("Sqrt", [counts(cx, dy, ids)]);
    to_chosen_rows(cx, share);
    Ok(())
}

cases! {
    takes_rows: "SparseSegmentSqrtN([[1.0 2.0] [3.0 4.0] [5.0 6.0]], [0 2 1], [1 1 2]) ~ [[0.0 0.0] [4.2426405 5.656854] [3.0 4.0]]",
    of_nothing: "SparseSegmentSqrtN([[1.0 2.0]], i32[0] [], i32[0] []) = f32[0,2] []",
    shape: "SparseSegmentSqrtN(f32[5,3], i32[?], i32[?]) : f32[?,3]",
    index_out_of_range: "SparseSegmentSqrtN([1.0], [7], [0]) ! has 7 at 0, but `data` has 1 rows",
    must_be_sorted: "SparseSegmentSqrtN([1.0], [0 0], [1 0]) ! must be sorted",
    equal_lengths: "SparseSegmentSqrtN([1.0], [0 0], [0]) ! they must be equal",
    counted: "SparseSegmentSqrtNWithNumSegments([[1.0 2.0] [3.0 4.0] [5.0 6.0]], [0 2 1], [0 0 2], 4) ~ [[4.2426405 5.656854] [0.0 0.0] [3.0 4.0] [0.0 0.0]]",
    counted_nothing: "SparseSegmentSqrtNWithNumSegments([[1.0 2.0]], i32[0] [], i32[0] [], i64 2) = [[0.0 0.0] [0.0 0.0]]",
    counted_shape: "SparseSegmentSqrtNWithNumSegments(f32[5,3], i32[?], i32[?], 7) : f32[7,3]",
    too_few: "SparseSegmentSqrtNWithNumSegments([1.0 2.0], [0 1], [0 2], 2) ! `segment_ids` has 2 but `num_segments` is 2",
    not_negative: "SparseSegmentSqrtNWithNumSegments([1.0 2.0], [0 1], [0 2], -1) ! must not be negative",
}
