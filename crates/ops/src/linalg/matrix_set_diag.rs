//! `MatrixSetDiag`: matrices with their main diagonals replaced.

use super::matrices::{at_least, diagonal_strides, split};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Shape, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixSetDiag")
        .doc(
            "Replaces the main diagonal of each innermost matrix of `input` by the innermost rows of \
             `diagonal`.",
        )
        .input("input", "T")
        .input("diagonal", "T")
        .output("output", "T")
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (input, diagonal) = (cx.input(0), cx.input(1));
    at_least("input", input, 2)?;
    at_least("diagonal", diagonal, 1)?;
    if let Some([batch @ .., rows, cols]) = input.dims() {
        let n = rows.zip(*cols).map(|(r, c)| r.min(c));
        let wanted = PartialShape::new(batch.iter().copied().chain([n]));
        let merged = wanted.merge(diagonal).ok_or_else(|| {
            invalid!("`diagonal` has shape {diagonal} but the diagonals of `input` have shape {wanted}")
                .led_by(unequal_diagonal(&wanted, diagonal))
        })?;
        let merged = merged.dims().unwrap_or(&[]);
        let batch = merged.iter().take(batch.len()).copied();
        let shape = PartialShape::new(batch.chain([*rows, *cols]));
        cx.set(0, shape);
    } else if let Some([batch @ .., _]) = diagonal.dims() {
        let shape = PartialShape::new(batch.iter().copied().chain([None, None]));
        cx.set(0, shape);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let diagonal = cx.take(1);
    let mut out = cx.take(0);
    let shape = out.shape().clone();
    let (batch, rows, cols) = split("input", &shape)?;
    let wanted = Shape::new(batch.iter().copied().chain([rows.min(cols)]));
    ensure!(
        *diagonal.shape() == wanted,
        "`diagonal` has shape {} but the diagonals of `input` have shape {wanted}",
        diagonal.shape()
    );
    out.assign_strided(0, &diagonal_strides(batch, rows, cols), wanted, &diagonal)?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    if cx.wants(0) {
        let zeros = cx.zeros_like_input(1);
        cx.give(0, cx.call("MatrixSetDiag", [dy, zeros]));
    }
    if cx.wants(1) {
        cx.give(1, cx.call("MatrixDiagPart", [dy]));
    }
    Ok(())
}

/// Returns TensorFlow's message for a diagonal of the wrong shape, which compares the last dimension first.
fn unequal_diagonal(wanted: &PartialShape, diagonal: &PartialShape) -> String {
    if let Some(rank) = wanted.rank().filter(|rank| diagonal.rank().is_some_and(|own| own != *rank)) {
        return diagonal.not_of_rank(rank);
    }
    match (wanted.dims().and_then(|d| d.last().copied()), diagonal.dims().and_then(|d| d.last().copied())) {
        (Some(Some(a)), Some(Some(b))) if a != b => millstream_tensor::unequal(a, b),
        _ => wanted.difference(diagonal),
    }
}

cases! {
    replaces: "MatrixSetDiag([[1 2 3] [4 5 6]], [7 8]) = [[7 2 3] [4 8 6]]",
    of_each_matrix: "MatrixSetDiag([[[1 2] [3 4]] [[5 6] [7 8]]], [[0 0] [9 9]]) = [[[0 2] [3 0]] [[9 6] [7 9]]]",
    keeps_unknowns: "MatrixSetDiag(f32[?,3,5], f32[2,?]) : f32[2,3,5]",
    infers_from_the_diagonal: "MatrixSetDiag(f32[..], f32[3]) : f32[?,?]",
    needs_a_matrix: "MatrixSetDiag([1], [1]) ! `input` must have rank 2 or more",
    diagonal_fits: "MatrixSetDiag([[1 2] [3 4]], [1]) ! the diagonals of `input` have shape [2]",
}
