//! `MatrixDiagPart`: the diagonals of matrices.

use super::matrices::{at_least, diagonal_strides, split};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Shape};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixDiagPart")
        .doc(
            "Returns the main diagonal of each innermost matrix of `input`. It has the length of the \
             shorter side.",
        )
        .input("input", "T")
        .output("diagonal", "T")
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    at_least("input", cx.input(0), 2)?;
    if let Some([batch @ .., rows, cols]) = cx.input(0).dims() {
        let n = match (rows, cols) {
            (Some(r), Some(c)) => Some(*r.min(c)),
            (Some(0), _) | (_, Some(0)) => Some(0),
            _ => None,
        };
        let shape = PartialShape::new(batch.iter().copied().chain([n]));
        cx.set(0, shape);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    let (batch, rows, cols) = split("input", input.shape())?;
    let shape = Shape::new(batch.iter().copied().chain([rows.min(cols)]));
    let out = input.strided(shape, 0, &diagonal_strides(batch, rows, cols))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let square = match cx.input_shape(0).dims() {
        Some([.., Some(rows), Some(cols)]) => rows == cols,
        _ => false,
    };
    if square {
        cx.give(0, cx.call("MatrixDiag", [dy]));
    } else {
        let zeros = cx.zeros_like_input(0);
        cx.give(0, cx.call("MatrixSetDiag", [zeros, dy]));
    }
    Ok(())
}

cases! {
    takes_the_diagonal: "MatrixDiagPart([[1 2 3] [4 5 6]]) = [1 5]",
    of_each_matrix: "MatrixDiagPart([[[1 2] [3 4]] [[5 6] [7 8]]]) = [[1 4] [5 8]]",
    keeps_unknowns: "MatrixDiagPart(f32[?,3,5]) : f32[?,3]",
    needs_a_matrix: "MatrixDiagPart([1]) ! `input` must have rank 2 or more",
}
