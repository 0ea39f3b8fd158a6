//! Helpers of the ops on accumulators: opening one by name, and the declarations that they share.

use crate::shared::handles::{By, Named, handle_shape, one_handle, share};
use millstream_graph::Attr;
use millstream_graph::op::spec::{AnyShape, Number, Spec, Text, Words};
use millstream_graph::op::{BuildCx, Completion, Gradient, Kernel, KernelCx, OpDef, Outputs, Run};
use millstream_state::{Accumulator, AccumulatorSpec, Gathered};
use millstream_tensor::{PartialShape, Result, ensure};
use std::sync::Arc;

/// The names of an op on handles by reference, and on resources.
pub(super) fn both(names: [&'static str; 2], declare: impl Fn(&'static str, By) -> OpDef) -> [OpDef; 2] {
    crate::shared::handles::generations(names, declare)
}

/// Declares an op that opens an accumulator.
pub(super) fn opener(name: &'static str, by: By, make: fn(&BuildCx) -> Result<Box<dyn Run>>) -> OpDef {
    by.output(OpDef::new(name), "handle")
        .attr("dtype", Number)
        .attr("shape", AnyShape.or(Attr::from(PartialShape::unknown())))
        .attr("container", Text.or(""))
        .attr("shared_name", Text.or(""))
        .attr("reduction_type", Words(&["MEAN", "SUM"]).or("MEAN"))
        .infer(handle_shape)
        .kernel(Kernel::opens(make))
        .gradient(Gradient::none("of accumulators there is none, as in TensorFlow"))
}

/// Returns a kernel that opens the accumulator of this name, or makes it.
pub(super) fn opening(cx: &BuildCx, sparse: bool) -> Result<Box<dyn Run>> {
    let (named, attrs) = (Named::or_private(cx.node)?, &cx.node.attrs);
    let spec = AccumulatorSpec {
        dtype: attrs.dtype("dtype")?,
        shape: attrs.shape("shape")?.clone(),
        sparse,
        mean: attrs.str("reduction_type")?.text() == "MEAN",
    };
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            let found =
                resources.get_or_create(container, name, || Ok(Accumulator::new(name, spec.clone())))?;
            found.check_same(&spec)?;
            Ok(found)
        })?;
        cx.set(0, handle);
        Ok(())
    }))
}

/// Declares an op that uses an accumulator.
pub(super) fn user(name: &'static str, by: By) -> OpDef {
    by.input(OpDef::new(name), "handle")
        .infer(one_handle)
        .gradient(Gradient::none("of accumulators there is none, as in TensorFlow"))
}

/// Returns the accumulator that input 0 refers to, whose gradients must be rows or not.
pub(super) fn accumulator(cx: &KernelCx, sparse: bool) -> Result<Arc<Accumulator>> {
    let found = share::<Accumulator>(cx, 0)?;
    let what = |sparse| if sparse { "rows of tensors" } else { "whole tensors" };
    ensure!(
        found.spec().sparse == sparse,
        "{found:?} gathers {}, but {} is for {}",
        what(!sparse),
        cx.node.op.name,
        what(sparse)
    );
    Ok(found)
}

/// Waits until the accumulator holds the number of gradients that input 1 asks for, and takes their sum.
/// `give` makes the outputs of it and the number of gradients.
pub(super) fn take(
    cx: &mut KernelCx,
    completion: Completion,
    sparse: bool,
    give: fn(&AccumulatorSpec, Gathered, u32) -> Outputs,
) {
    match asked(cx, sparse) {
        Err(error) => completion.complete(Err(error)),
        Ok((accumulator, needed)) => {
            let spec = accumulator.spec().clone();
            accumulator.take(needed, &cx.env.cancel, move |result| match result {
                Err(error) => completion.complete(Err(error)),
                Ok(sum) => completion.complete_with(move || {
                    let (sum, count) = sum.used();
                    give(&spec, sum, count)
                }),
            });
        }
    }
}

/// Returns the accumulator, and the number of gradients to wait for.
fn asked(cx: &KernelCx, sparse: bool) -> Result<(Arc<Accumulator>, u32)> {
    let (accumulator, n) = (accumulator(cx, sparse)?, cx.int(1)?);
    ensure!(0 < n, "Argument num_required must be positive, but was {n}");
    let (held, wanted) = (accumulator.spec().dtype, cx.attrs().dtype("dtype")?);
    ensure!(held == wanted, "{accumulator:?} gathers {held}, not {wanted}");
    Ok((accumulator, u32::try_from(n).unwrap_or(u32::MAX)))
}
