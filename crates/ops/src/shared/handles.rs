//! [`Named`]: handles of what has a name in a container, as the attributes `container` and `shared_name` say;
//! [`By`]: the two generations of such handles.
//!
//! Definition: TensorFlow's `ContainerInfo`, with and without the node's name as the default.

use millstream_graph::op::{InferCx, KernelCx, NodeInfo, OpDef};
use millstream_state::Resources;
use millstream_tensor::{DType, Handle, Opaque, PartialShape, Result, Tensor, ensure, invalid};
use parking_lot::Mutex;
use std::sync::Arc;

/// Gives the handle of a named thing: looked up once, a clone until something is forgotten.
pub(crate) struct Named {
    container: String,
    name: String,
    /// Nobody but this session knows it.
    private: bool,
    /// The handle, and the resources' epoch in which it was looked up. Guards only itself; nothing is locked
    /// beneath it.
    found: Mutex<Option<(u64, Handle)>>,
}

impl Named {
    /// Reads the name from the node's attributes. Without a `shared_name` it is the node's name.
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
        // A tensor of its own for each caller, who keeps it for many runs: threads that share one would
        // contend for its reference count in each of them.
        if let Some(handle) = known {
            return Ok(Tensor::handle(handle));
        }
        let container = if self.container.is_empty() { &*cx.env.container } else { &*self.container };
        // What kernels keep is named after their nodes, too, in the container without a name.
        let within = if self.private { format!("private/{container}") } else { container.to_owned() };
        let object = find(resources, &within, &self.name)?;
        let handle = Handle::new(container, self.name.as_str(), object);
        *self.found.lock() = Some((epoch, handle.clone()));
        Ok(Tensor::handle(handle))
    }
}

/// The two generations of an op: by a reference, and by a resource. They differ in nothing else.
pub(crate) fn generations(
    names: [&'static str; 2],
    declare: impl Fn(&'static str, By) -> OpDef,
) -> [OpDef; 2] {
    let [old, new] = names;
    [declare(old, By::Reference), declare(new, By::Resource)]
}

/// How an op knows the thing it works on.
#[derive(Clone, Copy)]
pub(crate) enum By {
    Reference,
    Resource,
}

impl By {
    /// Declares the handle that an op takes.
    pub(crate) fn input(self, def: OpDef, name: &'static str) -> OpDef {
        match self {
            By::Reference => def.ref_input(name, DType::Str),
            By::Resource => def.input(name, DType::Resource),
        }
    }

    /// Declares the handle that an op gives.
    pub(crate) fn output(self, def: OpDef, name: &'static str) -> OpDef {
        match self {
            By::Reference => def.ref_output(name, DType::Str),
            By::Resource => def.output(name, DType::Resource),
        }
    }
}

/// Checks the shape of the handle, of which there must be one. An old one is a reference to a vector.
pub(crate) fn one_handle(cx: &mut InferCx) -> Result<()> {
    match cx.node().input_types[0].dtype {
        DType::Resource => cx.scalar(0),
        _ => Ok(()),
    }
}

/// The shape of the handle that an op gives. The old one is a vector of two names; of a reference to it
/// nothing is said.
pub(crate) fn handle_shape(cx: &mut InferCx) -> Result<()> {
    let is_resource = cx.node().output_types[0].dtype == DType::Resource;
    cx.set(0, if is_resource { PartialShape::unknown_of_rank(0) } else { PartialShape::unknown() });
    Ok(())
}

/// The thing that input `i` refers to, to keep; an error if it is of another kind.
pub(crate) fn share<T: Opaque>(cx: &KernelCx, i: usize) -> Result<Arc<T>> {
    let handle = cx.handle(i)?;
    handle.share::<T>().ok_or_else(|| {
        invalid!(
            "`{}` refers to a {} (`{}`), which {} cannot use",
            cx.name_of(i),
            handle.kind(),
            handle.name,
            cx.node.op.name
        )
    })
}
