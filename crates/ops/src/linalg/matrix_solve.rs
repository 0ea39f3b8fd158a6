//! `MatrixSolve`: solutions of systems of linear equations.

use super::factor::{COST, Lu, TYPES, adjoint, each_matrix, square};
use super::matrices::product_of;
use super::matrices::{at_least, solved, split};
use crate::number::no_kernel;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid, unequal, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixSolve")
        .doc(
            "Solves systems of linear equations: the product of each innermost matrix of `matrix` (or of \
             its adjoint, if `adjoint` is true) and the output is `rhs`.",
        )
        .input("matrix", "T")
        .input("rhs", "T")
        .output("output", "T")
        .attr("adjoint", Bool.or(false))
        .attr("T", OneOf(TYPES))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(COST))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let matrix = super::cholesky::squared(cx, unequal)?;
    let rhs = cx.input(1);
    at_least("rhs", rhs, 2)?;
    let (batch, n) = solved(&matrix, rhs).map_err(|words| no_fit(&matrix, rhs).led_by(words))?;
    if let Some(batch) = batch.dims() {
        let cols = rhs.dims().and_then(|d| *d.last()?);
        cx.set(0, PartialShape::new(batch.iter().copied().chain([n, cols])));
    }
    Ok(())
}

fn no_fit(matrix: &PartialShape, rhs: &PartialShape) -> millstream_tensor::Error {
    invalid!("`matrix` has shape {matrix} but `rhs` {rhs}: batches and rows must be equal")
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (matrix, rhs, turned) = (cx.input(0), cx.input(1), cx.attrs().bool("adjoint")?);
    let (batch, n) = square("matrix", matrix.shape())?;
    let (outer, rows, m) = split("rhs", rhs.shape())?;
    ensure!(batch == outer && rows == n, "{}", no_fit(&matrix.shape().into(), &rhs.shape().into()).message());
    let out: Result<Tensor> = with_element!(matrix.dtype(), T in wide_fields => {
        let right = rhs.as_slice::<T>()?;
        each_matrix::<T>(matrix, n, rhs.shape().clone(), |i, matrix| {
            let lu = if turned { Lu::new(&adjoint(matrix, n), n)? } else { Lu::new(matrix, n)? };
            lu.solve(&right[i * n * m..(i + 1) * n * m], m)
        })
    }, else => Err(no_kernel("MatrixSolve", matrix.dtype())));
    let out = out?;
    cx.set(0, out);
    Ok(())
}

// A X = B: dB = A⁻ᴴ dX, dA = -dB Xᴴ. With `adjoint`, A is replaced by Aᴴ.
fn grad(cx: &mut GradCx) -> Result<()> {
    let adjoint = cx.attrs().bool("adjoint")?;
    let (dx, a, x) = (cx.grad(0), cx.input(0), cx.output(0));
    let solve = cx.op("MatrixSolve").input(a).input(dx).attr("adjoint", !adjoint);
    let db = solve.output();
    if cx.wants(0) {
        let da = if adjoint {
            product_of(cx, (x, false), (db, true))
        } else {
            product_of(cx, (db, false), (x, true))
        };
        cx.give(0, -da);
    }
    cx.give(1, db);
    Ok(())
}

cases! {
    solves: "MatrixSolve([[1.0 2.0] [3.0 4.0]], [[5.0] [11.0]]) ~ [[1.0] [2.0]]",
    solves_each: "MatrixSolve(f64 [[[2.0]] [[4.0]]], f64 [[[1.0 3.0]] [[1.0 2.0]]]) ~ f64 [[[0.5 1.5]] [[0.25 0.5]]]",
    of_the_adjoint: "MatrixSolve([[1.0 2.0] [0.0 1.0]], [[1.0] [4.0]]; adjoint=true) ~ [[1.0] [2.0]]",
    nothing: "MatrixSolve(f32[2,2] [[1.0 0.0] [0.0 1.0]], f32[2,0] []) = f32[2,0] []",
    infers: "MatrixSolve(f32[?,3,3], f32[5,?,2]) : f32[5,3,2]",
    infers_from_one: "MatrixSolve(f32[3,3], f32[..]) : f32[3,?]",
    singular: "MatrixSolve([[1.0 2.0] [2.0 4.0]], [[1.0] [1.0]]) ! cannot be inverted",
    rows_agree: "MatrixSolve([[1.0]], [[1.0] [2.0]]) ! batches and rows must be equal",
}
