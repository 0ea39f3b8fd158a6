//! [`Node`]: a node with its edges, and the static knowledge of its outputs.

use crate::context::ContextId;
use crate::ids::{NodeId, Port};
use crate::op::{Known, NodeInfo, Role};
use millstream_tensor::PartialShape;
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::Arc;

/// A node of a graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name, op, attributes and types. Shared with the plans that contain it.
    pub info: Arc<NodeInfo>,
    /// The sources of the data inputs; [`Port::OPEN`] for a back edge that is not closed yet.
    pub inputs: SmallVec<[Port; 2]>,
    /// The nodes that must run before it.
    pub controls: SmallVec<[NodeId; 2]>,
    /// The static shapes of the outputs.
    pub shapes: SmallVec<[PartialShape; 1]>,
    /// The known values of the outputs.
    pub known: SmallVec<[Option<Arc<Known>>; 1]>,
    /// The device that it asks for; empty for none.
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
}
