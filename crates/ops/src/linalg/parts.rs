//! What the matrix ops share: a shape seen as a batch of matrices.

use millstream_tensor::{PartialShape, Result, Shape, ensure};

/// A shape as a batch of matrices: the outer dimensions, rows, columns.
pub(super) fn split<'a>(name: &str, shape: &'a Shape) -> Result<(&'a [usize], usize, usize)> {
    match shape.dims() {
        [batch @ .., rows, cols] => Ok((batch, *rows, *cols)),
        _ => Err(millstream_tensor::invalid!("`{name}` must have rank 2 or more but has shape {shape}")),
    }
}

/// An error unless the rank is unknown or at least `least`.
pub(super) fn at_least(name: &str, shape: &PartialShape, least: usize) -> Result<()> {
    ensure!(
        shape.rank().is_none_or(|r| least <= r),
        "`{name}` must have rank {least} or more but has shape {shape}"
    );
    Ok(())
}

/// Strides of the diagonals of a batch of `rows` by `cols` matrices whose outer dimensions have these: one per batch
/// dimension, then the step along the diagonal.
pub(super) fn diagonal_strides(batch: &[usize], rows: usize, cols: usize) -> Vec<isize> {
    let mut strides = vec![0isize; batch.len()];
    let mut step = rows.saturating_mul(cols);
    for (stride, &dim) in strides.iter_mut().zip(batch).rev() {
        *stride = step as isize;
        step = step.saturating_mul(dim);
    }
    strides.push(cols as isize + 1);
    strides
}
