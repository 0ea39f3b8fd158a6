//! [`View`]: what a loop analysis reads of a graph or a program.

use crate::entity::Entity;
use crate::graph::GraphData;
use crate::ids::{NodeId, Port};
use crate::node::Node;
use crate::op::{NodeInfo, Role};
use crate::program::{Index, Program, ProgramNode, Source};
use std::fmt::Debug;

/// The id of a node: its position in a list.
pub trait Key: Copy + Ord + Debug {
    /// An output of a node.
    type Value: Copy + Eq + Debug;
    /// The position.
    fn position(self) -> usize;
    /// The node and the output's number; `None` for a back edge that is still open.
    fn source(value: Self::Value) -> Option<(Self, u32)>;
}

impl Key for NodeId {
    type Value = Port;
    fn position(self) -> usize {
        self.index()
    }
    fn source(port: Port) -> Option<(NodeId, u32)> {
        (port != Port::OPEN).then_some((port.node, port.index))
    }
}

impl Key for Index {
    type Value = Source;
    fn position(self) -> usize {
        self.index()
    }
    fn source(source: Source) -> Option<(Index, u32)> {
        Some((source.node, source.index))
    }
}

/// Nodes and the edges between them. Ids that are not in the view have no inputs and no declaration.
pub trait View {
    /// The ids of the nodes.
    type Node: Key;
    /// A number larger than every node's position.
    fn n_positions(&self) -> usize;
    /// The nodes, each after those that it depends on, back edges left out.
    fn order(&self) -> impl Iterator<Item = Self::Node>;
    /// The node's declaration; a feed has none.
    fn info(&self, node: Self::Node) -> Option<&NodeInfo>;
    /// The data inputs.
    fn inputs(&self, node: Self::Node) -> &[<Self::Node as Key>::Value];
    /// The control inputs.
    fn controls(&self, node: Self::Node) -> &[Self::Node];

    /// The node's role; a feed is a placeholder.
    fn role(&self, node: Self::Node) -> Role {
        self.info(node).map_or(Role::Placeholder, |info| info.op.role)
    }

    /// The node that a value comes from.
    fn producer(&self, value: <Self::Node as Key>::Value) -> Option<Self::Node> {
        Self::Node::source(value).map(|(node, _)| node)
    }

    /// Whether the node is a Switch by the condition of a loop, not by the predicate of a cond.
    fn is_loop_switch(&self, node: Self::Node) -> bool {
        let by = || self.inputs(node).get(1).and_then(|pred| self.producer(*pred));
        self.role(node) == Role::Switch && by().is_some_and(|by| self.role(by) == Role::LoopCond)
    }

    /// The input of a loop variable's Merge that comes from the iteration before.
    fn back_edge(&self, node: Self::Node) -> Option<usize> {
        if self.role(node) != Role::Merge {
            return None;
        }
        self.inputs(node).iter().position(|value| {
            self.producer(*value).is_none_or(|from| super::is_back_edge(self.role(from), Role::Merge))
        })
    }
}

/// All nodes of a graph. They are in order as long as no edge was added to a node that was there before.
impl View for GraphData {
    type Node = NodeId;
    fn n_positions(&self) -> usize {
        self.nodes().len()
    }
    fn order(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes().len() as u32).map(NodeId)
    }
    fn info(&self, node: NodeId) -> Option<&NodeInfo> {
        self.nodes().get(node.index()).map(|n| &*n.info)
    }
    fn inputs(&self, node: NodeId) -> &[Port] {
        self.nodes().get(node.index()).map_or(&[], |n| &n.inputs)
    }
    fn controls(&self, node: NodeId) -> &[NodeId] {
        self.nodes().get(node.index()).map_or(&[], |n| &n.controls)
    }
}

/// The nodes of a graph that a program was made of, in the program's order.
pub struct Part<'a> {
    /// The graph.
    pub graph: &'a GraphData,
    /// The program, without feeds.
    pub program: &'a Program,
}

impl Debug for Part<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").field("program", &self.program).finish_non_exhaustive()
    }
}

impl View for Part<'_> {
    type Node = NodeId;
    fn n_positions(&self) -> usize {
        self.graph.n_positions()
    }
    fn order(&self) -> impl Iterator<Item = NodeId> {
        self.program.order.iter().map(|n| self.program.nodes[*n].id)
    }
    fn info(&self, node: NodeId) -> Option<&NodeInfo> {
        self.graph.info(node)
    }
    fn inputs(&self, node: NodeId) -> &[Port] {
        View::inputs(self.graph, node)
    }
    fn controls(&self, node: NodeId) -> &[NodeId] {
        View::controls(self.graph, node)
    }
}

impl View for Program {
    type Node = Index;
    fn n_positions(&self) -> usize {
        self.nodes.len()
    }
    fn order(&self) -> impl Iterator<Item = Index> {
        self.order.iter().copied()
    }
    fn info(&self, node: Index) -> Option<&NodeInfo> {
        self.nodes.as_slice().info(node)
    }
    fn inputs(&self, node: Index) -> &[Source] {
        self.nodes.as_slice().inputs(node)
    }
    fn controls(&self, node: Index) -> &[Index] {
        self.nodes.as_slice().controls(node)
    }
}

/// The nodes of a program that has no order yet: only edges can be asked for.
impl View for [ProgramNode] {
    type Node = Index;
    fn n_positions(&self) -> usize {
        self.len()
    }
    fn order(&self) -> impl Iterator<Item = Index> {
        (0..self.len()).map(Index::new)
    }
    fn info(&self, node: Index) -> Option<&NodeInfo> {
        self.get(node.index()).and_then(ProgramNode::info).map(|info| &**info)
    }
    fn inputs(&self, node: Index) -> &[Source] {
        self.get(node.index()).map_or(&[], |n| &n.inputs)
    }
    fn controls(&self, node: Index) -> &[Index] {
        self.get(node.index()).map_or(&[], |n| &n.controls)
    }
}

impl NodeInfo {
    /// Whether this is an Enter of a value that is the same in every iteration.
    pub fn is_constant_enter(&self) -> bool {
        self.op.role == Role::Enter && self.attrs.bool("is_constant").unwrap_or(false)
    }
}

impl Node {
    /// Whether this is an Enter of a value that is the same in every iteration.
    pub fn is_constant_enter(&self) -> bool {
        self.info.is_constant_enter()
    }
}

impl ProgramNode {
    /// Whether this is an Enter of a value that is the same in every iteration.
    pub fn is_constant_enter(&self) -> bool {
        self.info().is_some_and(|info| info.is_constant_enter())
    }
}
