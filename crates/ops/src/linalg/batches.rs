//! The first names of the linear algebra ops, which TensorFlow replaced when the ops without `Batch` took
//! batches of matrices, too: `BatchCholesky` is `Cholesky`.

use super::{
    cholesky, cholesky_grad, matrix_band_part, matrix_determinant, matrix_diag, matrix_diag_part,
    matrix_inverse, matrix_set_diag, matrix_solve, matrix_triangular_solve,
};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{OpDef, TypeSpec};
use millstream_tensor::DType::{self, C64, C128, F32, F64, I64};

/// The dtypes of the ops that compute.
pub(super) const REAL: Option<&[DType]> = Some(&[F64, F32]);

/// The op under its first name, for these dtypes if any are given.
pub(super) fn first(op: OpDef, name: &'static str, types: Option<&'static [DType]>) -> OpDef {
    let mut op = OpDef { name, ..op };
    for (attr, spec) in &mut op.attrs {
        if let ("T", Some(types)) = (*attr, types) {
            *spec = OneOf(types).into();
        }
    }
    op
}

/// `MatrixBandPart` with numbers of diagonals of one dtype.
fn band_part() -> OpDef {
    let mut op = matrix_band_part::def();
    op.attrs.retain(|(name, _)| *name != "Tindex");
    for input in op.inputs.iter_mut().filter(|input| input.ty == TypeSpec::Attr("Tindex")) {
        input.ty = TypeSpec::Fixed(I64);
    }
    op
}

pub(crate) fn def() -> [OpDef; 10] {
    let [determinant, _] = matrix_determinant::def();
    [
        first(cholesky::def(), "BatchCholesky", REAL)
            .doc("The first name of `Cholesky`, which takes batches of matrices, too."),
        first(cholesky_grad::def(), "BatchCholeskyGrad", REAL)
            .doc("The first name of `CholeskyGrad`, which takes batches of matrices, too."),
        first(band_part(), "BatchMatrixBandPart", None)
            .doc("The first name of `MatrixBandPart`, which takes batches of matrices, too."),
        first(determinant, "BatchMatrixDeterminant", Some(&[F32, F64, C64, C128]))
            .doc("The first name of `MatrixDeterminant`, which takes batches of matrices, too."),
        first(matrix_diag::def(), "BatchMatrixDiag", None)
            .doc("The first name of `MatrixDiag`, which takes batches of diagonals, too."),
        first(matrix_diag_part::def(), "BatchMatrixDiagPart", None)
            .doc("The first name of `MatrixDiagPart`, which takes batches of matrices, too."),
        first(matrix_inverse::def(), "BatchMatrixInverse", REAL)
            .doc("The first name of `MatrixInverse`, which takes batches of matrices, too."),
        first(matrix_set_diag::def(), "BatchMatrixSetDiag", None)
            .doc("The first name of `MatrixSetDiag`, which takes batches of matrices, too."),
        first(matrix_solve::def(), "BatchMatrixSolve", REAL)
            .doc("The first name of `MatrixSolve`, which takes batches of matrices, too."),
        first(matrix_triangular_solve::def(), "BatchMatrixTriangularSolve", REAL)
            .doc("The first name of `MatrixTriangularSolve`, which takes batches of matrices, too."),
    ]
}

cases! {
    roots: "BatchCholesky([[[4.0 0.0] [2.0 5.0]]]) ~ [[[2.0 0.0] [1.0 2.0]]]",
    gradients_of_roots: "BatchCholeskyGrad([[[2.0]] [[4.0]]], [[[1.0]] [[2.0]]]) = [[[0.25]] [[0.25]]]",
    bands: "BatchMatrixBandPart([[[1 2] [3 4]]], i64 0, i64 -1) = [[[1 2] [0 4]]]",
    determinants: "BatchMatrixDeterminant([[[2.0 1.0] [1.0 3.0]] [[1.0 0.0] [0.0 4.0]]]) ~ [5.0 4.0]",
    diagonal_ones: "BatchMatrixDiag([[1 2]]) = [[[1 0] [0 2]]]",
    diagonals: "BatchMatrixDiagPart([[[1 2] [3 4]]]) = [[1 4]]",
    inverses: "BatchMatrixInverse([[[2.0 0.0] [0.0 4.0]]]) = [[[0.5 0.0] [0.0 0.25]]]",
    with_a_diagonal: "BatchMatrixSetDiag([[[1 2] [3 4]]], [[8 9]]) = [[[8 2] [3 9]]]",
    solutions: "BatchMatrixSolve([[[2.0]]], [[[4.0 6.0]]]) = [[[2.0 3.0]]]",
    triangular_systems: "BatchMatrixTriangularSolve([[[2.0 9.0] [1.0 4.0]]], [[[2.0] [9.0]]]) ~ [[[1.0] [2.0]]]",
    infers: "BatchCholesky(f32[5,?,3]) : f32[5,3,3]",
    must_be_square: "BatchMatrixInverse([[1.0 2.0]]) ! must hold square matrices",
}
