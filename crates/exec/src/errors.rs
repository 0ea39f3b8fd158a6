//! Errors that the machine and the reference tier report in the same words.

use crate::plan::Label;
use millstream_graph::ProgramNode;
use millstream_graph::op::NodeInfo;
use millstream_tensor::{Code, Error, Result, Tensor, invalid};

/// A placeholder that the run needs has no feed.
pub(crate) fn not_fed(info: &NodeInfo, node: &ProgramNode) -> Error {
    let dtype = info.output_types.first().map_or("", |ty| ty.dtype.kernel_name());
    let shape = info.attrs.shape("shape").ok().filter(|s| s.rank().is_some_and(|r| 0 < r));
    let and = shape.map(|s| format!(" and shape {s}")).unwrap_or_default();
    invalid!("You must feed a value for placeholder tensor '{}' with dtype {dtype}{and}", info.name;
        "the placeholder `{}` ({}{}) must be fed", info.name, info.output_types[0], node.shapes[0])
    .at_node(&info.name, info.op.name)
    .at_line(node.at)
    .with_help(format!("add a value for `{}:0` to the feeds", info.name))
}

/// A node of the plan failed with this error.
pub(crate) fn of_label(error: Error, label: &Label) -> Error {
    error.at_node(&label.name, label.op).at_line(label.at)
}

/// A node of the program failed with this error.
pub(crate) fn of_node(error: Error, node: &ProgramNode) -> Error {
    error.at_node(node.name(), node.op()).at_line(node.at)
}

/// An iteration of a loop, in messages.
pub(crate) fn in_iteration(number: u64, frame: &str) -> String {
    format!("iteration {number} of loop `{frame}`")
}

/// The error of a run whose deadline has passed.
pub fn timed_out() -> Error {
    Error::new(Code::DeadlineExceeded, "the run did not end in the time allowed")
        .led_by("Timed out waiting for notification")
        .with_help("raise the timeout, or record a trace to see where the time goes")
}

/// A note for an error that ends a run: a node waits. Without its op, the beginning of any note about it.
pub(crate) fn waits(name: &str, op: &str) -> String {
    match op {
        "" => format!("`{name}` waits"),
        op => format!("`{name}` waits ({op})"),
    }
}

/// Fetch `k` is dead: a branch that was not taken would have computed it.
pub(crate) fn dead_fetch(k: usize, name: &str) -> Error {
    invalid!("Retval[{k}] does not have value"; "`{name}` has no value: it lies on a branch that was not taken")
        .with_help("fetch the result of the `cond` (its Merge) instead")
}

/// Nothing is left to run, and not everything that should have run did.
pub(crate) fn stuck() -> Error {
    invalid!("the run is stuck: nodes are left, but none is ready and none is running")
}

/// A note for [`stuck`]: a fetch without a value.
pub(crate) fn never_computed(name: &str) -> String {
    format!("`{name}` was fetched and never computed")
}

/// An `Exit` fired twice in one execution of its loop.
pub(crate) fn exited_twice() -> Error {
    invalid!("the loop returned this result twice: its condition must become false exactly once, at the end")
        .with_help("an Exit may only be reached when the loop's condition is false")
}

/// The predicate of a `Switch`.
pub(crate) fn predicate(value: &Tensor) -> Result<bool> {
    if value.shape().rank() != 0 {
        return Err(invalid!("The second input must be a scalar, but it has shape {}", value.shape())
            .with_help("the predicate of a Switch is a single bool"));
    }
    let value = value.to_scalar::<bool>();
    value.map_err(|e| invalid!("the predicate of a Switch must be a scalar bool: {}", e.message()))
}

/// A kernel left out an output that something reads.
pub(crate) fn no_output(i: usize) -> Error {
    Error::internal(format!("the kernel gave no output {i}"))
}

/// A kernel that is not a waiting kernel returned without computing.
pub(crate) fn did_not_compute() -> Error {
    Error::internal("a kernel that never waits did not compute")
}
