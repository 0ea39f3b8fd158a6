//! `Switch`, `RefSwitch`: passes a value to one of two outputs.

use super::edge::Edge;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{InferCx, Kernel, OpDef, Role};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> [OpDef; 2] {
    [("Switch", false), ("RefSwitch", true)].map(|(name, by_ref)| {
        OpDef::new(name)
            .doc(
                "Passes `data` to `output_true` if `pred` is true, else to `output_false`. The other output \
                 is dead.",
            )
            .edge_in(by_ref, "data", "T")
            .input("pred", DType::Bool)
            .edge_out(by_ref, "output_false", "T")
            .edge_out(by_ref, "output_true", "T")
            .attr("T", AnyType)
            .infer(infer)
            .role(Role::Switch)
            .kernel(Kernel::structural())
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.pass(0, 0);
    cx.pass(0, 1);
    Ok(())
}

cases! {
    keeps_the_shape: "Switch(f32[?,3], bool[]) : f32[?,3], f32[?,3]",
    passes_references: "RefSwitch(&i32[2], bool[]) : i32[2], i32[2]",
    wants_a_scalar_predicate: "Switch(f32[?,3], bool[1]) ! Switch: `pred` must be a scalar but has shape [1]",
    wants_a_bool: "Switch(f32[?,3], 1) ! `pred` is i32 but must be bool",
}
