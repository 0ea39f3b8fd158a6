//! Helpers of the matrix ops: shapes as batches of matrices, and products and adjoints in gradients.

use millstream_graph::Output;
use millstream_graph::op::GradCx;
use millstream_tensor::{DType, Dim, PartialShape, Result, Shape, ensure, unequal};

/// Returns a shape as a batch of matrices: the outer dimensions, the rows and the columns.
pub(super) fn split<'a>(name: &str, shape: &'a Shape) -> Result<(&'a [usize], usize, usize)> {
    match shape.dims() {
        [batch @ .., rows, cols] => Ok((batch, *rows, *cols)),
        _ => Err(
            millstream_tensor::invalid!("In[{}] ndims must be >= 2: {}", usize::from(name == "y"), shape.len(); "`{name}` must have rank 2 or more but has shape {shape}"),
        ),
    }
}

/// Returns an error unless the rank is unknown or at least `least`.
pub(super) fn at_least(name: &str, shape: &PartialShape, least: usize) -> Result<()> {
    ensure!(
        shape.rank().is_none_or(|r| least <= r),
        "{}",
        shape.below_rank(least);
        "`{name}` must have rank {least} or more but has shape {shape}"
    );
    Ok(())
}

/// Returns the batch and the number of rows that a matrix and a right-hand side share. The error is
/// TensorFlow's message.
pub(super) fn solved(matrix: &PartialShape, rhs: &PartialShape) -> Result<(PartialShape, Dim), String> {
    let split = |shape: &PartialShape| match shape.dims() {
        Some([batch @ .., rows, _]) => (PartialShape::new(batch.iter().copied()), *rows),
        _ => (PartialShape::unknown(), None),
    };
    let ((batch, m), (outer, rows)) = (split(matrix), split(rhs));
    let both = batch.merge(&outer).ok_or_else(|| batch.difference(&outer))?;
    match (m, rows) {
        (Some(m), Some(rows)) if m != rows => Err(unequal(m, rows)),
        _ => Ok((both, m.or(rows))),
    }
}

/// Returns the strides of the diagonals of a batch of `rows` by `cols` matrices: one for each batch
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

/// Returns the adjoint (conjugate transpose) of each innermost matrix.
pub(super) fn adjoint<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    let op = if x.dtype().is_ok_and(DType::is_complex) { "ConjugateTranspose" } else { "Transpose" };
    let perm = match x.shape().rank() {
        Some(rank) => {
            let rank = rank as i32;
            cx.ints(&(0..rank - 2).chain([rank - 1, rank - 2]).collect::<Vec<i32>>())
        }
        None => {
            let rank = cx.call("Rank", [x]);
            let batch = cx.op("Range").input(0).input(rank - 2).input(1).output();
            let last = cx.op("Pack").inputs([rank - 1, rank - 2]).output();
            cx.op("ConcatV2").inputs([batch, last]).input(0).output()
        }
    };
    cx.call(op, [x, perm])
}

/// Returns the products of the innermost matrices. `ax` and `ay` take the adjoint of a side first.
pub(super) fn product_of<'g>(
    cx: &GradCx<'g, '_>,
    (x, ax): (Output<'g>, bool),
    (y, ay): (Output<'g>, bool),
) -> Output<'g> {
    cx.op("BatchMatMulV2").input(x).input(y).attr("adj_x", ax).attr("adj_y", ay).output()
}

/// Appends two axes of size 1 to one number per matrix, so that it broadcasts to the matrices.
pub(super) fn per_matrix<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    (0..2).fold(x, |x, _| cx.op("ExpandDims").input(x).input(-1).output())
}
