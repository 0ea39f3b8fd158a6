//! `SparseSegmentMean`: mean over runs of chosen rows.

use super::back::{counts, to_chosen_rows};
use super::rows::{Mean, reduce_sparse, sparse};
use crate::number::with_float;

use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    sparse("SparseSegmentMean", run)
        .doc("The mean of the rows of `data` that `indices` names, for each id in the sorted `segment_ids`; ids without rows give 0.")
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_float!("SparseSegmentMean", cx.input(0).dtype(), T => reduce_sparse::<Mean<T>>(cx))?;
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
}
