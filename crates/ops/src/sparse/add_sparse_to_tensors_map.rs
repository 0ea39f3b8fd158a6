//! `AddSparseToTensorsMap`: stores a sparse tensor in a map.

use super::entries::{Entries, inferred};
use super::tensors_map::{mapped, with_map};
use millstream_graph::op::{InferCx, KernelCx, OpDef};
use millstream_state::SparseTensorsMap;
use millstream_tensor::DType::I64;
use millstream_tensor::{PartialShape, Result, Tensor};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("AddSparseToTensorsMap")
        .doc(
            "Stores a sparse tensor in the map `shared_name` (by default, the node's name) in `container`, \
             which is created if it does not exist, and returns the number by which \
             TakeManySparseFromTensorsMap takes it out.",
        )
        .input("sparse_indices", I64)
        .input("sparse_values", "T")
        .input("sparse_shape", I64)
        .output("sparse_handle", I64)
        .infer(infer);
    mapped(def, "T", |cx| with_map(cx, "T", run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    inferred(cx, 0)?;
    cx.set(0, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx, map: &SparseTensorsMap) -> Result<()> {
    Entries::of(cx, 0)?;
    let sparse = [0, 1, 2].map(|i| cx.input(i).clone());
    let number = map.add(std::iter::once(sparse))?;
    cx.set(0, Tensor::scalar(number));
    Ok(())
}

cases! {
    counts: "AddSparseToTensorsMap(i64 [[0 1] [2 0]], [5 6], i64 [3 3]) = i64 0",
    infers: "AddSparseToTensorsMap(i64[?,2], f32[?], i64[2]) : i64[]",
    is_a_matrix: "AddSparseToTensorsMap(i64 [1 2], [5 6], i64[1] [3]) ! `sparse_indices`",
    a_value_for_each: "AddSparseToTensorsMap(i64 [[0] [1]], [5], i64[1] [3]) ! but `sparse_values` has [1]",
    a_size_for_each: "AddSparseToTensorsMap(i64 [[0] [1]], [5 6], i64 [3 3]) ! `sparse_shape`",
    inside: "AddSparseToTensorsMap(i64 [[0 3]], [5], i64 [3 3]) ! row 0 of `sparse_indices` is [0, 3]",
    not_negative: "AddSparseToTensorsMap(i64[0,2] [], i32[0] [], i64 [3 -1]) ! `sparse_shape` has -1, which must not be negative",
}
