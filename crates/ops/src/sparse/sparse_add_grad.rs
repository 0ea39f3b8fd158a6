//! `SparseAddGrad`: the gradient of `SparseAdd`.

use super::entries::Indices;
use super::row_numbers::numbers_from_one;
use millstream_graph::op::spec::Number;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::{Assembler, Result, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseAddGrad")
        .doc(
            "Computes the gradients of the values of both operands of SparseAdd: for each entry, the \
             gradient of the sum's entry with the same index, or 0 if there is none.",
        )
        .input("backprop_val_grad", "T")
        .input("a_indices", I64)
        .input("b_indices", I64)
        .input("sum_indices", I64)
        .output("a_val_grad", "T")
        .output("b_val_grad", "T")
        .attr("T", Number)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    cx.with_rank(3, 2)?;
    let [a, b] = [cx.with_rank(1, 2)?, cx.with_rank(2, 2)?].map(|s| s.dim(0));
    cx.set(0, [a]);
    cx.set(1, [b]);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (grad, sum) = (cx.input(0), Indices::of(cx, 3)?);
    ensure!(
        grad.shape().dims() == [sum.n],
        "`backprop_val_grad` has shape {} but must have one for each of the {} rows of `sum_indices`",
        grad.shape(),
        sum.n
    );
    let [a, b] = [1, 2].map(|i| of_operand(&Indices::of(cx, i)?, &sum, grad));
    cx.set(0, a?);
    cx.set(1, b?);
    Ok(())
}

// Both lists are in order, so each search continues where the last one ended.
fn of_operand(rows: &Indices, sum: &Indices, grad: &Tensor) -> Result<Tensor> {
    let zero = Tensor::zeros(grad.dtype(), [1])?;
    let mut out = Assembler::new(grad.dtype(), [rows.n])?;
    let mut at = 0;
    for row in 0..rows.n {
        while at < sum.n && sum.row(at) < rows.row(row) {
            at += 1;
        }
        match at < sum.n && sum.row(at) == rows.row(row) {
            true => out.push(grad, at, 1)?,
            false => out.push_fill(&zero, 1)?,
        }
    }
    out.finish()
}

// Each entry of the sum went to at most one row of each operand.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dsum, a, b, sum) = (cx.input(0), cx.input(1), cx.input(2), cx.input(3));
    let from = cx.op("SparseAddGrad").inputs([numbers_from_one(cx, dsum), a, b, sum]).finish();
    let count = cx.call("Size", [dsum]);
    let (da, db) = (cx.grad(0), cx.grad(1));
    // Numbers begin at 1; the segment sum ignores negative ids.
    let back = |grad, numbers| cx.call("UnsortedSegmentSum", [grad, numbers - 1, count]);
    cx.give(0, back(da, from.output(0)) + back(db, from.output(1)));
    Ok(())
}

cases! {
    finds: "SparseAddGrad([1.0 2.0], i64 [[0] [2]], i64 [[1] [2]], i64 [[0] [2]]) = [1.0 2.0], [0.0 2.0]",
    infers: "SparseAddGrad(f32[?], i64[3,2], i64[?,2], i64[?,2]) : f32[3], f32[?]",
    one_per_row: "SparseAddGrad([1.0], i64 [[0]], i64 [[1]], i64 [[0] [1]]) ! one for each of the 2 rows",
}
