//! [`Within`]: a guard for an open block of a graph (name scope, control dependencies, device, ..).
//! `Graph::name_scope` and its relatives, which take closures, are built on it, and so are Python's `with`
//! blocks.

use crate::attr::Attr;
use crate::context::ContextId;
use crate::graph::{ControlScope, Graph, GraphData, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::node::Node;
use crate::output::Op;
use millstream_tensor::Result;
use std::collections::BTreeSet;
use std::sync::Arc;

/// An open block. Dropping it leaves the block and restores the state before it. Blocks are left in the
/// reverse order.
#[must_use = "the block is left when this drops"]
pub struct Within {
    graph: Graph,
    before: Before,
}

impl std::fmt::Debug for Within {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Within").finish_non_exhaustive()
    }
}

/// The state that leaving restores.
enum Before {
    Scope(String),
    Controls,
    NoControl(Vec<ControlScope>, Option<ContextId>),
    Device(Arc<str>),
    Overlays(usize),
    Colocation(usize, Arc<str>),
}

/// An addition that an open block makes to the attributes of new nodes.
#[derive(Clone)]
pub(crate) enum Overlay {
    /// This attribute, unless the node sets it itself.
    Attr(String, Attr),
    /// For nodes of the first op type, the name of their gradient ([`Graph::register_gradient`]).
    Gradient(String, String),
    /// Colocation with this node; `None` cancels the colocations of enclosing blocks.
    Beside(Option<NodeId>),
    /// The container of the nodes' resources.
    Container(String),
}

impl Graph {
    /// Enters [`Graph::name_scope`].
    pub fn enter_name_scope(&self, name: &str) -> Within {
        let scope = match name.ends_with('/') {
            true => name.to_owned(),
            false => self.lock().unique_name(name) + "/",
        };
        self.enter_scope(scope)
    }

    /// Enters [`Graph::in_scope`].
    pub fn enter_scope(&self, scope: String) -> Within {
        let before = Before::Scope(self.lock().replace_scope(scope));
        Within { graph: self.clone(), before }
    }

    /// Enters [`Graph::control_dependencies`].
    pub fn enter_control_dependencies<'g>(&self, ops: impl IntoIterator<Item = impl Into<Op<'g>>>) -> Within {
        let inputs = ops.into_iter().map(|op| op.into().id()).filter(|id| *id != NodeId::POISON).collect();
        self.lock().push_controls(inputs);
        Within { graph: self.clone(), before: Before::Controls }
    }

    /// Enters [`Graph::without_control`].
    pub fn enter_without_control(&self) -> Within {
        let mut g = self.lock();
        let before = Before::NoControl(g.take_controls(), g.current.take());
        drop(g);
        Within { graph: self.clone(), before }
    }

    /// Enters [`Graph::device`].
    pub fn enter_device(&self, device: &str) -> Within {
        let before = Before::Device(self.lock().replace_device(device.into()));
        Within { graph: self.clone(), before }
    }

    /// Enters a block whose nodes have this attribute.
    pub fn enter_attr(&self, name: impl Into<String>, value: impl Into<Attr>) -> Within {
        self.enter_overlays([Overlay::Attr(name.into(), value.into())])
    }

    /// Enters a block in which nodes of some op types have other gradients: pairs of an op type and the name
    /// of a gradient.
    pub fn enter_gradient_override(&self, map: impl IntoIterator<Item = (String, String)>) -> Within {
        self.enter_overlays(map.into_iter().map(|(op, gradient)| Overlay::Gradient(op, gradient)))
    }

    /// Enters a block whose nodes are colocated with `op` (the attribute `_class`), and with
    /// `ignore_existing` with no other node. `None` cancels the colocations of enclosing blocks. Devices of
    /// enclosing blocks do not apply: nodes ask for the device of `op`.
    pub fn enter_colocation(&self, op: Option<Op<'_>>, ignore_existing: bool) -> Within {
        let clear = (ignore_existing || op.is_none()).then_some(Overlay::Beside(None));
        let overlays = clear.into_iter().chain(op.map(|op| Overlay::Beside(Some(op.id()))));
        let mut g = self.lock();
        let before = Before::Colocation(g.blocks.overlays.len(), g.replace_device(Arc::default()));
        g.blocks.overlays.extend(overlays);
        drop(g);
        Within { graph: self.clone(), before }
    }

    /// Enters a block whose nodes keep their resources (variables, queues, ..) in this container, unless they
    /// name another.
    pub fn enter_container(&self, container: &str) -> Within {
        self.enter_overlays([Overlay::Container(container.to_owned())])
    }

    fn enter_overlays(&self, overlays: impl IntoIterator<Item = Overlay>) -> Within {
        let mut g = self.lock();
        let before = Before::Overlays(g.blocks.overlays.len());
        g.blocks.overlays.extend(overlays);
        drop(g);
        Within { graph: self.clone(), before }
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        let mut g = self.graph.lock();
        match &mut self.before {
            Before::Scope(scope) => drop(g.replace_scope(std::mem::take(scope))),
            Before::Controls => g.pop_controls(),
            Before::NoControl(controls, current) => {
                g.restore_controls(std::mem::take(controls));
                g.current = current.take();
            }
            Before::Device(device) => drop(g.replace_device(device.clone())),
            Before::Overlays(n) => g.blocks.overlays.truncate(*n),
            Before::Colocation(n, device) => {
                g.blocks.overlays.truncate(*n);
                g.replace_device(device.clone());
            }
        }
    }
}

impl GraphData {
    /// Adds the attributes of the open blocks to a new node.
    pub(crate) fn overlay(&self, spec: &mut NodeSpec) -> Result<()> {
        let mut beside: BTreeSet<String> = BTreeSet::new();
        let (mut container, mut device): (Option<&str>, Option<Arc<str>>) = (None, None);
        for overlay in &self.blocks.overlays {
            match overlay {
                Overlay::Attr(name, value) if spec.attrs.get(name).is_none() => {
                    spec.attrs.set(name.clone(), value.clone());
                }
                Overlay::Gradient(op, gradient) if *op == spec.op => {
                    spec.attrs.set("_gradient_op_type", gradient.clone());
                }
                Overlay::Beside(None) => {
                    beside.clear();
                    device = None;
                }
                Overlay::Beside(Some(id)) => {
                    let node = self.node(*id)?;
                    // If several have a device, the outermost wins.
                    device = device.or_else(|| Some(node.device.clone()).filter(|d| !d.is_empty()));
                    beside.extend(groups_of(node));
                }
                Overlay::Container(name) => container = Some(name),
                Overlay::Attr(..) | Overlay::Gradient(..) => {}
            }
        }
        if spec.device.is_none() {
            spec.device = device;
        }
        if let Some(container) = container.filter(|c| !c.is_empty())
            && self.registry().get(&spec.op).is_some_and(|def| def.attr_spec("container").is_some())
            && spec.attrs.str("container").map_or(true, |said| said.is_empty())
        {
            spec.attrs.set("container", container.to_owned());
        }
        if !beside.is_empty() && spec.attrs.get("_class").is_none() {
            spec.attrs.set("_class", beside.into_iter().collect::<Vec<_>>());
        }
        Ok(())
    }
    /// Colocates a new node with the node that computes `value`, regardless of open blocks, as TensorFlow
    /// does for the Switch of a value.
    pub(crate) fn beside(&self, value: Port, mut spec: NodeSpec) -> Result<NodeSpec> {
        let node = self.node(value.node)?;
        spec.attrs.set("_class", groups_of(node));
        spec.device = Some(node.device.clone());
        Ok(spec)
    }
}

/// The colocation groups of a node (the attribute `_class`). A node without any is a group of its own.
fn groups_of(node: &Node) -> Vec<String> {
    match node.info.attrs.strs("_class") {
        Ok(groups) => groups.into_iter().map(|g| g.text().into_owned()).collect(),
        Err(_) => vec![format!("loc:@{}", node.name())],
    }
}
