//! `MatrixLogarithm`: the principal logarithm of complex matrices.

use super::cholesky::squared;
use super::factor::SPECTRAL_COST;
use super::schur::{self, NAN, Schur, triangle_log};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{C64, C128};
use millstream_tensor::{C128 as Complex, Result, unequal};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixLogarithm")
        .doc(
            "Computes the principal logarithm of each innermost matrix: the matrix whose exponential is the \
             input matrix, and whose eigenvalues have imaginary parts between -π and π. The result of a \
             singular matrix, or of one that is not finite, is NaN.",
        )
        .input("input", "T")
        .output("output", "T")
        .attr("T", OneOf(&[C64, C128]))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(SPECTRAL_COST))
        .gradient(Gradient::of(|cx| schur::grad(cx, "MatrixLogarithm")))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = squared(cx, unequal)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    schur::each(cx, logarithm)
}

fn logarithm(matrix: &[Complex], n: usize) -> Result<Vec<Complex>> {
    let schur = Schur::of(matrix, n)?;
    let size = schur.eigenvalues().fold(0.0, |size, v| v.norm().max(size));
    if schur.eigenvalues().any(|v| v.norm() <= size * f64::EPSILON) {
        return Ok(vec![NAN; n * n]);
    }
    schur.back(&triangle_log(&schur.triangle()?, n)?)
}

cases! {
    of_a_triangle: "MatrixLogarithm(c128 [[1+0i 1+0i] [0+0i 1+0i]]) ~ c128 [[0+0i 1+0i] [0+0i 0+0i]]",
    of_a_rotation: "MatrixLogarithm(c64 [[0+0i -1+0i] [1+0i 0+0i]]) ~ c64 [[0+0i -1.5707964+0i] [1.5707964+0i 0+0i]]",
    of_a_diagonal: "MatrixLogarithm(c128 [[-1+0i 0+0i] [0+0i 2+0i]]) ~ c128 [[0+3.141592653589793i 0+0i] [0+0i 0.6931471805599453+0i]]",
    of_no_rows: "MatrixLogarithm(c64[2,0,0] []) = c64[2,0,0] []",
    infers: "MatrixLogarithm(c64[5,?,3]) : c64[5,3,3]",
    must_be_square: "MatrixLogarithm(c64 [[1+0i 2+0i]]) ! must hold square matrices",
}
