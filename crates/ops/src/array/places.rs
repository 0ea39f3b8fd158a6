//! [`Places`]: rows of indices that name parts of a tensor, as GatherNd, ScatterNd and their kin take them.

use super::axes::{ints, product};
use millstream_graph::op::InferCx;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid};

/// Where the parts that the rows of `indices` name begin, and how many elements each has.
pub(super) struct Places {
    pub starts: Vec<usize>,
    pub run: usize,
}

impl Places {
    /// The parts of a tensor of shape `target`. The last axis of `indices` is an index of as many leading axes as it is long;
    /// it is at least 1 long, or `rows`, the number of rows, is bounded by something that exists.
    pub(super) fn new(indices: &Tensor, target: &Shape, rows: usize) -> Result<Places> {
        let depth = depth(indices, target)?;
        let steps = target.strides();
        let run = product(&target[depth..]);
        if depth == 0 {
            return Ok(Places { starts: vec![0; rows], run });
        }
        let flat = ints(indices)?;
        let starts = flat.chunks_exact(depth).enumerate().map(|(row, index)| {
            index.iter().enumerate().try_fold(0, |at, (a, &v)| match usize::try_from(v) {
                Ok(p) if p < target[a] => Ok(at + p * steps[a]),
                _ => Err(invalid!(
                    "row {row} of `indices` is {index:?}, which does not index into shape {target}"
                )),
            })
        });
        Ok(Places { starts: starts.collect::<Result<_>>()?, run })
    }
}

/// How many axes one row of `indices` indexes.
pub(super) fn depth(indices: &Tensor, target: &Shape) -> Result<usize> {
    let depth = indices.shape().last().copied();
    match depth {
        None => Err(invalid!("`indices` must have at least rank 1: its last axis holds the indices")),
        Some(d) if d > target.rank() => Err(too_deep(d, &target.into())),
        Some(d) => Ok(d),
    }
}

fn too_deep(depth: usize, target: &PartialShape) -> millstream_tensor::Error {
    invalid!("the last axis of `indices` has size {depth}, but shape {target} has fewer axes to index")
}

/// Checks that `updates` has a part for each row: the shape of `indices` without its last axis, then the rest of the target.
/// Gives the number of rows.
pub(super) fn updates_fit(indices: &Tensor, updates: &Tensor, target: &Shape) -> Result<usize> {
    let depth = depth(indices, target)?;
    let rows = &indices.shape()[..indices.rank() - 1];
    let wanted = Shape::new(rows.iter().chain(&target[depth..]).copied());
    ensure!(
        *updates.shape() == wanted,
        "`updates` has shape {} but must have {wanted}: a part for each row of `indices` {} in shape {target}",
        updates.shape(),
        indices.shape()
    );
    Ok(product(rows))
}

/// As [`updates_fit`], as far as the shapes are known.
pub(super) fn updates_may_fit(
    cx: &InferCx,
    indices: usize,
    updates: usize,
    target: &PartialShape,
) -> Result<()> {
    let (Some(index), Some(target_dims)) = (cx.input(indices).dims(), target.dims()) else { return Ok(()) };
    let Some((&depth, rows)) = index.split_last() else {
        return Err(invalid!("`indices` must have at least rank 1: its last axis holds the indices"));
    };
    let Some(depth) = depth else { return Ok(()) };
    ensure!(depth <= target_dims.len(), "{}", too_deep(depth, target).message());
    let wanted = super::axes::joined(&[rows, &target_dims[depth..]]);
    ensure!(
        wanted.is_compatible(cx.input(updates)),
        "`updates` has shape {} but must have {wanted}: a part for each row of `indices` {} in shape {target}",
        cx.input(updates),
        cx.input(indices)
    );
    Ok(())
}
