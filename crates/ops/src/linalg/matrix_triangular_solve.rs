//! `MatrixTriangularSolve`: solutions of triangular systems of linear equations.

use super::factor::{COST, Entry, adjoint, each_matrix, singular, square, substitute};
use super::matrices::product_of;
use super::matrices::{at_least, solved, split};
use crate::number::no_kernel;
use millstream_graph::op::spec::{Bool, FloatOrComplex, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid, unequal, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixTriangularSolve")
        .doc(
            "Solves triangular systems of linear equations: the product of the lower (or upper) triangle of \
             each innermost matrix of `matrix`, or of the triangle's adjoint if `adjoint` is true, and the \
             output is `rhs`. Batch dimensions are broadcast.",
        )
        .input("matrix", "T")
        .input("rhs", "T")
        .output("output", "T")
        .attr("lower", Bool.or(true))
        .attr("adjoint", Bool.or(false))
        .attr("T", FloatOrComplex)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(COST))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let matrix = super::cholesky::squared(cx, unequal)?;
    let rhs = cx.input(1);
    at_least("rhs", rhs, 2)?;
    if let (Some([batch @ .., _, n]), Some([outer @ .., rows, cols])) = (matrix.dims(), rhs.dims()) {
        let of = |dims: &[_]| PartialShape::new(dims.iter().copied());
        let batch = of(batch).broadcast(&of(outer)).filter(|_| n.is_none() || rows.is_none() || n == rows);
        let batch = batch
            .ok_or_else(|| no_fit(&matrix, rhs).led_by(solved(&matrix, rhs).err().unwrap_or_default()))?;
        if let Some(batch) = batch.dims() {
            let shape = PartialShape::new(batch.iter().copied().chain([n.or(*rows), *cols]));
            cx.set(0, shape);
        }
    }
    Ok(())
}

fn no_fit(matrix: &PartialShape, rhs: &PartialShape) -> millstream_tensor::Error {
    invalid!("`matrix` has shape {matrix} but `rhs` {rhs}: rows must be equal and batches broadcast")
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (matrix, rhs) = (cx.input(0), cx.input(1));
    let (lower, turned) = (cx.attrs().bool("lower")?, cx.attrs().bool("adjoint")?);
    let (batch, n) = square("matrix", matrix.shape())?;
    let (outer, rows, m) = split("rhs", rhs.shape())?;
    let refused = || no_fit(&matrix.shape().into(), &rhs.shape().into());
    ensure!(rows == n, "{}", refused().message());
    let batch = Shape::from(batch).broadcast(&Shape::from(outer)).ok_or_else(refused)?;
    let spread = |t: &Tensor, rows: usize, cols: usize| {
        t.broadcast_to(Shape::new(batch.iter().copied().chain([rows, cols])))
    };
    let (matrix, rhs) = (spread(matrix, n, n)?, spread(rhs, n, m)?);
    let out: Result<Tensor> = with_element!(matrix.dtype(), T in wide_fields => {
        let right = rhs.as_slice::<T>()?;
        each_matrix::<T>(&matrix, n, rhs.shape().clone(), |i, matrix| {
            solve(matrix, n, lower, turned, &right[i * n * m..(i + 1) * n * m], m)
        })
    }, else => Err(no_kernel("MatrixTriangularSolve", matrix.dtype())));
    let out = out?;
    cx.set(0, out);
    Ok(())
}

fn solve<T: Entry>(matrix: &[T], n: usize, lower: bool, turned: bool, rhs: &[T], m: usize) -> Result<Vec<T>> {
    if (0..n).any(|i| matrix[i * (n + 1)].far() == 0.0) {
        return Err(singular());
    }
    let mut out = rhs.to_vec();
    match turned {
        true => {
            let matrix = adjoint(matrix, n);
            substitute(n, m, !lower, |i, j| matrix[i * n + j], &mut out)?;
        }
        false => substitute(n, m, lower, |i, j| matrix[i * n + j], &mut out)?,
    }
    Ok(out)
}

// A X = B: dB = A⁻ᴴ dX, and dA is the triangle of -dB Xᴴ. With `adjoint`, A is replaced by Aᴴ.
fn grad(cx: &mut GradCx) -> Result<()> {
    let adjoint = cx.attrs().bool("adjoint")?;
    let lower = cx.attrs().bool("lower")?;
    let (dx, a, x) = (cx.grad(0), cx.input(0), cx.output(0));
    let solve =
        cx.op("MatrixTriangularSolve").input(a).input(dx).attr("adjoint", !adjoint).attr("lower", lower);
    let db = solve.output();
    if cx.wants(0) {
        let da = if adjoint {
            product_of(cx, (x, false), (db, true))
        } else {
            product_of(cx, (db, false), (x, true))
        };
        let (below, above) = if lower { (-1i64, 0i64) } else { (0, -1) };
        let da = cx.op("MatrixBandPart").input(da).input(below).input(above).output();
        cx.give_summed(0, -da);
    }
    cx.give_summed(1, db);
    Ok(())
}

cases! {
    lower: "MatrixTriangularSolve([[2.0 9.0] [1.0 4.0]], [[2.0] [9.0]]) ~ [[1.0] [2.0]]",
    upper: "MatrixTriangularSolve([[2.0 1.0] [9.0 4.0]], [[4.0] [8.0]]; lower=false) ~ [[1.0] [2.0]]",
    of_the_adjoint: "MatrixTriangularSolve([[2.0 0.0] [1.0 4.0]], [[4.0] [8.0]]; adjoint=true) ~ [[1.0] [2.0]]",
    batches_broadcast: "MatrixTriangularSolve(f64 [[2.0]], f64 [[[2.0]] [[4.0]]]) ~ f64 [[[1.0]] [[2.0]]]",
    infers: "MatrixTriangularSolve(f32[?,1,3,3], f32[5,3,2]) : f32[?,5,3,2]",
    singular: "MatrixTriangularSolve([[0.0]], [[1.0]]) ! cannot be inverted",
    rows_agree: "MatrixTriangularSolve([[1.0]], [[1.0] [2.0]]) ! rows must be equal",
}
