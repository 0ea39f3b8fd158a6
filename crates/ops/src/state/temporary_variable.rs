//! `TemporaryVariable`: a variable that lives for one step.

use millstream_graph::op::spec::{AnyShape, AnyType, Spec, Text};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{Handle, Result, Tensor};
use std::sync::Arc;

// The variable is not registered under its name. The reference alone keeps it alive, so each iteration has
// its own.
pub(crate) fn def() -> OpDef {
    OpDef::new("TemporaryVariable")
        .doc(
            "Returns a reference to a new variable named `var_name` (by default, the node's name), to which \
             nothing else refers.",
        )
        .ref_output("ref", "dtype")
        .attr("shape", AnyShape)
        .attr("dtype", AnyType)
        .attr("var_name", Text.or(""))
        .infer(infer)
        .kernel(Kernel::stateful(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.set(0, cx.attrs().shape("shape")?.clone());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let attrs = cx.attrs();
    let given = attrs.str("var_name")?.text();
    let name = if given.is_empty() { cx.node.name.as_str() } else { &*given };
    let variable = Arc::new(Variable::new(name, attrs.dtype("dtype")?, attrs.shape("shape")?.clone()));
    cx.set(0, Tensor::handle(Handle::new("", name, variable)));
    Ok(())
}

cases! {
    has_a_shape: "TemporaryVariable(; dtype=f32, shape=shape[2,3]) : f32[2,3]",
    has_no_value_at_first: "TemporaryVariable(; dtype=f32, shape=shape[2], var_name=\"t\") ! variable `t` is used before it has a value",
    needs_a_shape: "TemporaryVariable(; dtype=f32) ! TemporaryVariable needs the attribute `shape`",
}
