//! `AddManySparseToTensorsMap`: stores the rows of a sparse tensor in a map.

use super::batches::{inferred_rows, rows_of};
use super::entries::Entries;
use super::tensors_map::{mapped, with_map};
use millstream_graph::op::{InferCx, KernelCx, OpDef};
use millstream_state::SparseTensorsMap;
use millstream_tensor::DType::I64;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("AddManySparseToTensorsMap")
        .doc(
            "Stores each row of a sparse tensor, which is a sparse tensor of lower rank, in the map \
             `shared_name` (by default, the node's name) in `container`, and returns the numbers by which \
             TakeManySparseFromTensorsMap takes the rows out.",
        )
        .input("sparse_indices", I64)
        .input("sparse_values", "T")
        .input("sparse_shape", I64)
        .output("sparse_handles", I64)
        .infer(infer);
    mapped(def, "T", |cx| with_map(cx, "T", run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let rows = inferred_rows(cx)?;
    cx.set(0, [rows]);
    Ok(())
}

fn run(cx: &mut KernelCx, map: &SparseTensorsMap) -> Result<()> {
    let rows = &rows_of(&Entries::of(cx, 0)?)?;
    // As in TensorFlow, rows without entries get the last numbers.
    let with = |full: bool| (0..rows.len()).filter(move |&i| (rows[i][1].elements() > 0) == full);
    let order = Charged::of(with(true).chain(with(false)))?;
    let mut numbers = Charged::with_room(rows.len())?;
    numbers.resize_with(rows.len(), || 0)?;
    let first = map.add(order.iter().map(|&i| rows[i].clone()))?;
    for (number, &i) in (first..).zip(order.iter()) {
        numbers[i] = number;
    }
    cx.set(0, Tensor::vector(&numbers)?);
    Ok(())
}

cases! {
    a_number_for_each_row: "AddManySparseToTensorsMap(i64 [[0 1] [2 0]], [5 6], i64 [4 3]) = i64 [0 2 1 3]",
    no_rows: "AddManySparseToTensorsMap(i64[0,2] [], f32[0] [], i64 [0 3]) = i64[0] []",
    infers: "AddManySparseToTensorsMap(i64[?,2], f32[?], i64 [4 3]) : i64[4]",
    of_unknown_rows: "AddManySparseToTensorsMap(i64[?,?], f32[?], i64[?]) : i64[?]",
    has_rows: "AddManySparseToTensorsMap(i64 [[0]], [5], i64[1] [3]) ! should be > 1, but saw rank: 1",
    inside: "AddManySparseToTensorsMap(i64 [[4 0]], [5], i64 [4 3]) ! row 0 of `sparse_indices` is [4, 0]",
    not_below: "AddManySparseToTensorsMap(i64 [[-1 0]], [5], i64 [4 3]) ! row 0 of `sparse_indices` is [-1, 0]",
    not_too_many: "AddManySparseToTensorsMap(i64[0,2] [], f32[0] [], i64 [4611686018427387904 3]) ! are too many",
}
