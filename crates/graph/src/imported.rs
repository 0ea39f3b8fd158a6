//! Methods for importers: they assign contexts to existing nodes, tell of nodes that were left out, and undo
//! an import that failed.

use crate::context::{Context, ContextId};
use crate::flow::fixpoint;
use crate::graph::Graph;
use crate::ids::{NodeId, Port};
use millstream_tensor::{Error, PartialShape, Result};
use std::sync::Arc;

/// A state of a graph to go back to: see [`Graph::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    n_nodes: usize,
    n_contexts: usize,
}

/// The reason why an import left nodes out: a node that they need, or are, has an unknown op type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The op type.
    pub op: String,
    /// The name of the node of that type.
    pub node: String,
    /// The function whose body has the node, if the graph itself has it not.
    pub function: Option<String>,
}

impl Absent {
    /// The error for the node `name`, which was left out for this reason.
    pub fn error(&self, name: &str) -> Error {
        let Absent { op, node, function } = self;
        Error::unimplemented(match function {
            None if node == name => format!("the op type `{op}` of node `{name}` is not in the op library"),
            None => format!("node `{name}` needs `{node}`, whose op type `{op}` is not in the op library"),
            Some(function) => format!(
                "node `{name}` needs `{node}` of function `{function}`, whose op type `{op}` is not in the op library"
            ),
        })
    }
}

impl Graph {
    /// Records nodes that an import left out. To look one of them up by name is an error that tells the
    /// reason.
    pub fn add_absent(&self, names: impl IntoIterator<Item = (String, Arc<Absent>)>) {
        self.lock().absent.extend(names);
    }

    /// Adds a context. [`Graph::place`] puts nodes into it.
    pub fn add_context(&self, context: Context) -> ContextId {
        let mut g = self.lock();
        let id = ContextId(g.contexts.len() as u32);
        g.contexts.push(context);
        id
    }

    /// Replaces a context, once the nodes that it names exist.
    pub fn set_context(&self, id: ContextId, context: Context) {
        if let Some(old) = self.lock().contexts.get_mut(id.0 as usize) {
            *old = context;
        }
    }

    /// Assigns these nodes to their contexts.
    pub fn place(&self, nodes: impl IntoIterator<Item = (NodeId, Option<ContextId>)>) {
        let mut g = self.lock();
        for (node, context) in nodes {
            if let Some(node) = g.nodes.get_mut(node.index()) {
                node.context = context;
            }
        }
    }

    /// Merges `shape` into the static shape of an output. A contradiction is an error.
    pub fn refine_shape(&self, port: Port, shape: &PartialShape) -> Result<()> {
        self.lock().merge_shape(port, shape)
    }

    /// Infers the shapes of imported nodes again, in the order in which they were made, now that their loops
    /// are closed. Each loop variable gets the most specific shape that fits both its initial value and the
    /// body's result.
    pub fn infer_loops(&self, nodes: &[NodeId]) {
        fixpoint::over_back_edges(&mut self.lock(), nodes);
    }

    /// The current state, to go back to with [`Graph::take_back`].
    pub fn mark(&self) -> Mark {
        let g = self.lock();
        Mark { n_nodes: g.nodes.len(), n_contexts: g.contexts.len() }
    }

    /// Removes the nodes and contexts made since `mark`, provided that all of those nodes are in `ours`,
    /// which is in the order of making: nodes that other threads made meanwhile must stay. The names remain
    /// taken.
    pub fn take_back(&self, mark: Mark, ours: &[NodeId]) {
        let mut g = self.lock();
        let made = mark.n_nodes..g.nodes.len();
        if !made.map(|i| NodeId(i as u32)).eq(ours.iter().copied()) {
            return;
        }
        g.nodes.truncate(mark.n_nodes);
        g.contexts.truncate(mark.n_contexts);
        g.forget_names();
    }
}
