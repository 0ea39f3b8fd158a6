//! `Abort`: makes its step fail.

use millstream_graph::op::spec::{Bool, Spec, Text};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::{Code, Error, Result};

// TensorFlow ends the process here. A library must not, so the step fails, even if `exit_without_error` is
// true.
pub(crate) fn def() -> OpDef {
    OpDef::new("Abort")
        .doc("Makes the step that runs it fail with `ABORTED` and `error_msg`.")
        .attr("error_msg", Text.or(""))
        .attr("exit_without_error", Bool.or(false))
        .kernel(Kernel::stateful(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let message = cx.attrs().str("error_msg")?.text();
    let colon = if message.is_empty() { "" } else { ": " };
    Err(Error::new(Code::Aborted, format!("the graph aborted the step{colon}{message}")))
}

cases! {
    gives_nothing: "Abort(; error_msg=\"x\", exit_without_error=true) ! the graph aborted the step: x",
    says_so: "Abort() ! the graph aborted the step",
    takes_nothing: "Abort(1) ! Abort takes no inputs, got 1",
}
