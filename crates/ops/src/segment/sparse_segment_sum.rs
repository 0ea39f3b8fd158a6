//! `SparseSegmentSum`: sum over runs of chosen rows.

use super::back::to_chosen_rows;
use super::rows::{reduce_sparse, sparse};
use crate::number::with_real;
use crate::reduce::Sum;
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    sparse("SparseSegmentSum", run)
        .doc("The sum of the rows of `data` that `indices` names, for each id in the sorted `segment_ids`; ids without rows give 0.")
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_real!("SparseSegmentSum", cx.input(0).dtype(), T => reduce_sparse::<Sum<T>>(cx))?;
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
}
