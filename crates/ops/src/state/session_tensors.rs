//! Helpers of the ops that store tensors in the session.

use millstream_graph::op::KernelCx;
use millstream_state::SessionTensors;
use millstream_tensor::{Result, invalid};
use std::sync::Arc;

/// Returns the session's store, which is created on first use.
pub(super) fn kept(cx: &KernelCx) -> Result<Arc<SessionTensors>> {
    cx.env.kernel_state.get_or_create("", SessionTensors::NAME, || Ok(SessionTensors::default()))
}

/// Returns the handle in input 0.
pub(super) fn handle(cx: &KernelCx) -> Result<String> {
    match cx.input(0).as_strs() {
        Some([handle]) => Ok(handle.text().into_owned()),
        _ => Err(invalid!("`handle` must be a scalar string")),
    }
}
