//! Typed ids that print: `n17`, `n17:0`, `frame2`.

use std::fmt;

crate::entity! {
    /// A static frame of a program, and of the plans made of it: the inside of one loop, or the root.
    pub struct FrameId = "frame";
}

impl FrameId {
    /// The frame outside of all loops.
    pub const ROOT: FrameId = FrameId(0);
}

/// A node of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// A node that could not be made. Nodes that depend on it are not made either.
    pub(crate) const POISON: NodeId = NodeId(u32::MAX);

    /// The position in the graph's node list.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An output of a node: the source of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Port {
    /// The node.
    pub node: NodeId,
    /// The number of the output.
    pub index: u32,
}

impl Port {
    /// The input of a `Merge` whose back edge is not closed yet.
    pub const OPEN: Port = Port { node: NodeId::POISON, index: u32::MAX };

    /// Output `index` of `node`.
    pub fn new(node: NodeId, index: u32) -> Port {
        Port { node, index }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.node, self.index)
    }
}

impl fmt::Debug for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
