//! [`Named`]: handles of what has a name in a container, as the attributes `container` and `shared_name` say.
//!
//! Definition: TensorFlow's `ContainerInfo`, with and without the node's name as the default.

use millstream_graph::op::{KernelCx, NodeInfo};
use millstream_state::Resources;
use millstream_tensor::{Handle, Opaque, Result, Tensor, ensure};
use parking_lot::Mutex;
use std::sync::Arc;

/// Gives the handle of a named thing: looked up once, a clone until something is forgotten.
pub(crate) struct Named {
    container: String,
    name: String,
    /// Nobody but this session knows it.
    private: bool,
    /// The handle, and the resources' epoch in which it was looked up. Guards only itself; nothing is locked beneath it.
    found: Mutex<Option<(u64, Tensor)>>,
}

impl Named {
    /// As the attributes of the node say. Without a `shared_name` it goes by the node's name.
    pub fn new(node: &NodeInfo) -> Result<Named> {
        Self::of(node, false)
    }

    /// As [`Named::new`], but without a `shared_name` it is this session's own.
    pub fn or_private(node: &NodeInfo) -> Result<Named> {
        Self::of(node, true)
    }

    fn of(node: &NodeInfo, or_private: bool) -> Result<Named> {
        let attr = |name| node.attrs.str(name).map(|v| v.text().into_owned());
        let shared = attr("shared_name")?;
        ensure!(!shared.starts_with('_'), "`shared_name` must not begin with `_`, but is `{shared}`");
        let private = or_private && shared.is_empty();
        let name = if shared.is_empty() { node.name.clone() } else { shared };
        Ok(Named { container: attr("container")?, name, private, found: Mutex::new(None) })
    }

    /// The handle. `find` looks the thing up among the resources, by container and name, or makes it.
    pub fn handle<T: Opaque>(
        &self,
        cx: &KernelCx,
        find: impl FnOnce(&Resources, &str, &str) -> Result<Arc<T>>,
    ) -> Result<Tensor> {
        let resources = if self.private { &cx.env.kernel_state } else { &cx.env.resources };
        // Read before the look-up: what is forgotten meanwhile is looked up again.
        let epoch = resources.epoch();
        let known =
            self.found.lock().as_ref().filter(|(then, _)| *then == epoch).map(|(_, handle)| handle.clone());
        if let Some(handle) = known {
            return Ok(handle);
        }
        let container = if self.container.is_empty() { &*cx.env.container } else { &*self.container };
        // What kernels keep goes by nodes' names, too, in the container without a name.
        let within = if self.private { format!("private/{container}") } else { container.to_owned() };
        let object = find(resources, &within, &self.name)?;
        let handle = Tensor::handle(Handle::new(container, self.name.as_str(), object));
        *self.found.lock() = Some((epoch, handle.clone()));
        Ok(handle)
    }
}
