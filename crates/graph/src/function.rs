//! [`Function`]: a graph that nodes of another graph call by name; and the bodies of functions that are being
//! built, which take values of the graph around them.
//!
//! The functions of a graph are its library. A node refers to one by name
//! ([`Attr::Func`](crate::Attr::Func)), also a node in the body of another function of the library.

use crate::attr::Attrs;
use crate::graph::{Graph, GraphData, Naming, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::op::{Effect, OpDef, Role};
use crate::output::Output;
use millstream_tensor::{DType, PartialShape, Result, ensure, invalid};
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::sync::Arc;

/// A graph with inputs and outputs.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name by which nodes call it.
    pub name: String,
    /// The graph.
    pub body: Graph,
    /// The placeholders of the body that take the arguments.
    pub inputs: Vec<Port>,
    /// The values of the body that a call returns.
    pub outputs: Vec<Port>,
}

impl Function {
    /// The nodes with an effect beyond their outputs, outside of loops and branches. They run in every call.
    pub fn effects(&self) -> Vec<NodeId> {
        let has_effect = |def: &OpDef| {
            let makes_dataset = def.outputs.iter().any(|arg| arg.ty == DType::Variant.into());
            def.role == Role::Compute && def.kernel.effect != Effect::Pure && !makes_dataset
        };
        self.body.read(|g| {
            let nodes = g.nodes().iter().enumerate();
            let found = nodes.filter(|(_, n)| n.context.is_none() && has_effect(n.info.op));
            found.map(|(i, _)| NodeId(i as u32)).collect()
        })
    }
}

/// The graph around the body of a function that is being built.
pub(crate) struct Around {
    graph: Graph,
    /// Values are computed again in the body instead of being passed.
    copies: bool,
    /// The values that the body has taken, and the placeholders or copies that represent them inside.
    taken: Vec<(Port, Port)>,
    /// The nodes that were copied.
    copied: HashMap<NodeId, NodeId>,
}

impl Graph {
    /// An empty graph for the body of a function. A node of the body may take values of this graph: each
    /// becomes a placeholder, whose value the caller passes. With `copies`, the nodes that compute it are
    /// copied into the body instead.
    pub fn body(&self, copies: bool) -> Graph {
        let body = Graph::with_ops(self.registry());
        body.surround(self, copies);
        body
    }

    /// Makes this graph the body of a function within the graph `around`: see [`Graph::body`].
    pub fn surround(&self, around: &Graph, copies: bool) {
        let seed = around.seed();
        let around = Around { graph: around.clone(), copies, taken: Vec::new(), copied: HashMap::new() };
        self.lock().around = Some(around);
        if let Some(seed) = seed {
            self.set_seed(seed);
        }
    }

    /// Whether this is the body of a function that is being built.
    pub fn is_open_body(&self) -> bool {
        self.lock().around.is_some()
    }

    /// The value in this body that a value of the graph around it is captured as.
    ///
    /// # Errors
    ///
    /// If this graph is no body, or the value belongs to neither graph.
    pub fn capture<'g>(&'g self, value: Output<'_>) -> Result<Output<'g>> {
        if value.graph().same(self) {
            return Ok(Output::new(self, value.port()));
        }
        let (around, copies, known) = {
            let g = self.lock();
            let Some(around) = &g.around else {
                return Err(invalid!("`{}` belongs to another graph", value.name()));
            };
            (around.graph.clone(), around.copies, around.taken.clone())
        };
        let outer = around.capture(value)?.port();
        if let Some((_, inner)) = known.iter().find(|(from, _)| *from == outer) {
            return Ok(Output::new(self, *inner));
        }
        let inner = match copies {
            true => self.copy(&around, outer)?,
            false => self.stand_in(&around, outer)?,
        };
        if let Some(around) = &mut self.lock().around {
            around.taken.push((outer, inner));
        }
        Ok(Output::new(self, inner))
    }

    /// The values that the body has taken from the graph around it, and the ports that represent them inside.
    pub fn captured(&self) -> Vec<(Port, Port)> {
        self.lock().around.as_ref().map_or_else(Vec::new, |around| around.taken.clone())
    }

    /// Whether this body copies the nodes whose values it takes.
    pub fn copies_values(&self) -> bool {
        self.lock().around.as_ref().is_some_and(|around| around.copies)
    }

    /// Ends the building of a body, which takes no values of the graph around it from now on.
    pub fn close_body(&self) {
        let around = self.lock().around.take();
        drop(around);
    }

    /// A placeholder outside of all loops and branches of the body.
    fn stand_in(&self, around: &Graph, outer: Port) -> Result<Port> {
        let (ty, shape) =
            around.read(|g| -> Result<(_, PartialShape)> { Ok((g.type_of(outer)?, g.shape_of(outer))) })?;
        let mut attrs = Attrs::new();
        attrs.set("dtype", ty.dtype);
        attrs.set("shape", shape);
        let naming = Naming::Scoped("captured".to_owned());
        let id = self.lock().insert(NodeSpec::new("Placeholder", naming).attrs(attrs))?;
        Ok(Port::new(id, 0))
    }

    /// Copies the nodes that compute a value, inputs first.
    fn copy(&self, around: &Graph, outer: Port) -> Result<Port> {
        let mut work = vec![outer.node];
        while let Some(&next) = work.last() {
            let known = |g: &GraphData, id: NodeId| {
                g.around.as_ref().and_then(|around| around.copied.get(&id).copied())
            };
            if self.read(|g| known(g, next)).is_some() {
                work.pop();
                continue;
            }
            let node = around.read(|g| g.node(next).cloned())?;
            check_copied(node.info.op, node.name())?;
            ensure!(
                node.context.is_none(),
                "Cannot capture `{}` by value: it is inside a loop or branch",
                node.name()
            );
            let missing: Vec<NodeId> = self.read(|g| {
                let inputs = node.inputs.iter().map(|port| port.node);
                inputs.filter(|id| known(g, *id).is_none()).collect()
            });
            if !missing.is_empty() {
                work.extend(missing);
                continue;
            }
            let mut g = self.lock();
            let inputs: Vec<Port> = node
                .inputs
                .iter()
                .map(|port| known(&g, port.node).map_or(*port, |id| Port::new(id, port.index)))
                .collect();
            let naming = Naming::Scoped(node.name().to_owned());
            let spec = NodeSpec::new(node.op(), naming).inputs(inputs).attrs(node.info.attrs.clone());
            let id = g.insert(spec.at(node.at))?;
            if let Some(around) = &mut g.around {
                around.copied.insert(next, id);
            }
            work.pop();
        }
        let copied = self.read(|g| g.around.as_ref().and_then(|a| a.copied.get(&outer.node).copied()));
        let node = copied.ok_or_else(|| invalid!("a copied node is not there"))?;
        Ok(Port::new(node, outer.index))
    }

    /// Adds a function to the graph's library. An error if the library has another of this name.
    pub fn add_function(&self, function: Function) -> Result<()> {
        let mut g = self.lock();
        ensure!(
            !g.functions.contains_key(&function.name),
            "the graph already has a function `{}`",
            function.name
        );
        g.functions.insert(function.name.clone(), Arc::new(function));
        Ok(())
    }

    /// The function of this name in the graph's library.
    pub fn function(&self, name: &str) -> Option<Arc<Function>> {
        self.lock().functions.get(name).cloned()
    }

    /// The functions of the graph's library, in the order of their names.
    pub fn functions(&self) -> Vec<Arc<Function>> {
        self.lock().functions.values().cloned().collect()
    }

    /// Adds a placeholder that takes an argument of a function.
    #[track_caller]
    pub fn argument(&self, name: &str, dtype: DType, shape: PartialShape) -> Result<Output<'_>> {
        let mut attrs = Attrs::new();
        attrs.set("dtype", dtype);
        attrs.set("shape", shape);
        let naming = Naming::Scoped(name.to_owned());
        let spec = NodeSpec::new("Placeholder", naming).attrs(attrs).at(Location::caller());
        let id = self.lock().insert(spec)?;
        Ok(Output::new(self, Port::new(id, 0)))
    }
}

/// An error unless a node of this op may be copied: it has no state, reads files, or makes a dataset.
fn check_copied(op: &OpDef, name: &str) -> Result<()> {
    ensure!(
        op.role != Role::Placeholder,
        "Cannot capture a placeholder (name:{name}, type:{}) by value.",
        op.name
    );
    let makes_dataset = op.outputs.iter().any(|arg| arg.ty == DType::Variant.into());
    ensure!(
        op.kernel.effect == Effect::Pure || op.kernel.observing || makes_dataset,
        "Cannot capture a stateful node (name:{name}, type:{}) by value.",
        op.name
    );
    Ok(())
}

/// The functions of a graph, by name.
pub(crate) type Functions = BTreeMap<String, Arc<Function>>;
