//! [`Within`]: the blocks of a graph (name scopes, control dependencies, devices, ..) as something to enter and to leave, for those whose
//! blocks are no closures: `Graph::name_scope` and its like are built on it, and so are Python's `with` blocks.

use crate::attr::Attr;
use crate::context::ContextId;
use crate::graph::{ControlScope, Graph, GraphData, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::node::Node;
use crate::output::Op;
use millstream_tensor::Result;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A block that was entered. It is left, and what was before comes back, when this drops. Blocks are left in the reverse order.
#[must_use = "the block is left when this drops"]
pub struct Within {
    graph: Graph,
    before: Before,
}

/// What leaving brings back.
enum Before {
    Scope(String),
    Controls,
    NoControl(Vec<ControlScope>, Option<ContextId>),
    Device(Arc<str>),
    Overlays(usize),
    Colocation(usize, Arc<str>),
}

/// What the blocks around a new node add to its attributes.
#[derive(Clone)]
pub(crate) enum Overlay {
    /// This attribute, where the node has none of the name.
    Attr(String, Attr),
    /// Nodes of this op type are differentiated by the gradient of this name ([`Graph::register_gradient`]).
    Gradient(String, String),
    /// Nodes stand where this one stands; `None`: what the blocks around say does not count.
    Beside(Option<NodeId>),
    /// Nodes with resources keep them in this container.
    Container(String),
}

impl Graph {
    /// [`Graph::name_scope`], entered.
    pub fn enter_name_scope(&self, name: &str) -> Within {
        let scope = match name.ends_with('/') {
            true => name.to_owned(),
            false => self.lock().unique_name(name) + "/",
        };
        self.enter_scope(scope)
    }

    /// [`Graph::in_scope`], entered.
    pub fn enter_scope(&self, scope: String) -> Within {
        let before = Before::Scope(self.lock().replace_scope(scope));
        Within { graph: self.clone(), before }
    }

    /// [`Graph::control_dependencies`], entered.
    pub fn enter_control_dependencies<'g>(&self, ops: impl IntoIterator<Item = impl Into<Op<'g>>>) -> Within {
        let inputs = ops.into_iter().map(|op| op.into().id()).filter(|id| *id != NodeId::POISON).collect();
        self.lock().push_controls(inputs);
        Within { graph: self.clone(), before: Before::Controls }
    }

    /// [`Graph::without_control`], entered.
    pub fn enter_without_control(&self) -> Within {
        let mut g = self.lock();
        let before = Before::NoControl(g.take_controls(), g.current.take());
        drop(g);
        Within { graph: self.clone(), before }
    }

    /// [`Graph::device`], entered.
    pub fn enter_device(&self, device: &str) -> Within {
        let before = Before::Device(self.lock().replace_device(device.into()));
        Within { graph: self.clone(), before }
    }

    /// Nodes made inside have this attribute.
    pub fn enter_attr(&self, name: impl Into<String>, value: impl Into<Attr>) -> Within {
        self.enter_overlays([Overlay::Attr(name.into(), value.into())])
    }

    /// Nodes made inside of these op types are differentiated by the gradients of these names: pairs of an op type and a name.
    pub fn enter_gradient_override(&self, map: impl IntoIterator<Item = (String, String)>) -> Within {
        self.enter_overlays(map.into_iter().map(|(op, gradient)| Overlay::Gradient(op, gradient)))
    }

    /// Nodes made inside say that they belong beside `op` (the attribute `_class`); with `ignore_existing`, and of no others. `None`
    /// takes back what the blocks around say. Devices that were asked for outside do not count inside: nodes ask for that of `op`.
    pub fn enter_colocation(&self, op: Option<Op<'_>>, ignore_existing: bool) -> Within {
        let clear = (ignore_existing || op.is_none()).then_some(Overlay::Beside(None));
        let overlays = clear.into_iter().chain(op.map(|op| Overlay::Beside(Some(op.id()))));
        let mut g = self.lock();
        let before = Before::Colocation(g.blocks.overlays.len(), g.replace_device(Arc::default()));
        g.blocks.overlays.extend(overlays);
        drop(g);
        Within { graph: self.clone(), before }
    }

    /// Resources (variables, queues, ..) of nodes made inside are kept in this container, where the nodes do not say another.
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
    /// Adds what the blocks around say to the attributes of a new node.
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
                    // Of several, the outermost that has one.
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
    /// A new node that belongs where the one is that gives `value`, whatever the blocks around say: how TensorFlow places the Switch of a value.
    pub(crate) fn beside(&self, value: Port, mut spec: NodeSpec) -> Result<NodeSpec> {
        let node = self.node(value.node)?;
        spec.attrs.set("_class", groups_of(node));
        spec.device = Some(node.device.clone());
        Ok(spec)
    }
}

/// The groups that a node belongs to (the attribute `_class`); without any, it is one of its own.
fn groups_of(node: &Node) -> Vec<String> {
    match node.info.attrs.strs("_class") {
        Ok(groups) => groups.into_iter().map(|g| g.text().into_owned()).collect(),
        Err(_) => vec![format!("loc:@{}", node.name())],
    }
}
