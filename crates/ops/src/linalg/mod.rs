//! Linear algebra: matrix products, diagonals and bands, factorisations, solutions of linear systems,
//! inverses and determinants.

mod band;
mod factor;
mod matrices;
pub(crate) mod product;
#[cfg(feature = "spectra")]
mod spectra;

ops! {
    batch_mat_mul,
    cholesky,
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
    matrix_set_diag,
    matrix_set_diag_v3,
    matrix_solve,
    matrix_triangular_solve,
    qr,
    #[cfg(feature = "spectra")]
    self_adjoint_eig_v2,
    #[cfg(feature = "spectra")]
    svd,
}
