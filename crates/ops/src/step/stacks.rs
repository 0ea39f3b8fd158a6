//! Helpers of the stack ops.

use super::tensor_arrays::{By, object};
use millstream_graph::op::KernelCx;
use millstream_state::Stack;
use millstream_tensor::Result;
use std::sync::Arc;

/// Returns the two generations of an op, which refer to a stack by a reference to a name and by a resource.
pub(super) fn generations(old: &'static str, new: &'static str) -> [(&'static str, By); 2] {
    [(old, By::Reference), (new, By::Resource)]
}

/// Returns the stack that input 0 refers to.
pub(super) fn stack(cx: &KernelCx) -> Result<Arc<Stack>> {
    object(cx)
}
