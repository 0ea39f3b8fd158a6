//! Boxes in images: top, left, bottom and right, as parts of the height and the width.

use millstream_graph::op::InferCx;
use millstream_tensor::{Dim, Result, ensure, invalid, unequal};

/// Checks that the last axis of input `i`, of this rank, may hold the four sides of boxes.
pub(super) fn infer_boxes(cx: &InferCx, i: usize, rank: usize) -> Result<()> {
    let shape = cx.with_rank(i, rank)?;
    if let Some(n) = shape.dim(rank - 1) {
        ensure!(n == 4, "Dimension must be 4 but is {n}"; "`{}` holds boxes of four sides, but has shape {shape}", cx.name_of(i));
    }
    Ok(())
}

/// The number of boxes that inputs `i` and `j` are about.
pub(super) fn infer_count(cx: &InferCx, i: usize, j: usize) -> Result<Dim> {
    match (cx.input(i).dim(0), cx.input(j).dim(0)) {
        (Some(a), Some(b)) if a != b => Err(invalid!(
            "{}", unequal(a, b); "`{}` has {a} entries but `{}` has {b}", cx.name_of(i), cx.name_of(j)
        )),
        (a, b) => Ok(a.or(b)),
    }
}
