//! `SparseFillEmptyRows`: adds an entry to each empty row.

use super::entries::{Entries, gives, inferred};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{Bool, I64};
use millstream_tensor::budget::Charged;
use millstream_tensor::sorting::sort;
use millstream_tensor::{Assembler, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseFillEmptyRows")
        .doc(
            "Inserts an entry `default_value` at the beginning of each row without entries, and sorts the \
             entries by row. Also returns which rows were empty, and the new position of each entry.",
        )
        .input("indices", I64)
        .input("values", "T")
        .input("dense_shape", I64)
        .input("default_value", "T")
        .output("output_indices", I64)
        .output("output_values", "T")
        .output("empty_row_indicator", Bool)
        .output("reverse_index_map", I64)
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (n, rank) = inferred(cx, 0)?;
    cx.scalar(3)?;
    ensure!(rank != Some(0), "`dense_shape` is empty: a sparse tensor without axes has no rows");
    let rows = cx.as_shape(2)?.dim(0);
    gives(cx, 0, None, rank);
    cx.set(2, [rows]);
    cx.set(3, [n]);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (all, default) = (Entries::of(cx, 0)?, cx.input(3));
    ensure!(default.rank() == 0, "`default_value` must be a scalar but has shape {}", default.shape());
    let rows = *all.shape.first().ok_or_else(|| invalid!("a sparse tensor without axes has no rows"))?;
    let rows = usize::try_from(rows).map_err(|_| invalid!("`dense_shape` has {rows} rows"))?;
    let mut empty = Tensor::from_slice([rows.min(1)], &[true][..rows.min(1)])?.broadcast_to([rows])?;
    let flags = empty.make_mut_or_copy::<bool>()?;
    (0..all.n).for_each(|row| flags[all.index(row)[0] as usize] = false);
    let n_empty = flags.iter().filter(|e| **e).count();
    let n = all.n.saturating_add(n_empty);
    let mut order = Charged::of(0..all.n)?;
    sort(&mut order, |&a, &b| all.index(a)[0].cmp(&all.index(b)[0]))?;
    let mut next = order.iter().peekable();
    let (mut indices, mut places) =
        (Charged::with_room(n.saturating_mul(all.rank))?, Charged::of(std::iter::repeat_n(0i64, all.n))?);
    let mut values = Assembler::new(all.values.dtype(), [n])?;
    let mut written = 0;
    for (row, &is_empty) in empty.as_slice::<bool>()?.iter().enumerate() {
        if is_empty {
            indices.push(row as i64)?;
            for _ in 1..all.rank {
                indices.push(0)?;
            }
            values.push_fill(default, 1)?;
            written += 1;
        }
        while let Some(&from) = next.next_if(|from| all.index(**from)[0] == row as i64) {
            indices.extend_from_slice(all.index(from))?;
            values.push(&all.values, from, 1)?;
            places[from] = written;
            written += 1;
        }
    }
    let (indices, values) = (Tensor::from_slice([n, all.rank], &indices)?, values.finish()?);
    cx.set(0, indices);
    cx.set(1, values);
    cx.set(2, empty);
    cx.set(3, Tensor::vector(&places)?);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dvalues, places) = (cx.grad(1), cx.output(3));
    let parts = cx.op("SparseFillEmptyRowsGrad").inputs([places, dvalues]).finish();
    cx.give(1, parts.output(0));
    cx.give(3, parts.output(1));
    Ok(())
}

cases! {
    fills: "SparseFillEmptyRows(i64 [[0 1] [2 0]], [5 6], i64 [3 3], -1) = i64 [[0 1] [1 0] [2 0]], [5 -1 6], [false true false], i64 [0 2]",
    puts_in_order_of_rows: "SparseFillEmptyRows(i64 [[1 1] [0 0] [1 0]], ['b' 'a' 'c'], i64 [2 2], '') = i64 [[0 0] [1 1] [1 0]], ['a' 'b' 'c'], [false false], i64 [1 0 2]",
    no_entries: "SparseFillEmptyRows(i64[0,1] [], f32[0] [], i64[1] [2], 0.5) = i64 [[0] [1]], [0.5 0.5], [true true], i64[0] []",
    no_rows: "SparseFillEmptyRows(i64[0,2] [], f32[0] [], i64 [0 2], 0.5) = i64[0,2] [], f32[0] [], bool[0] [], i64[0] []",
    infers: "SparseFillEmptyRows(i64[4,2], f32[?], i64 [3 3], f32[]) : i64[?,2], f32[?], bool[3], i64[4]",
    one_default: "SparseFillEmptyRows(i64 [[0]], [5], i64[1] [3], [1]) ! `default_value` must be a scalar",
    inside: "SparseFillEmptyRows(i64 [[3]], [5], i64[1] [3], 1) ! row 0 of `indices` is [3]",
}
