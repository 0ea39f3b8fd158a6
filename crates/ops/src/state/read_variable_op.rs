//! `ReadVariableOp`: the value of a resource variable.

use super::target::{held, no_resource};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("ReadVariableOp")
        .doc("Returns the current value of the variable. Later assignments do not change it.")
        .input("resource", DType::Resource)
        .output("value", "dtype")
        .attr("dtype", AnyType)
        .infer(infer)
        .kernel(Kernel::reads(run))
        .gradient(Gradient::pass())
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = held(cx, 0, cx.attrs().dtype("dtype")?)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let variable = cx.resource::<Variable>(0)?;
    let value = variable.read().map_err(|e| {
        let name = variable.name();
        e.led_by(format!(
            "Error while reading resource variable {name} from Container: localhost. This could mean that the variable was uninitialized. Not found: {}",
            no_resource(cx, name)
        ))
    })?;
    let wanted = cx.node.output_types[0].dtype;
    ensure!(
        value.dtype() == wanted,
        "Trying to read variable with wrong dtype. Expected {} got {}",
        wanted.kernel_name(),
        value.dtype().kernel_name();
        "the variable holds {} but `dtype` is {wanted}",
        value.dtype()
    );
    cx.set(0, value);
    Ok(())
}

cases! {
    reads: "ReadVariableOp(@f32[2] [1 2]; dtype=f32) = f32[2] [1 2]",
    knows_the_shape: "ReadVariableOp(@f32[?,2]; dtype=f32) : f32[?,2]",
    unknown_handle: "ReadVariableOp(resource[]; dtype=f32) : f32[..]",
    needs_a_value: "ReadVariableOp(@f32[2]; dtype=f32) ! is used before it has a value",
    wants_the_dtype: "ReadVariableOp(@f32[2] [1 2]; dtype=i32) ! `resource` refers to a variable of f32 but i32 is wanted",
}
