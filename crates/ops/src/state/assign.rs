//! `Assign`: assigns a value to a reference variable.

use super::target::{give_back, held, same_shape};
use millstream_graph::op::spec::{AnyType, Bool, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("Assign")
        .doc(
            "Assigns `value` to the variable and returns the reference. If `validate_shape` is true, the \
             shape must be that of the old value; otherwise any shape is accepted.",
        )
        .ref_input("ref", "T")
        .input("value", "T")
        .ref_output("output_ref", "T")
        .attr("T", AnyType)
        .attr("validate_shape", Bool.or(true))
        .attr("use_locking", Bool.or(true))
        .infer(infer)
        .kernel(Kernel::writes(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = match cx.attrs().bool("validate_shape")? {
        true => same_shape(cx, &held(cx, 0, cx.attrs().dtype("T")?)?, 1)?,
        false => cx.input(1).clone(),
    };
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = cx.take(1);
    let variable = cx.resource::<Variable>(0)?;
    if !cx.attrs().bool("validate_shape")? {
        variable.assign_any_shape(value)?;
    } else if let Ok(old) = variable.read() {
        ensure!(
            old.shape() == value.shape(),
            "Assign requires shapes of both tensors to match. lhs shape= {} rhs shape= {}",
            old.shape(),
            value.shape();
            "the variable `{}` has shape {} but `value` has shape {}",
            variable.name(),
            old.shape(),
            value.shape()
        );
        variable.assign_any_shape(value)?;
    } else {
        variable.assign(value)?;
    }
    give_back(cx);
    Ok(())
}

cases! {
    assigns: "Assign(&f32[2] [1 2], f32[2] [3 4]) = f32[2] [3 4]",
    first_value: "Assign(&i32[2], [3 4]) = [3 4]",
    other_shape: "Assign(&i32[2] [1 2], [3 4 5]; validate_shape=false) = [3 4 5]",
    learns_the_shape: "Assign(&i32[?,2], i32[3,?]) : i32[3,2]",
    unvalidated_shape: "Assign(&i32[?,2], i32[3]; validate_shape=false) : i32[3]",
    shapes_must_agree: "Assign(&i32[2] [1 2], [3 4 5]) ! the variable has shape [2] but `value` has shape [3]; they must be equal",
    wants_a_reference: "Assign([1 2], [3 4]) ! `ref` must be a reference to a variable",
}
