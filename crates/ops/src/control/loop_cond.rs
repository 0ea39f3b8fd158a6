//! `LoopCond`: marks the condition of a loop.

use millstream_graph::op::{InferCx, Kernel, OpDef, Role};
use millstream_tensor::DType::Bool;
use millstream_tensor::{PartialShape, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("LoopCond")
        .doc("Returns `input`, which decides whether the loop of its frame continues.")
        .input("input", Bool)
        .output("output", Bool)
        .infer(infer)
        .role(Role::LoopCond)
        .kernel(Kernel::structural())
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    cx.set(0, PartialShape::scalar());
    Ok(())
}

cases! {
    is_a_scalar: "LoopCond(bool[..]) : bool[]",
    wants_a_scalar: "LoopCond(bool[2]) ! LoopCond: `input` must be a scalar but has shape [2]",
    wants_a_bool: "LoopCond(1) ! `input` is i32 but must be bool",
}
