//! `AddManySparseToTensorsMap`: keeps each row of a sparse tensor under a number.

use super::entries::{Entries, inferred, matrix, sizes};
use super::tensors_map::{mapped, with_map};
use millstream_graph::op::{InferCx, KernelCx, OpDef};
use millstream_state::{Sparse, SparseTensorsMap};
use millstream_tensor::DType::I64;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("AddManySparseToTensorsMap")
        .doc(
            "Keeps each row of a sparse tensor, a sparse tensor of one axis less, in the map called `shared_name` (or as this node is) in \
             `container`, and gives the numbers under which TakeManySparseFromTensorsMap takes them out.",
        )
        .input("sparse_indices", I64)
        .input("sparse_values", "T")
        .input("sparse_shape", I64)
        .output("sparse_handles", I64)
        .infer(infer);
    mapped(def, "T", |cx| with_map(cx, "T", run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (_, rank) = inferred(cx, 0)?;
    if let Some(rank) = rank {
        enough_axes(rank)?;
    }
    // The shape of the whole need be none that a dense tensor could have.
    let rows = cx.ints(2).and_then(|sizes| usize::try_from(*sizes.first()?).ok());
    cx.set(0, [rows]);
    Ok(())
}

fn enough_axes(rank: usize) -> Result<()> {
    ensure!(rank > 1, "Rank of input SparseTensor should be > 1, but saw rank: {rank}: its rows are kept");
    Ok(())
}

fn run(cx: &mut KernelCx, map: &SparseTensorsMap) -> Result<()> {
    let all = Entries::of(cx, 0)?;
    enough_axes(all.rank)?;
    let n_rows = usize::try_from(all.shape[0]).map_err(|_| invalid!("`sparse_shape` has {} rows", all.shape[0]))?;
    // Room for all is asked for before anything is made: rows without entries cost no input.
    let mut rows: Charged<Sparse> = Charged::with_room(n_rows)?;
    let shape = sizes(&all.shape[1..])?;
    let part = |entries: &[usize]| -> Result<Sparse> {
        let indices = matrix(all.rank - 1, entries.iter().map(|&e| &all.index(e)[1..]))?;
        Ok([indices, all.values.take([entries.len()], entries)?, shape.clone()])
    };
    let none = part(&[])?;
    let mut order: Vec<usize> = (0..all.n).collect();
    order.sort_by_key(|&entry| all.index(entry)[0]);
    for entries in order.chunk_by(|&a, &b| all.index(a)[0] == all.index(b)[0]) {
        // Within the shape, as all indices are.
        let row = all.index(entries[0])[0] as usize;
        rows.resize_with(row, || none.clone())?;
        rows.push(part(entries)?)?;
    }
    rows.resize_with(n_rows, || none.clone())?;
    let first = map.add(&rows)?;
    let numbers = Tensor::from_iter([n_rows], first..first + n_rows as i64)?;
    cx.set(0, numbers);
    Ok(())
}

cases! {
    a_number_for_each_row: "AddManySparseToTensorsMap(i64 [[0 1] [2 0]], [5 6], i64 [4 3]) = i64 [0 1 2 3]",
    no_rows: "AddManySparseToTensorsMap(i64[0,2] [], f32[0] [], i64 [0 3]) = i64[0] []",
    infers: "AddManySparseToTensorsMap(i64[?,2], f32[?], i64 [4 3]) : i64[4]",
    of_unknown_rows: "AddManySparseToTensorsMap(i64[?,?], f32[?], i64[?]) : i64[?]",
    has_rows: "AddManySparseToTensorsMap(i64 [[0]], [5], i64[1] [3]) ! should be > 1, but saw rank: 1",
    inside: "AddManySparseToTensorsMap(i64 [[4 0]], [5], i64 [4 3]) ! row 0 of `sparse_indices` is [4, 0]",
    not_below: "AddManySparseToTensorsMap(i64 [[-1 0]], [5], i64 [4 3]) ! row 0 of `sparse_indices` is [-1, 0]",
    not_too_many: "AddManySparseToTensorsMap(i64[0,2] [], f32[0] [], i64 [4611686018427387904 3]) ! are too many",
}
