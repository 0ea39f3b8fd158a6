//! [`Program`]: a verified snapshot of what one set of fetches needs. Nothing in it changes any more.

use crate::entity::{Dense, Entity};
use crate::graph::GraphData;
use crate::ids::{FrameId, NodeId, Port};
use crate::op::{NodeInfo, Role};
use crate::verify;
use millstream_tensor::{DType, PartialShape, Result, invalid};
use smallvec::SmallVec;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

crate::entity! {
    /// A node of a program, by position.
    pub struct Index = "p";
}

/// A pruned and verified graph, which does not change. Made by [`Program::new`]; prints as a listing.
#[derive(Clone)]
pub struct Program {
    pub(crate) nodes: Dense<Index, ProgramNode>,
    pub(crate) frames: Dense<FrameId, Frame>,
    pub(crate) feeds: Vec<Option<Index>>,
    pub(crate) fetches: Vec<Source>,
    pub(crate) every: Vec<Source>,
    pub(crate) watched: Vec<Source>,
    pub(crate) targets: Vec<Index>,
    pub(crate) order: Vec<Index>,
}

/// The feeds, fetches and targets that a program is made for.
#[derive(Clone, Copy, Default, Debug)]
pub struct Asked<'a> {
    /// The outputs that are fed instead of being computed.
    pub feeds: &'a [Port],
    /// The outputs to fetch, outside of loops.
    pub fetches: &'a [Port],
    /// The outputs inside of loops to fetch in every iteration.
    pub every: &'a [Port],
    /// The outputs to watch, wherever they are. Something else has to need them.
    pub watched: &'a [Port],
    /// The nodes to run for their effects.
    pub targets: &'a [NodeId],
}

/// Output `index` of a node of the program. Prints as `p17:0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// The node.
    pub node: Index,
    /// Which of its outputs.
    pub index: u32,
}

/// A node of a program.
#[derive(Clone, Debug)]
pub struct ProgramNode {
    /// The graph's node, or the feed that takes its place.
    pub kind: ProgramKind,
    /// The data inputs.
    pub inputs: SmallVec<[Source; 2]>,
    /// The control inputs.
    pub controls: SmallVec<[Index; 2]>,
    /// The frame that the outputs live in. An `Enter` is of the frame it enters, an `Exit` of the frame it
    /// exits to.
    pub frame: FrameId,
    /// The inferred shapes of the outputs.
    pub shapes: SmallVec<[PartialShape; 1]>,
    /// The source line that made the node.
    pub at: &'static Location<'static>,
    /// The node of the graph.
    pub id: NodeId,
}

/// What a node of a program is.
#[derive(Clone, Debug)]
pub enum ProgramKind {
    /// A node of the graph.
    Node(Arc<NodeInfo>),
    /// The source of feed `i`, with the name and dtype of the output that it replaces.
    Feed(usize, String, DType),
}

/// A static frame: the inside of one loop.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The name; empty for the root.
    pub name: String,
    /// The frame around it; the root is its own parent.
    pub parent: FrameId,
    /// The number of frames around it.
    pub depth: u32,
    /// How many iterations may be alive at a time.
    pub parallel_iterations: u32,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.node, self.index)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl ProgramNode {
    /// The name in messages.
    pub fn name(&self) -> &str {
        match &self.kind {
            ProgramKind::Node(info) => &info.name,
            ProgramKind::Feed(_, name, _) => name,
        }
    }

    /// The op type in messages.
    pub fn op(&self) -> &str {
        match &self.kind {
            ProgramKind::Node(info) => info.op.name,
            ProgramKind::Feed(..) => "feed",
        }
    }

    /// The node's role; a feed is a placeholder.
    pub fn role(&self) -> Role {
        match &self.kind {
            ProgramKind::Node(info) => info.op.role,
            ProgramKind::Feed(..) => Role::Placeholder,
        }
    }

    /// The node's declaration, unless it is a feed.
    pub fn info(&self) -> Option<&Arc<NodeInfo>> {
        match &self.kind {
            ProgramKind::Node(info) => Some(info),
            ProgramKind::Feed(..) => None,
        }
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.info().map_or(1, |i| i.output_types.len())
    }

    /// Whether an output is a reference to a variable.
    pub fn output_is_ref(&self, index: u32) -> bool {
        self.info().is_some_and(|i| i.output_types.get(index as usize).is_some_and(|t| t.is_ref))
    }
}

impl Program {
    /// Takes what a run needs from the graph, and verifies it.
    pub fn new(graph: &GraphData, asked: &Asked) -> Result<Program> {
        let feeds = asked.feeds;
        for &port in feeds.iter().chain(asked.fetches).chain(asked.every).chain(asked.watched) {
            graph.type_of(port)?;
        }
        for (i, &port) in feeds.iter().enumerate() {
            if feeds[..i].contains(&port) {
                let name = graph.node(port.node)?.name().to_owned();
                return Err(invalid!("`{name}:{}` is fed twice", port.index));
            }
        }
        let needed = needed(graph, asked)?;
        let mut program = snapshot(graph, asked, &needed)?;
        (program.frames, program.order) = verify::verify(program.nodes.as_mut_slice())?;
        program.check_places(graph, feeds)?;
        program.hand_on_references();
        Ok(program)
    }

    /// Takes these nodes, wherever they lie, with all that they depend on, and verifies them. For checks and
    /// for looking at frames: nothing is fetched.
    pub fn of_nodes(graph: &GraphData, nodes: &[NodeId]) -> Result<Program> {
        let needed = needed(graph, &Asked { targets: nodes, ..Asked::default() })?;
        let mut program = snapshot(graph, &Asked::default(), &needed)?;
        (program.frames, program.order) = verify::verify(program.nodes.as_mut_slice())?;
        Ok(program)
    }

    /// The nodes, in the order in which the graph made them; feeds come first.
    pub fn nodes(&self) -> &Dense<Index, ProgramNode> {
        &self.nodes
    }

    /// A node.
    pub fn node(&self, n: Index) -> &ProgramNode {
        &self.nodes[n]
    }

    /// The frames, each after its parent. The first is the root.
    pub fn frames(&self) -> &Dense<FrameId, Frame> {
        &self.frames
    }

    /// The nodes of the feeds, in order; `None` where nothing needs the feed.
    pub fn feeds(&self) -> &[Option<Index>] {
        &self.feeds
    }

    /// The fetched values, in order.
    pub fn fetches(&self) -> &[Source] {
        &self.fetches
    }

    /// The values fetched in every iteration of the loops around them, in order.
    pub fn every(&self) -> &[Source] {
        &self.every
    }

    /// The watched values, in order.
    pub fn watched(&self) -> &[Source] {
        &self.watched
    }

    /// The nodes to run for their effects.
    pub fn targets(&self) -> &[Index] {
        &self.targets
    }

    /// All nodes, each after those that it depends on, back edges left out.
    pub fn order(&self) -> &[Index] {
        &self.order
    }

    /// The loops around the frame, outermost first.
    pub fn loops_around(&self, mut frame: FrameId) -> Vec<FrameId> {
        let mut loops = Vec::new();
        while frame != FrameId::ROOT {
            loops.push(frame);
            frame = self.frames[frame].parent;
        }
        loops.reverse();
        loops
    }

    /// Fetched, fed and targeted nodes must lie outside of loops, because inside there is one value per
    /// iteration. Values fetched in every iteration must lie inside of one.
    fn check_places(&self, graph: &GraphData, feeds: &[Port]) -> Result<()> {
        let inside = |node: &ProgramNode, what: &str, help: &str| {
            invalid!(
                "`{}` lies inside the loop `{}` and cannot be {what}",
                node.name(),
                self.frames[node.frame].name
            )
            .at_line(node.at)
            .with_help(help.to_owned())
        };
        for source in &self.fetches {
            let node = &self.nodes[source.node];
            if node.frame != FrameId::ROOT {
                return Err(inside(
                    node,
                    "fetched",
                    "fetch the loop's result (its Exit), or `every(..)` of it: its values in all iterations",
                ));
            }
        }
        for source in &self.every {
            let node = &self.nodes[source.node];
            if node.frame == FrameId::ROOT {
                return Err(invalid!(
                    "`{}` is outside every loop, so it has no values per iteration",
                    node.name()
                )
                .at_line(node.at)
                .with_help("fetch it directly, without `every`"));
            }
        }
        for &target in &self.targets {
            let node = &self.nodes[target];
            if node.frame != FrameId::ROOT {
                return Err(inside(node, "a target", "run the loop's result instead"));
            }
        }
        for &port in feeds {
            if graph.in_loop(port.node) {
                let node = graph.node(port.node)?;
                return Err(invalid!("`{}` lies inside a loop and cannot be fed", node.name())
                    .at_line(node.at)
                    .with_help("feed a value from outside of the loop that it is computed from"));
            }
        }
        Ok(())
    }
}

/// Whether feeding this node's first output replaces the whole node, control edges too. As in TensorFlow,
/// that is so for placeholders.
fn replaced_whole(graph: &GraphData, feeds: &[Port], id: NodeId) -> bool {
    graph.role(id) == Some(Role::Placeholder) && feeds.contains(&Port::new(id, 0))
}

/// For each node of the graph, whether a fetch or target depends on it. Uses a worklist, since graphs may be
/// chains of millions of nodes.
fn needed(graph: &GraphData, asked: &Asked) -> Result<Vec<bool>> {
    let &Asked { feeds, fetches, every, targets, .. } = asked;
    let mut needed = vec![false; graph.nodes().len()];
    let mut work: Vec<NodeId> = Vec::new();
    let fed: std::collections::HashSet<Port> = feeds.iter().copied().collect();
    let mut visit = |id: NodeId, work: &mut Vec<NodeId>| -> Result<()> {
        graph.node(id)?;
        if !std::mem::replace(&mut needed[id.index()], true) {
            work.push(id);
        }
        Ok(())
    };
    for port in fetches.iter().filter(|p| !fed.contains(p)) {
        visit(port.node, &mut work)?;
    }
    for port in every.iter().filter(|p| !fed.contains(p)) {
        visit(port.node, &mut work)?;
        // A loop invariant does not depend on the number of iterations, but is fetched once for each of them.
        for id in graph.loop_conditions(port.node) {
            visit(id, &mut work)?;
        }
    }
    for &id in targets.iter().filter(|id| !replaced_whole(graph, feeds, **id)) {
        visit(id, &mut work)?;
    }
    while let Some(id) = work.pop() {
        let node = graph.node(id)?;
        for &input in &node.inputs {
            if input == Port::OPEN {
                return Err(invalid!("the back edge of `{}` was never closed", node.name())
                    .at_line(node.at)
                    .with_help("close it with a NextIteration: `close_back_edge`"));
            }
            if !fed.contains(&input) {
                visit(input.node, &mut work)?;
            }
        }
        for &control in node.controls.iter().filter(|c| !replaced_whole(graph, feeds, **c)) {
            visit(control, &mut work)?;
        }
    }
    Ok(needed)
}

fn snapshot(graph: &GraphData, asked: &Asked, needed: &[bool]) -> Result<Program> {
    let feeds = asked.feeds;
    let mut nodes = Dense::new();
    let mut fed = std::collections::HashMap::new();
    for (i, &port) in feeds.iter().enumerate() {
        let node = graph.node(port.node)?;
        let source = nodes.push(ProgramNode {
            kind: ProgramKind::Feed(i, format!("{}:{}", node.name(), port.index), graph.type_of(port)?.dtype),
            inputs: SmallVec::new(),
            controls: SmallVec::new(),
            frame: FrameId::ROOT,
            shapes: [graph.shape_of(port)].into_iter().collect(),
            at: node.at,
            id: port.node,
        });
        fed.insert(port, source);
    }
    let mut position = vec![Index::NONE; needed.len()];
    for (i, position) in position.iter_mut().enumerate().filter(|(i, _)| needed[*i]) {
        let node = &graph.nodes()[i];
        *position = nodes.push(ProgramNode {
            kind: ProgramKind::Node(node.info.clone()),
            inputs: SmallVec::new(),
            controls: SmallVec::new(),
            frame: FrameId::ROOT,
            shapes: node.shapes.clone(),
            at: node.at,
            id: NodeId(i as u32),
        });
    }
    let source = |port: &Port| match fed.get(port) {
        Some(&node) => Source { node, index: 0 },
        None => Source { node: position[port.node.index()], index: port.index },
    };
    let control = |id: &NodeId| match position[id.index()] {
        Index::NONE => fed[&Port::new(*id, 0)],
        at => at,
    };
    for node in nodes.iter_mut().filter(|n| matches!(n.kind, ProgramKind::Node(_))) {
        let from = graph.node(node.id)?;
        node.inputs = from.inputs.iter().map(source).collect();
        node.controls = from.controls.iter().map(control).collect();
    }
    if let Some(port) = asked.watched.iter().find(|p| !fed.contains_key(p) && !needed[p.node.index()]) {
        let node = graph.node(port.node)?;
        return Err(invalid!(
            "`{}:{}` is watched, but this run does not compute it",
            node.name(),
            port.index
        )
        .at_line(node.at)
        .with_help(
            "fetch what depends on it too; `every(..)` of a value in a loop runs the loops around it",
        ));
    }
    let sources = |ports: &[Port]| ports.iter().map(source).collect();
    let (fetches, every, watched) = (sources(asked.fetches), sources(asked.every), sources(asked.watched));
    Ok(Program {
        feeds: feeds.iter().map(|p| Some(fed[p])).collect(),
        targets: asked.targets.iter().map(control).collect(),
        nodes,
        frames: Dense::new(),
        fetches,
        every,
        watched,
        order: Vec::new(),
    })
}
