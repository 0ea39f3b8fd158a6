//! Linear algebra: matrix products, diagonals and bands, factorisations, solutions of linear systems,
//! inverses, determinants, and functions of matrices.

mod band;
mod factor;
mod matrices;
pub(crate) mod product;
mod schur;
#[cfg(feature = "spectra")]
mod spectra;
mod tridiagonal;

pub(crate) use mat_mul::multiply as product_of;

ops! {
    batch_mat_mul,
    batches,
    #[cfg(feature = "spectra")]
    batches_of_spectra,
    cholesky,
    cholesky_grad,
    einsum,
    lu,
    mat_mul,
    matrix_band_part,
    matrix_determinant,
    matrix_diag,
    matrix_diag_part,
    matrix_diag_part_v3,
    matrix_diag_v3,
    matrix_inverse,
    matrix_logarithm,
    matrix_set_diag,
    matrix_set_diag_v3,
    matrix_solve,
    #[cfg(feature = "spectra")]
    matrix_solve_ls,
    matrix_square_root,
    matrix_triangular_solve,
    qr,
    #[cfg(feature = "spectra")]
    self_adjoint_eig,
    #[cfg(feature = "spectra")]
    self_adjoint_eig_v2,
    sparse_mat_mul,
    #[cfg(feature = "spectra")]
    svd,
    tridiagonal_mat_mul,
    tridiagonal_solve,
}
