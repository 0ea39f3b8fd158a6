//! `SparseReorder`: sorts the entries of a sparse tensor.

use super::entries::{Entries, gives, inferred, matrix};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseReorder")
        .doc(
            "Sorts the entries of a sparse tensor in row-major order. Entries with equal indices keep their \
             order.",
        )
        .input("input_indices", I64)
        .input("input_values", "T")
        .input("input_shape", I64)
        .output("output_indices", I64)
        .output("output_values", "T")
        .attr("T", AnyType)
        .infer(|cx| {
            let (n, rank) = inferred(cx, 0)?;
            gives(cx, 0, n, rank);
            Ok(())
        })
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let all = Entries::of(cx, 0)?;
    let order = all.order()?;
    let indices = matrix(all.rank, order.iter().map(|&row| all.index(row)))?;
    let values = all.values.take([all.n], &order)?;
    cx.set(0, indices);
    cx.set(1, values);
    Ok(())
}

// Each entry gets the gradient at the position that it was moved to.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dvalues, indices, shape) = (cx.grad(1), cx.input(0), cx.input(2));
    let dims = cx.shape_of_input(1);
    let n = cx.op("Reshape").input(dims).input(cx.ints(&[])).output();
    let places = cx.op("Range").input(0).input(n).input(1).output();
    let order = cx.op("SparseReorder").inputs([indices, places, shape]).finish().output(1);
    let back = cx.call("InvertPermutation", [order]);
    cx.give(1, cx.op("GatherV2").input(dvalues).input(back).input(0).output());
    Ok(())
}

cases! {
    puts_in_order: "SparseReorder(i64 [[2 0] [0 1]], ['b' 'a'], i64 [3 3]) = i64 [[0 1] [2 0]], ['a' 'b']",
    equal_ones_stay: "SparseReorder(i64 [[1] [0] [1]], [1 2 3], i64[1] [2]) = i64 [[0] [1] [1]], [2 1 3]",
    nothing: "SparseReorder(i64[0,2] [], f32[0] [], i64 [3 3]) = i64[0,2] [], f32[0] []",
    infers: "SparseReorder(i64[?,2], f32[5], i64[?]) : i64[5,2], f32[5]",
    values_fit: "SparseReorder(i64 [[0] [1]], [1], i64[1] [2]) ! `input_indices` has shape [2,1] but `input_values` has [1]: axis 0 of the first must be as long as the second",
    sizes_fit: "SparseReorder(i64 [[0]], [1], i64 [2 2]) ! axis 1 of the first must be as long as the second",
    not_negative: "SparseReorder(i64 [[-1]], [1], i64[1] [2]) ! row 0 of `input_indices` is [-1]",
}
