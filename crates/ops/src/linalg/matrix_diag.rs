//! `MatrixDiag`: diagonal matrices.

use super::matrices::{at_least, diagonal_strides};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixDiag")
        .doc(
            "Returns a square matrix for each innermost row of `diagonal`, with the row on its diagonal and \
             zeros elsewhere.",
        )
        .input("diagonal", "T")
        .output("output", "T")
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    at_least("diagonal", cx.input(0), 1)?;
    if let Some(dims @ [.., last]) = cx.input(0).dims() {
        let shape = PartialShape::new(dims.iter().chain([last]).copied());
        cx.set(0, shape);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let diagonal = cx.input(0);
    let [batch @ .., n] = diagonal.shape().dims() else {
        return Err(invalid!("`diagonal` must have rank 1 or more but is a scalar"));
    };
    let mut shape = diagonal.shape().clone();
    shape.push(*n);
    let mut out = Tensor::zeros(diagonal.dtype(), shape)?;
    out.assign_strided(0, &diagonal_strides(batch, *n, *n), diagonal.shape().clone(), diagonal)?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    cx.give(0, cx.call("MatrixDiagPart", [dy]));
    Ok(())
}

cases! {
    puts_a_diagonal: "MatrixDiag([1 2]) = [[1 0] [0 2]]",
    of_each_row: "MatrixDiag([[1 2] [3 4]]) = [[[1 0] [0 2]] [[3 0] [0 4]]]",
    keeps_unknowns: "MatrixDiag(f32[?,3]) : f32[?,3,3]",
    needs_a_vector: "MatrixDiag(1) ! `diagonal` must have rank 1 or more",
}
