//! `SparseSegmentSqrtN`: sum over the square root of the count over runs of chosen rows.

use super::back::{counts, to_chosen_rows};
use super::rows::{SqrtN, reduce_sparse, sparse};
use crate::number::with_float;

use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    sparse("SparseSegmentSqrtN", run)
        .doc("The sum over the square root of the count of the rows of `data` that `indices` names, for each id in the sorted `segment_ids`; ids without rows give 0.")
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_float!("SparseSegmentSqrtN", cx.input(0).dtype(), T => reduce_sparse::<SqrtN<T>>(cx))?;
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
}
