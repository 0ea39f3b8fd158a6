//! `Exit`, `RefExit`: passes a value out of a frame.

use super::edge::Edge;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Kernel, OpDef, Role};

pub(crate) fn def() -> [OpDef; 2] {
    [("Exit", false), ("RefExit", true)].map(|(name, by_ref)| {
        OpDef::new(name)
            .doc("Passes `data` out of its frame, to the iteration that entered the frame.")
            .edge_in(by_ref, "data", "T")
            .edge_out(by_ref, "output", "T")
            .attr("T", AnyType)
            .infer(|cx| {
                cx.pass(0, 0);
                Ok(())
            })
            .role(Role::Exit)
            .kernel(Kernel::structural())
    })
}

cases! {
    keeps_the_shape: "Exit(f32[?,3]) : f32[?,3]",
    passes_references: "RefExit(&i32[2]) : i32[2]",
    ref_form_wants_a_reference: "RefExit(i32[2]) ! `data` must be a reference to a variable",
}
