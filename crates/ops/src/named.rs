//! [`Named`]: handles of what has a name in a container, as the attributes `container` and `shared_name` say.

use millstream_graph::op::{KernelCx, NodeInfo};
use millstream_state::Resources;
use millstream_tensor::{Handle, Opaque, Result, Tensor};
use parking_lot::Mutex;
use std::sync::Arc;

/// Gives the handle of a named thing: looked up once, a clone until something is forgotten.
pub(crate) struct Named {
    container: String,
    name: String,
    /// The handle, and the resources' epoch in which it was looked up. Guards only itself; nothing is locked beneath it.
    found: Mutex<Option<(u64, Tensor)>>,
}

impl Named {
    /// As the attributes of the node say.
    pub fn new(node: &NodeInfo) -> Result<Named> {
        let attr = |name| node.attrs.str(name).map(|v| v.text().into_owned());
        let shared = attr("shared_name")?;
        let name = if shared.is_empty() { node.name.clone() } else { shared };
        Ok(Named { container: attr("container")?, name, found: Mutex::new(None) })
    }

    /// The handle. `find` looks the thing up among the resources, by container and name, or makes it.
    pub fn handle<T: Opaque>(
        &self,
        cx: &KernelCx,
        find: impl FnOnce(&Resources, &str, &str) -> Result<Arc<T>>,
    ) -> Result<Tensor> {
        // Read before the look-up: what is forgotten meanwhile is looked up again.
        let epoch = cx.env.resources.epoch();
        let known =
            self.found.lock().as_ref().filter(|(then, _)| *then == epoch).map(|(_, handle)| handle.clone());
        if let Some(handle) = known {
            return Ok(handle);
        }
        let container = if self.container.is_empty() { &*cx.env.container } else { &*self.container };
        let object = find(&cx.env.resources, container, &self.name)?;
        let handle = Tensor::handle(Handle::new(container, self.name.as_str(), object));
        *self.found.lock() = Some((epoch, handle.clone()));
        Ok(handle)
    }
}
