//! The declarations and the kernel of the scatter ops, which merge rows of updates into rows of a variable.

use super::runs::{How, merge, row_starts};
use super::target::{VariableArgs, give_back, gives, held, update};
use millstream_graph::op::spec::{Bool, IndexType, Spec};
use millstream_graph::op::{AttrSpec, InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::{PartialShape, Result, Shape, ensure, invalid};

/// Returns the op on a resource handle and the op on a reference.
pub(crate) fn defs(
    (resource, reference): (&'static str, &'static str),
    doc: &'static str,
    types: impl Fn() -> AttrSpec,
    locking: bool,
    run: RunFn,
) -> [OpDef; 2] {
    [(resource, "resource", "dtype", false), (reference, "ref", "T", true)].map(|(name, arg, ty, by_ref)| {
        let def = OpDef::new(name)
            .doc(doc)
            .variable(by_ref, arg, ty)
            .input("indices", "Tindices")
            .input("updates", ty)
            .updated(by_ref, "output_ref", ty)
            .attr(ty, types())
            .attr("Tindices", IndexType);
        let def = if by_ref { def.attr("use_locking", Bool.or(locking)) } else { def };
        def.infer(infer).kernel(Kernel::writes(run))
    })
}

// `updates` is a scalar, or has one row of the variable for each index.
fn infer(cx: &mut InferCx) -> Result<()> {
    let variable = held(cx, 0, cx.dtype(2))?;
    ensure!(variable.rank() != Some(0), "{}: a scalar variable has no rows", cx.node().op.name);
    let (indices, updates) = (cx.input(1), cx.input(2));
    if let (Some(indices), Some([_, row @ ..])) = (indices.dims(), variable.dims())
        && updates.rank() != Some(0)
    {
        let wanted = PartialShape::new(indices.iter().chain(row).copied());
        // Updates of unknown rank may be a scalar, so they tell nothing about the shape.
        ensure!(
            updates.is_compatible(&wanted),
            "{}",
            updates.difference(&wanted);
            "`updates` has shape {updates} but must be {wanted} or a scalar: `indices` is {}, the variable {variable}",
            cx.input(1)
        );
    }
    gives(cx, variable);
    Ok(())
}

/// Merges the updates into the rows of the variable. If an index is out of range, nothing is changed.
pub(crate) fn run(cx: &mut KernelCx, how: How) -> Result<()> {
    let (indices, updates) = (cx.input(1), cx.input(2));
    update(cx, 0, |value| {
        let shape = value.shape();
        let [rows, row @ ..] = shape.dims() else { return Err(invalid!("a scalar variable has no rows")) };
        let wanted = Shape::new(indices.shape().iter().chain(row).copied());
        ensure!(
            updates.rank() == 0 || *updates.shape() == wanted,
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape {}, indices.shape {}, params.shape {shape}",
            updates.shape(),
            indices.shape();
            "`updates` has shape {} but must be {wanted} or a scalar: `indices` is {}, the variable {shape}",
            updates.shape(),
            indices.shape()
        );
        let run = Shape::from(row).elements();
        let starts = row_starts(indices, *rows, run)?;
        merge(value.in_place(), &starts, run, updates, how)
    })?;
    give_back(cx);
    Ok(())
}
