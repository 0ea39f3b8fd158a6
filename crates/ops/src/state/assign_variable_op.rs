//! `AssignVariableOp`: assigns a value to a resource variable.

use super::target::{held, same_shape};
use millstream_graph::op::spec::{AnyType, Bool, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{DType, Result, ensure};

// TensorFlow checks the variable's declared shape only while the graph is built. It is checked in the run
// too, because the inferred shapes of later reads rely on it.
pub(crate) fn def() -> OpDef {
    OpDef::new("AssignVariableOp")
        .doc(
            "Assigns `value` to the variable. If `validate_shape` is true, the shape must be that of the \
             old value.",
        )
        .input("resource", DType::Resource)
        .input("value", "dtype")
        .attr("dtype", AnyType)
        .attr("validate_shape", Bool.or(false))
        .infer(infer)
        .kernel(Kernel::writes(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = held(cx, 0, cx.attrs().dtype("dtype")?)?;
    same_shape(cx, &shape, 1).map(drop)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = cx.take(1);
    let variable = cx.resource::<Variable>(0)?;
    if cx.attrs().bool("validate_shape")?
        && let Ok(old) = variable.read()
    {
        ensure!(
            old.shape() == value.shape(),
            "Trying to assign variable with wrong shape. Expected {} got {}",
            old.shape(),
            value.shape();
            "the variable `{}` has a value of shape {} but `value` has shape {}",
            variable.name(),
            old.shape(),
            value.shape()
        );
    }
    variable.assign(value)
}

cases! {
    assigns: "AssignVariableOp(@f32[2] [1 2], f32[2] [3 4]) = f32[2] [3 4]",
    first_value: "AssignVariableOp(@i32[?], [3 4 5]) = [3 4 5]",
    strings: "AssignVariableOp(@str[], \"a\") = \"a\"",
    shapes_must_fit: "AssignVariableOp(@f32[2], f32[3]) ! the variable has shape [2] but `value` has shape [3]; they must be equal",
    dtypes_must_agree: "AssignVariableOp(@f32[2], [1 2]) ! `resource` refers to a variable of f32 but i32 is wanted",
}
