//! `Enter`, `RefEnter`: passes a value into a frame.

use super::edge::Edge;
use millstream_graph::op::spec::{AnyType, Bool, Int, Spec, Text};
use millstream_graph::op::{Kernel, OpDef, Role};

pub(crate) fn def() -> [OpDef; 2] {
    [("Enter", false), ("RefEnter", true)].map(|(name, by_ref)| {
        OpDef::new(name)
            .doc(
                "Passes `data` into the frame `frame_name`: as its value in iteration 0, or in all \
                 iterations if `is_constant` is true. Up to `parallel_iterations` iterations of the frame \
                 may run at the same time.",
            )
            .edge_in(by_ref, "data", "T")
            .edge_out(by_ref, "output", "T")
            .attr("T", AnyType)
            .attr("frame_name", Text)
            .attr("is_constant", Bool.or(false))
            .attr("parallel_iterations", Int.or(10))
            .infer(|cx| {
                cx.pass(0, 0);
                Ok(())
            })
            .role(Role::Enter)
            .kernel(Kernel::structural())
    })
}

cases! {
    keeps_the_shape: "Enter(f32[?,3]; frame_name=\"w\") : f32[?,3]",
    constants_too: "Enter(f32[2]; frame_name=\"w\", is_constant=true, parallel_iterations=1) : f32[2]",
    passes_references: "RefEnter(&i32[2]; frame_name=\"w\") : i32[2]",
    needs_a_frame: "Enter(1.0) ! Enter needs the attribute `frame_name`",
}
