//! [`Places`]: resolved index tuples, as GatherNd, ScatterNd and similar ops take them.

use super::axes::{entry, ints, listed, product};
use millstream_graph::Attrs;
use millstream_graph::OpBuilder;
use millstream_graph::Output;
use millstream_graph::op::spec::{Spec, Words};
use millstream_graph::op::{GradCx, InferCx, OpDef};
use millstream_tensor::{Dim, PartialShape, Result, Shape, Tensor, ensure, invalid};

/// The offsets of the slices that the rows of `indices` select, and the number of elements in each.
pub(crate) struct Places {
    pub starts: Vec<usize>,
    pub run: usize,
    /// The rows whose index is out of range, if those are skipped. They have no entry in `starts`.
    pub skipped: Vec<usize>,
}

/// Adds the attribute `bad_indices_policy`: indices out of range are errors (the default) or are skipped.
pub(crate) fn policy(def: OpDef) -> OpDef {
    def.attr("bad_indices_policy", Words(&["", "DEFAULT", "ERROR", "IGNORE"]).or(""))
}

/// Returns whether the attribute of [`policy`] is to skip indices out of range.
pub(crate) fn skips(attrs: &Attrs) -> Result<bool> {
    Ok(&**attrs.str("bad_indices_policy")? == b"IGNORE")
}

/// Copies the attribute of [`policy`] from the differentiated op to `op`.
pub(crate) fn same_policy<'g>(cx: &GradCx<'g, '_>, op: OpBuilder<'g>) -> Result<OpBuilder<'g>> {
    Ok(if skips(cx.attrs())? { op.attr("bad_indices_policy", "IGNORE") } else { op })
}

/// Returns the slices of `dy` at the indices of the differentiated op.
pub(crate) fn parts<'g>(cx: &GradCx<'g, '_>, dy: Output<'g>, indices: Output<'g>) -> Result<Output<'g>> {
    Ok(same_policy(cx, cx.op("GatherNd").inputs([dy, indices]))?.output())
}

/// Returns indices and their parts with an axis in front, if a part may be a scalar, which ScatterNd does not
/// take.
pub(crate) fn as_rows<'g>(cx: &GradCx<'g, '_>, indices: Output<'g>, parts: Output<'g>) -> [Output<'g>; 2] {
    match cx.output_shape(0).rank() {
        None | Some(0) => [indices, parts].map(|x| cx.op("ExpandDims").input(x).input(0).output()),
        Some(_) => [indices, parts],
    }
}

impl Places {
    /// Resolves indices into a tensor of shape `target`. A row of the last axis of `indices` indexes as many
    /// leading axes as it has entries. If it has none, `rows`, the number of rows, must be bounded by the
    /// size of an existing tensor.
    pub(crate) fn new(indices: &Tensor, target: &Shape, rows: usize, skip: bool) -> Result<Places> {
        Places::find(indices, target, rows, skip, false)
    }

    /// As [`Places::new`], for ops that gather: the error message differs.
    pub(crate) fn taken(indices: &Tensor, target: &Shape, skip: bool) -> Result<Places> {
        Places::find(indices, target, 0, skip, true)
    }

    fn find(indices: &Tensor, target: &Shape, rows: usize, skip: bool, gathers: bool) -> Result<Places> {
        let depth = depth(indices, target)?;
        let steps = target.strides();
        let run = product(&target[depth..]);
        if depth == 0 {
            return Ok(Places { starts: vec![0; rows], run, skipped: Vec::new() });
        }
        let flat = ints(indices)?;
        let mut places = Places { starts: Vec::with_capacity(flat.len() / depth), run, skipped: Vec::new() };
        for (row, index) in flat.chunks_exact(depth).enumerate() {
            let at = index.iter().enumerate().try_fold(0, |at, (a, &v)| {
                usize::try_from(v).ok().filter(|p| *p < target[a]).map(|p| at + p * steps[a])
            });
            match at {
                Some(at) => places.starts.push(at),
                None if skip => places.skipped.push(row),
                None => {
                    let rows = &indices.shape()[..indices.rank() - 1];
                    return Err(invalid!(
                        "{} = [{}] does not index into {}shape {target}",
                        entry("indices", rows, row),
                        listed(index, ", "),
                        if gathers { "param " } else { "" };
                        "row {row} of `indices` is {index:?}, which does not index into shape {target}"
                    ));
                }
            }
        }
        Ok(places)
    }
}

/// Returns the number of axes that one row of `indices` indexes.
pub(crate) fn depth(indices: &Tensor, target: &Shape) -> Result<usize> {
    let depth = indices.shape().last().copied();
    match depth {
        None => Err(invalid!(
            "Indices shape must have rank at least one. Found:[]"; "`indices` must have at least rank 1: its last axis holds the indices"
        )),
        Some(d) if d > target.rank() => Err(too_deep(d, &target.into())),
        Some(d) => Ok(d),
    }
}

fn too_deep(depth: usize, target: &PartialShape) -> millstream_tensor::Error {
    invalid!(
        "index innermost dimension length must be <= params rank; saw: {depth} vs. {}",
        target.rank().unwrap_or(0);
        "the last axis of `indices` has size {depth}, but shape {target} has fewer axes to index"
    )
}

impl Places {
    /// Returns the updates of the rows that were not skipped.
    pub(crate) fn kept(&self, updates: &Tensor) -> Result<Tensor> {
        if self.skipped.is_empty() {
            return Ok(updates.clone());
        }
        let rows = self.starts.len() + self.skipped.len();
        let from: Vec<usize> = (0..rows)
            .filter(|row| self.skipped.binary_search(row).is_err())
            .map(|row| row * self.run)
            .collect();
        updates.take_runs([from.len(), self.run], self.run, &from)
    }
}

/// Checks that the shape of `updates` is that of `indices` without its last axis, followed by the axes of the
/// target that are not indexed. Returns the number of rows.
pub(crate) fn updates_fit(indices: &Tensor, updates: &Tensor, target: &Shape) -> Result<usize> {
    let depth = depth(indices, target).map_err(|e| match indices.rank() {
        0 => e,
        _ => e.led_by(inner(target, updates.shape())),
    })?;
    ensure!(
        updates.rank() > 0,
        "Updates shape must have rank at least one. Found:[]";
        "`updates` is a scalar; it must have an entry for each row of `indices`"
    );
    let rows = &indices.shape()[..indices.rank() - 1];
    let wanted = Shape::new(rows.iter().chain(&target[depth..]).copied());
    ensure!(
        *updates.shape() == wanted,
        "{}",
        unlike(indices.shape(), updates.shape(), target, rows);
        "`updates` has shape {} but must have {wanted}: a part for each row of `indices` {} in shape {target}",
        updates.shape(),
        indices.shape()
    );
    Ok(product(rows))
}

/// Returns TensorFlow's message for updates whose shape does not fit in a run.
fn unlike(indices: &Shape, updates: &Shape, target: &Shape, rows: &[usize]) -> String {
    match updates.starts_with(rows) {
        false => format!(
            "Outer dimensions of indices and update must match. Indices shape: {indices}, updates shape:{updates}"
        ),
        true => inner(target, updates),
    }
}

fn inner(target: &Shape, updates: &Shape) -> String {
    format!(
        "Inner dimensions of output shape must match inner dimensions of updates shape. Output: {target} updates: {updates}"
    )
}

/// Returns TensorFlow's message for updates whose shape does not fit while a graph is built.
fn may_not_fit(
    what: &str,
    indices: &PartialShape,
    updates: &PartialShape,
    rows: &[Dim],
    target: &PartialShape,
    depth: usize,
) -> String {
    let part = |dims: &[Dim]| PartialShape::new(dims.iter().copied());
    let n = rows.len();
    let (front, back) = updates.dims().and_then(|d| d.split_at_checked(n)).unwrap_or((&[], &[]));
    let left = target.rank().unwrap_or(0) as i64 - depth as i64;
    let inner = target.dims().and_then(|d| d.get(depth..)).unwrap_or(&[]);
    let (rows, front, inner, back) = (part(rows), part(front), part(inner), part(back));
    match rows.merge(&front) {
        None => format!(
            "The outer {n} dimensions of indices.shape={indices} must match the outer {n} dimensions of updates.shape={updates}: {}",
            rows.difference(&front)
        ),
        Some(_) => format!(
            "The inner {left} dimensions of {what}.shape={target} must match the inner {} dimensions of updates.shape={updates}: {}",
            back.rank().unwrap_or(0),
            inner.difference(&back)
        ),
    }
}

/// Returns TensorFlow's message for updates that fit neither indices nor target while a graph is built.
pub(crate) fn updates_unlike(
    indices: &PartialShape,
    updates: &PartialShape,
    target: &PartialShape,
) -> String {
    match (indices.dims(), target.dims()) {
        (Some([rows @ .., Some(depth)]), Some(_)) => {
            may_not_fit("input", indices, updates, rows, target, *depth)
        }
        _ => "Shapes must be equal".to_owned(),
    }
}

/// As [`updates_fit`], for the known parts of the shapes. `what` is TensorFlow's word for the target.
pub(crate) fn updates_may_fit(
    cx: &InferCx,
    what: &str,
    indices: usize,
    updates: usize,
    target: &PartialShape,
) -> Result<()> {
    for i in [indices, updates] {
        cx.at_least_rank(i, 1)?;
    }
    let (Some(index), Some(target_dims)) = (cx.input(indices).dims(), target.dims()) else { return Ok(()) };
    let Some((&depth, rows)) = index.split_last() else {
        return Err(invalid!(
            "{}", cx.input(indices).below_rank(1);
            "`indices` must have at least rank 1: its last axis holds the indices"
        ));
    };
    let Some(depth) = depth else { return Ok(()) };
    let words = || may_not_fit(what, cx.input(indices), cx.input(updates), rows, target, depth);
    if target_dims.len() < depth {
        let fits = cx.input(updates).dims().is_none_or(|d| d.len() == rows.len());
        // TensorFlow leaves updates that have just the rows to the run.
        return if fits { Ok(()) } else { Err(too_deep(depth, target).led_by(words())) };
    }
    let wanted = super::axes::joined(&[rows, &target_dims[depth..]]);
    ensure!(
        wanted.is_compatible(cx.input(updates)),
        "{}", words();
        "`updates` has shape {} but must have {wanted}: a part for each row of `indices` {} in shape {target}",
        cx.input(updates),
        cx.input(indices)
    );
    Ok(())
}
