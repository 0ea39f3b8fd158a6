//! `Identity`, `RefIdentity`: returns its input unchanged.

use super::edge::Edge;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Kernel, OpDef, Role};

pub(crate) fn def() -> [OpDef; 2] {
    [("Identity", false), ("RefIdentity", true)].map(|(name, by_ref)| {
        OpDef::new(name)
            .doc(
                "Returns `input` unchanged. RefIdentity returns the reference; Identity of a reference \
                 reads the variable.",
            )
            .edge_in(by_ref, "input", "T")
            .edge_out(by_ref, "output", "T")
            .attr("T", AnyType)
            .infer(|cx| {
                cx.pass(0, 0);
                Ok(())
            })
            .role(Role::Identity)
            .kernel(Kernel::structural())
    })
}

cases! {
    keeps_the_shape: "Identity(f32[?,3]) : f32[?,3]",
    passes_references: "RefIdentity(&f32[?,3]) : f32[?,3]",
    ref_form_wants_a_reference: "RefIdentity(f32[3]) ! `input` must be a reference to a variable",
    wants_one_input: "Identity(1, 2) ! Identity takes 1 input, got 2",
}
