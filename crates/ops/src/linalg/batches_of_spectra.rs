//! The first names of the decompositions and of least squares, as in the file `batches.rs`.

use super::batches::{REAL, first};
use super::{matrix_solve_ls, self_adjoint_eig_v2, svd};
use millstream_graph::op::OpDef;
use millstream_tensor::DType::{C64, C128, F32, F64};

pub(crate) fn def() -> [OpDef; 3] {
    [
        first(matrix_solve_ls::def(), "BatchMatrixSolveLs", REAL)
            .doc("The first name of `MatrixSolveLs`, which takes batches of matrices, too."),
        first(self_adjoint_eig_v2::def(), "BatchSelfAdjointEigV2", REAL)
            .doc("The first name of `SelfAdjointEigV2`, which takes batches of matrices, too."),
        first(svd::def(), "BatchSvd", Some(&[F64, F32, C64, C128]))
            .doc("The first name of `Svd`, which takes batches of matrices, too."),
    ]
}

cases! {
    least_squares: "BatchMatrixSolveLs([[[2.0]] [[4.0]]], [[[2.0]] [[2.0]]], f64 0.0) = [[[1.0]] [[0.5]]]",
    eigenvalues: "BatchSelfAdjointEigV2([[[2.0]] [[-3.0]]]; compute_v=false) = [[2.0] [-3.0]], f32[0] []",
    singular_values: "BatchSvd([[[3.0 0.0] [0.0 -4.0]]]; compute_uv=false) ~ [[4.0 3.0]], f32[0] [], f32[0] []",
    infers: "BatchSelfAdjointEigV2(f32[?,3,3]) : f32[?,3], f32[?,3,3]",
    must_be_square: "BatchSelfAdjointEigV2(f32[2,3]) ! `input` must hold square matrices",
}
