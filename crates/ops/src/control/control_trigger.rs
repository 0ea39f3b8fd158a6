//! `ControlTrigger`: a NoOp that runs even if its control inputs are dead.

use millstream_graph::op::{Kernel, OpDef, Role};

pub(crate) fn def() -> OpDef {
    OpDef::new("ControlTrigger")
        .doc("Does nothing, but runs even if its control inputs come from branches that were not taken.")
        .role(Role::ControlTrigger)
        .kernel(Kernel::structural())
}

cases! {
    takes_nothing: "ControlTrigger(1) ! ControlTrigger takes no inputs, got 1",
    gives_nothing: "ControlTrigger() :",
}
