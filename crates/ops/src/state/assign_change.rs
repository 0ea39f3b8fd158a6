//! The declarations and the kernel that `AssignAdd` and `AssignSub` share.

use super::runs::{How, merge};
use super::target::{VariableArgs, give_back, gives, held, same_shape, update};
use millstream_graph::op::spec::{Bool, Number, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::{Result, Shape, ensure};

/// Returns the op on a resource handle and the op on a reference.
pub(crate) fn defs(
    resource: &'static str,
    reference: &'static str,
    doc: &'static str,
    run: RunFn,
) -> [OpDef; 2] {
    [
        OpDef::new(resource)
            .variable(false, "resource", "dtype")
            .input("value", "dtype")
            .attr("dtype", Number),
        OpDef::new(reference)
            .variable(true, "ref", "T")
            .input("value", "T")
            .updated(true, "output_ref", "T")
            .attr("T", Number)
            .attr("use_locking", Bool.or(false)),
    ]
    .map(|def| def.doc(doc).infer(infer).kernel(Kernel::writes(run)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = held(cx, 0, cx.dtype(1))?;
    let shape = same_shape(cx, &shape, 1)?;
    gives(cx, shape);
    Ok(())
}

/// Merges `value` into the variable.
pub(crate) fn change(cx: &mut KernelCx, how: How) -> Result<()> {
    let value = cx.input(1);
    let by_ref = cx.node.input_types.first().is_some_and(|ty| ty.is_ref);
    update(cx, 0, |old| {
        ensure!(
            old.shape() == value.shape(),
            "{}",
            unlike(by_ref, old.shape(), value.shape());
            "the variable has shape {} but `value` has shape {}; they must be equal",
            old.shape(),
            value.shape()
        );
        let elements = old.elements();
        merge(old.in_place(), &[0], elements, value, how)
    })?;
    give_back(cx);
    Ok(())
}
/// Returns TensorFlow's message for a `value` of a different shape.
fn unlike(by_ref: bool, old: &Shape, value: &Shape) -> String {
    match by_ref {
        true => "Parameters and update must be the same size".to_owned(),
        false => {
            format!(
                "Cannot update variable with shape {old} using a Tensor with shape {value}, shapes must be equal."
            )
        }
    }
}
