//! `NoOp`: does nothing.

use millstream_graph::op::{Kernel, OpDef, Role};

pub(crate) fn def() -> OpDef {
    OpDef::new("NoOp")
        .doc("Does nothing. It can join control edges.")
        .role(Role::NoOp)
        .kernel(Kernel::structural())
}

cases! {
    takes_nothing: "NoOp(1) ! NoOp takes no inputs, got 1",
    gives_nothing: "NoOp() :",
}
