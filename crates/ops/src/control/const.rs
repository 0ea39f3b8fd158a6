//! `Const`: a value fixed when the graph is built.

use millstream_graph::op::spec::{AnyType, Value};
use millstream_graph::op::{InferCx, Kernel, Known, OpDef, Role};
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("Const")
        .doc("Returns the tensor `value`.")
        .output("output", "dtype")
        .attr("value", Value)
        .attr("dtype", AnyType)
        .infer(infer)
        .role(Role::Const)
        .kernel(Kernel::structural())
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (value, dtype) = (cx.attrs().tensor("value")?, cx.attrs().dtype("dtype")?);
    ensure!(value.dtype() == dtype, "Const: `value` is {} but `dtype` is {dtype}", value.dtype());
    cx.set_known(0, Known::Value(value.clone()));
    Ok(())
}

cases! {
    has_the_shape_of_its_value: "Const(; value=tensor([1 2 3]), dtype=i32) : i32[3]",
    may_be_a_string: "Const(; value=tensor(\"a\"), dtype=str) : str[]",
    wants_the_dtype_of_its_value: "Const(; value=tensor([1 2 3]), dtype=f32) ! `value` is i32 but `dtype` is f32",
}
