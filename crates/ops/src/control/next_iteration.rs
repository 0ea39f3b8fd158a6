//! `NextIteration`, `RefNextIteration`: passes a value to the next iteration of its frame.

use super::edge::Edge;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Kernel, OpDef, Role};

pub(crate) fn def() -> [OpDef; 2] {
    [("NextIteration", false), ("RefNextIteration", true)].map(|(name, by_ref)| {
        OpDef::new(name)
            .doc("Passes `data` to the next iteration of its frame.")
            .edge_in(by_ref, "data", "T")
            .edge_out(by_ref, "output", "T")
            .attr("T", AnyType)
            .infer(|cx| {
                cx.pass(0, 0);
                Ok(())
            })
            .role(Role::NextIteration)
            .kernel(Kernel::structural())
    })
}

cases! {
    keeps_the_shape: "NextIteration(f32[?,3]) : f32[?,3]",
    passes_references: "RefNextIteration(&i32[2]) : i32[2]",
    ref_form_wants_a_reference: "RefNextIteration(i32[2]) ! `data` must be a reference to a variable",
}
