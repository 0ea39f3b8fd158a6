//! `DestroyTemporaryVariable`: clears a temporary variable and returns its last value.

use super::target::held;
use millstream_graph::op::spec::{AnyType, Text};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{Code, Error, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("DestroyTemporaryVariable")
        .doc("Returns the value of the temporary variable named `var_name`, and clears it.")
        .ref_input("ref", "T")
        .output("value", "T")
        .attr("T", AnyType)
        .attr("var_name", Text)
        .infer(infer)
        .kernel(Kernel::writes(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = held(cx, 0, cx.attrs().dtype("T")?)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let variable = cx.resource::<Variable>(0)?;
    let wanted = cx.attrs().str("var_name")?.text();
    if variable.name() != wanted {
        let message = format!("`ref` refers to the variable `{}`, not to `{wanted}`", variable.name());
        return Err(Error::new(Code::NotFound, message));
    }
    let value = variable.read()?;
    variable.clear();
    cx.set(0, value);
    Ok(())
}

cases! {
    gives_the_value: "DestroyTemporaryVariable(&f32[2] [1 2]; var_name=\"variable_0\") = f32[2] [1 2]",
    keeps_the_shape: "DestroyTemporaryVariable(&f32[?,2]; var_name=\"t\") ! `ref` refers to the variable `variable_0`, not to `t`",
    needs_a_value: "DestroyTemporaryVariable(&f32[2]; var_name=\"variable_0\") ! is used before it has a value",
}
