//! [`Node`]: a node with its edges and what is known of its outputs.

use crate::context::ContextId;
use crate::ids::{NodeId, Port};
use crate::op::{Known, NodeInfo, Role};
use millstream_tensor::PartialShape;
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::Arc;

/// A node of a graph.
#[derive(Clone)]
pub struct Node {
    /// Name, op, attributes, types. Shared with the plans made of it.
    pub info: Arc<NodeInfo>,
    /// Where each data input comes from; [`Port::OPEN`] for a back edge not yet closed.
    pub inputs: SmallVec<[Port; 2]>,
    /// Nodes that must have run before.
    pub controls: SmallVec<[NodeId; 2]>,
    /// What is known of the outputs' shapes.
    pub shapes: SmallVec<[PartialShape; 1]>,
    /// What is known of the outputs' values.
    pub known: SmallVec<[Option<Arc<Known>>; 1]>,
    /// The device asked for; empty for none.
    pub device: Arc<str>,
    /// The loop or branch that its outputs belong to.
    pub context: Option<ContextId>,
    /// The source line that made it.
    pub at: &'static Location<'static>,
}

impl Node {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// Its op type's name.
    pub fn op(&self) -> &'static str {
        self.info.op.name
    }

    /// Its op type's role.
    pub fn role(&self) -> Role {
        self.info.op.role
    }

    /// Whether this is an Enter that brings the same value to every iteration.
    pub fn is_constant_enter(&self) -> bool {
        self.role() == Role::Enter && self.info.attrs.bool("is_constant").unwrap_or(false)
    }
}
