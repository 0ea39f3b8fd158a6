//! What importers need beyond the builders: contexts put on nodes after the fact, and a way back when an import fails.

use crate::context::{Context, ContextId};
use crate::flow::fixpoint;
use crate::graph::Graph;
use crate::ids::{NodeId, Port};
use millstream_tensor::{PartialShape, Result};

/// How far a graph had come, see [`Graph::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    n_nodes: usize,
    n_contexts: usize,
}

impl Graph {
    /// Adds a context; nodes are put into it by [`Graph::place`].
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

    /// Says which context each of these nodes belongs to.
    pub fn place(&self, nodes: impl IntoIterator<Item = (NodeId, Option<ContextId>)>) {
        let mut g = self.lock();
        for (node, context) in nodes {
            if let Some(node) = g.nodes.get_mut(node.index()) {
                node.context = context;
            }
        }
    }

    /// Refines what is known of the shape of an output; a contradiction is an error at once.
    pub fn refine_shape(&self, port: Port, shape: &PartialShape) -> Result<()> {
        self.lock().merge_shape(port, shape)
    }

    /// Infers the shapes of imported nodes (in the order of making) again, now that their loops are closed: each loop variable has the
    /// least shape that holds what enters and what the body makes of it.
    pub fn infer_loops(&self, nodes: &[NodeId]) {
        fixpoint::over_back_edges(&mut self.lock(), nodes);
    }

    /// How far the graph has come.
    pub fn mark(&self) -> Mark {
        let g = self.lock();
        Mark { n_nodes: g.nodes.len(), n_contexts: g.contexts.len() }
    }

    /// Takes back the nodes and contexts made since `mark`, if all of those nodes are among `ours` (in the order made): what other
    /// threads made meanwhile is not ours to remove. Names stay taken.
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
