//! The declarations and the kernel of the scatter ops with index tuples: each row of `indices` selects a
//! slice of a variable.

use super::runs::{How, Starts, merge};
use super::target::{VariableArgs, give_back, gives, held, update};
use crate::shared::axes::{entry, listed};
use millstream_graph::op::spec::{Bool, IndexType, Spec, Words};
use millstream_graph::op::{AttrSpec, InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::{DType, PartialShape, Result, Shape, Tensor, ensure, invalid};

/// Returns the op on a resource handle and the op on a reference.
pub(crate) fn defs(
    (resource, reference): (&'static str, &'static str),
    doc: &'static str,
    types: impl Fn() -> AttrSpec,
    locking: bool,
    run: RunFn,
) -> [OpDef; 2] {
    [(resource, false), (reference, true)].map(|(name, by_ref)| {
        OpDef::new(name)
            .doc(doc)
            .variable(by_ref, "ref", "T")
            .input("indices", "Tindices")
            .input("updates", "T")
            .updated(by_ref, "output_ref", "T")
            .attr("T", types())
            .attr("Tindices", IndexType)
            .attr("use_locking", Bool.or(!by_ref || locking))
            .attr("bad_indices_policy", Words(&["", "DEFAULT", "ERROR", "IGNORE"]).or(""))
            .infer(infer)
            .kernel(Kernel::writes(run))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let variable = held(cx, 0, cx.dtype(2))?;
    if let Some(wanted) = slices(&variable, cx.input(1))? {
        ensure!(
            wanted.is_compatible(cx.input(2)),
            "{}",
            crate::shared::places::updates_unlike(cx.input(1), cx.input(2), &variable);
            "`updates` has shape {} but must be {wanted}: `indices` is {}, the variable {variable}",
            cx.input(2),
            cx.input(1)
        );
    }
    gives(cx, variable);
    Ok(())
}

/// Returns the shape of the slices that `indices` selects, as far as it is known.
pub(crate) fn slices(variable: &PartialShape, indices: &PartialShape) -> Result<Option<PartialShape>> {
    ensure!(indices.rank() != Some(0), "Shape must be at least rank 1 but is rank 0"; "`indices` is a scalar; it needs at least one axis");
    let (Some(dims), Some([outer @ .., Some(depth)])) = (variable.dims(), indices.dims()) else {
        return Ok(None);
    };
    let slice = dims.get(*depth..).ok_or_else(|| too_deep(*depth, dims.len()))?;
    Ok(Some(PartialShape::new(outer.iter().chain(slice).copied())))
}

fn too_deep(depth: usize, rank: usize) -> millstream_tensor::Error {
    invalid!("the last axis of `indices` has {depth} entries but the variable has only {rank} axes")
}

/// The slices that indices select: their offsets, the length of each, and their joint shape.
pub(crate) struct Slices {
    /// The offset of each slice, or `None` if its index is out of range and such indices are skipped.
    pub starts: smallvec::SmallVec<[Option<usize>; 8]>,
    pub run: usize,
    pub shape: Shape,
}

/// Returns the slices that `indices` selects in a tensor of this shape. Indices out of range are errors
/// unless `skip` is true.
pub(crate) fn find(shape: &Shape, indices: &Tensor, skip: bool) -> Result<Slices> {
    let [outer @ .., depth] = indices.shape().dims() else {
        return Err(invalid!("`indices` is a scalar; it needs at least one axis"));
    };
    let slice = shape.get(*depth..).ok_or_else(|| too_deep(*depth, shape.rank()))?;
    let strides = shape.strides();
    let count = Shape::from(outer).checked_elements()?;
    let wide;
    let all: &[i64] = match indices.dtype() {
        DType::I32 => {
            wide = indices.as_slice::<i32>()?.iter().map(|&v| v.into()).collect::<Vec<i64>>();
            &wide
        }
        _ => indices.as_slice::<i64>()?,
    };
    let start = |i: usize| {
        let index = all.get(i * depth..(i + 1) * depth)?;
        let axes = index.iter().zip(shape.iter().zip(&strides));
        axes.map(|(&at, (&dim, &stride))| {
            usize::try_from(at).ok().filter(|at| *at < dim).map(|at| at.saturating_mul(stride))
        })
        .sum::<Option<usize>>()
    };
    let mut starts = smallvec::SmallVec::new();
    for i in 0..count {
        let start = start(i);
        ensure!(
            start.is_some() || skip,
            "{} = [{}] does not index into shape {shape}",
            entry("indices", outer, i),
            listed(all.get(i * depth..(i + 1) * depth).unwrap_or_default(), ", ");
            "`indices`[{i}] is {:?}, which is outside of shape {shape}",
            all.get(i * depth..(i + 1) * depth).unwrap_or_default()
        );
        starts.push(start);
    }
    let run = Shape::from(slice).elements();
    Ok(Slices { starts, run, shape: Shape::new(outer.iter().chain(slice).copied()) })
}

/// TensorFlow's words for updates that do not fit their indices.
fn misfit(indices: &Tensor, updates: &Tensor, value: &Tensor) -> String {
    let (i, u) = (indices.shape(), updates.shape());
    if i.first() != u.first() {
        return format!(
            "The outermost dimension of updates and indices must match. Got indices.shape {i}, updates.shape {u}"
        );
    }
    let axes = if i.rank() > 1 { (i[i.rank() - 1], i.rank() - 1) } else { (1, 1) };
    format!(
        "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got updates.shape: {u}, \
         indices.shape: {i}, params_shape: {}, slice_dim: {}, and batch_dim: {}",
        value.shape(),
        axes.0,
        axes.1
    )
}

/// Merges the updates into the slices of the variable. If an index is out of range and not skipped, nothing
/// is changed.
pub(crate) fn run(cx: &mut KernelCx, how: How) -> Result<()> {
    let (indices, updates) = (cx.input(1), cx.input(2));
    let skip = &**cx.attrs().str("bad_indices_policy")? == b"IGNORE";
    ensure!(
        indices.shape().last() != Some(&0),
        "the last axis of `indices` is empty; it needs at least one entry"
    );
    update(cx, 0, |value| {
        let Slices { starts, run, shape } = find(value.shape(), indices, skip)?;
        ensure!(
            *updates.shape() == shape,
            "{}",
            misfit(indices, updates, value);
            "`updates` has shape {} but must be {shape}: `indices` is {}, the variable {}",
            updates.shape(),
            indices.shape(),
            value.shape()
        );
        // `merge` would apply a scalar to all slices. Here a scalar can only be the single update of one
        // element.
        let updates = updates.reshape([updates.elements()])?;
        let good: Starts = starts.iter().filter_map(|s| *s).collect();
        if good.len() == starts.len() {
            return merge(value.in_place(), &good, run, &updates, how);
        }
        let from: Starts = (0..starts.len()).filter(|i| starts[*i].is_some()).map(|i| i * run).collect();
        let updates = updates.take_runs([good.len() * run], run, &from)?;
        merge(value.in_place(), &good, run, &updates, how)
    })?;
    give_back(cx);
    Ok(())
}
