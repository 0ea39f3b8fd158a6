//! Matrix products, diagonals and bands.

mod parts;
mod product;

ops! { batch_mat_mul, mat_mul, matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag }
