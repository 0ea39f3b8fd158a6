//! `TakeManySparseFromTensorsMap`: takes stored sparse tensors out of a map, as a batch.

use super::tensors_map::{mapped, with_map};
use crate::shared::sparse_batch::batch;
use millstream_graph::op::{InferCx, KernelCx, OpDef};
use millstream_state::SparseTensorsMap;
use millstream_tensor::DType::I64;
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("TakeManySparseFromTensorsMap")
        .doc(
            "Takes the sparse tensors with the given numbers out of the map `shared_name` (by default, the \
             node's name) in `container`, and stacks them along a new first axis. Each other axis has the \
             size of the largest one. A number can be taken only once. If one is missing from the map, none \
             is taken.",
        )
        .input("sparse_handles", I64)
        .output("sparse_indices", I64)
        .output("sparse_values", "dtype")
        .output("sparse_shape", I64)
        .infer(infer);
    mapped(def, "dtype", |cx| with_map(cx, "dtype", run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    cx.set(0, [None, None]);
    cx.set(1, [None]);
    cx.set(2, [None]);
    Ok(())
}

fn run(cx: &mut KernelCx, map: &SparseTensorsMap) -> Result<()> {
    let handles = cx.input(0);
    ensure!(handles.rank() == 1, "sparse_handles should be a vector but has shape {}", handles.shape());
    ensure!(handles.elements() > 0, "`sparse_handles` is empty: of no sparse tensors the rank is not known");
    let numbers = cx.ints(0)?;
    let taken = map.take(&numbers)?;
    let [indices, values, shape] = batch(map.dtype(), &[taken.len()], &taken)?;
    cx.set(0, indices);
    cx.set(1, values);
    cx.set(2, shape);
    Ok(())
}

cases! {
    takes_rows: "h <- AddManySparseToTensorsMap(i64 [[2 0] [0 1]], [6 5], i64 [3 2]; shared_name=\"m\") | \
        TakeManySparseFromTensorsMap(h; dtype=i32, shared_name=\"m\") = i64 [[0 1] [2 0]], [5 6], i64 [3 2]",
    takes_one: "TakeManySparseFromTensorsMap(ExpandDims(AddSparseToTensorsMap(i64 [[1 2]], ['x'], i64 [3 4]; shared_name=\"m\"), 0); dtype=str, shared_name=\"m\") \
        = i64 [[0 1 2]], ['x'], i64 [1 3 4]",
    as_long_as_the_longest: "a <- AddSparseToTensorsMap(i64 [[1]], [0.5], i64[1] [2]; shared_name=\"m\") | \
        b <- AddSparseToTensorsMap(i64 [[4]], [1.5], i64[1] [7]; shared_name=\"m\") | \
        TakeManySparseFromTensorsMap(Pack(b, a); dtype=f32, shared_name=\"m\") = i64 [[0 4] [1 1]], [1.5 0.5], i64 [2 7]",
    no_entries: "TakeManySparseFromTensorsMap(AddManySparseToTensorsMap(i64[0,2] [], f32[0] [], i64 [2 3]; shared_name=\"m\"); dtype=f32, shared_name=\"m\") \
        = i64[0,2] [], f32[0] [], i64 [2 3]",
    infers: "TakeManySparseFromTensorsMap(i64[3]; dtype=f32) : i64[?,?], f32[?], i64[?]",
    nothing_there: "TakeManySparseFromTensorsMap(i64 [7 8]; dtype=f32, shared_name=\"m\") ! Unable to find SparseTensor: 7 in map: m",
    once_each: "h <- AddSparseToTensorsMap(i64 [[1]], [0.5], i64[1] [2]; shared_name=\"m\") | \
        TakeManySparseFromTensorsMap(Pack(h, h); dtype=f32, shared_name=\"m\") ! Unable to find SparseTensor: 0 in map: m",
    of_its_dtype: "h <- AddManySparseToTensorsMap(i64 [[0 1]], [5], i64 [1 2]; shared_name=\"m\") | \
        TakeManySparseFromTensorsMap(h; dtype=f32, shared_name=\"m\") ! keeps values that are i32, not f32",
    of_one_rank: "a <- AddSparseToTensorsMap(i64 [[1]], [0.5], i64[1] [2]; shared_name=\"m\") | \
        b <- AddSparseToTensorsMap(i64 [[4 0]], [1.5], i64 [7 7]; shared_name=\"m\") | \
        TakeManySparseFromTensorsMap(Pack(a, b); dtype=f32, shared_name=\"m\") ! rank of SparseTensor[1] is: 2",
    a_vector: "TakeManySparseFromTensorsMap(i64 [[7]]; dtype=f32) ! `sparse_handles`",
    one_at_least: "TakeManySparseFromTensorsMap(i64[0] []; dtype=f32) ! `sparse_handles` is empty",
}
