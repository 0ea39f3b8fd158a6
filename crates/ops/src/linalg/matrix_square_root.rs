//! `MatrixSquareRoot`: the principal square root of matrices.

use super::cholesky::squared;
use super::factor::{SPECTRAL_COST, TYPES};
use super::schur::{self, NAN, Schur, triangle_root};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{C128, DType, Result, unequal};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixSquareRoot")
        .doc(
            "Computes the principal square root of each innermost matrix: the matrix whose product with itself \
             is the input matrix, and whose eigenvalues have no negative real part. A real matrix with a \
             negative eigenvalue has a complex root alone: its result is NaN, as is that of a matrix that has \
             no root, or is not finite.",
        )
        .input("input", "T")
        .output("output", "T")
        .attr("T", OneOf(TYPES))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(SPECTRAL_COST))
        .gradient(Gradient::of(|cx| schur::grad(cx, "MatrixSquareRoot")))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = squared(cx, unequal)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let real = !cx.input(0).dtype().is_complex();
    let rounding = if cx.input(0).dtype() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    schur::each(cx, |matrix, n| root(matrix, n, real.then_some(rounding)))
}

/// Returns the square root. `real` is the relative rounding error of the elements of a real matrix.
fn root(matrix: &[C128], n: usize, real: Option<f64>) -> Result<Vec<C128>> {
    let schur = Schur::of(matrix, n)?;
    if let Some(rounding) = real {
        // An eigenvalue is real if no more than rounding errors make it complex.
        let size = schur.eigenvalues().fold(0.0, |size, v| v.norm().max(size));
        let least = size * rounding * 4.0 * n as f64;
        if schur.eigenvalues().any(|v| v.re < -least && v.im.abs() <= least) {
            return Ok(vec![NAN; n * n]);
        }
    }
    schur.back(&triangle_root(&schur.triangle()?, n)?)
}

cases! {
    of_a_triangle: "MatrixSquareRoot([[4.0 1.0] [0.0 9.0]]) ~ [[2.0 0.2] [0.0 3.0]]",
    of_a_rotation: "MatrixSquareRoot(f64 [[0.0 -1.0] [1.0 0.0]]) ~ f64 [[0.7071067811865476 -0.7071067811865476] [0.7071067811865476 0.7071067811865476]]",
    of_each: "MatrixSquareRoot([[[4.0]] [[9.0]]]) ~ [[[2.0]] [[3.0]]]",
    complex_root: "MatrixSquareRoot(c128 [[-1+0i 0+0i] [0+0i 4+0i]]) ~ c128 [[0+1i 0+0i] [0+0i 2+0i]]",
    without_a_real_root: "MatrixSquareRoot([[-1.0 0.0] [0.0 4.0]]) = [[nan nan] [nan nan]]",
    of_no_rows: "MatrixSquareRoot(f32[2,0,0] []) = f32[2,0,0] []",
    infers: "MatrixSquareRoot(f32[5,?,3]) : f32[5,3,3]",
    must_be_square: "MatrixSquareRoot([[1.0 2.0]]) ! must hold square matrices",
}
