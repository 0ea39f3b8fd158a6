//! [`Program`]: a verified snapshot of what one set of fetches needs. Nothing in it changes any more.

use crate::graph::GraphData;
use crate::ids::{NodeId, Port};
use crate::op::{NodeInfo, Role};
use crate::verify;
use millstream_tensor::{DType, PartialShape, Result, invalid};
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::Arc;

/// A node of a program, by position.
pub type Index = u32;

/// A pruned and verified graph: the only way to get one is [`Program::new`].
pub struct Program {
    /// The nodes, in the order in which the graph made them; those that feeds replace come first.
    pub nodes: Vec<ProgramNode>,
    /// The frames, each after its parent; the first is the root.
    pub frames: Vec<Frame>,
    /// The sources that take the feeds' values, in the order of the feeds. `None` where nothing needs the feed.
    pub feeds: Vec<Option<Index>>,
    /// Where the fetched values come from.
    pub fetches: Vec<Source>,
    /// Where the values come from that are fetched in every iteration of the loops around them.
    pub every: Vec<Source>,
    /// Where the values come from that are watched.
    pub watched: Vec<Source>,
    /// The nodes to run for their effects.
    pub targets: Vec<Index>,
    /// The nodes such that every node comes after those that it depends on, back edges left out.
    pub order: Vec<Index>,
}

/// What a program is to be made for.
#[derive(Clone, Copy, Default, Debug)]
pub struct Asked<'a> {
    /// What is given instead of being computed.
    pub feeds: &'a [Port],
    /// Values to give, outside of loops.
    pub fetches: &'a [Port],
    /// Values inside of loops, to give as they are in every iteration.
    pub every: &'a [Port],
    /// Values to look at on the way, wherever they are. They have to be needed for something else.
    pub watched: &'a [Port],
    /// Nodes to run for their effects.
    pub targets: &'a [NodeId],
}

/// Output `index` of a node of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Source {
    /// The node.
    pub node: Index,
    /// Which of its outputs.
    pub index: u32,
}

/// A node of a program.
pub struct ProgramNode {
    /// What it is.
    pub kind: ProgramKind,
    /// Its data inputs.
    pub inputs: SmallVec<[Source; 2]>,
    /// Its control inputs.
    pub controls: SmallVec<[Index; 2]>,
    /// The frame it belongs to: where its outputs live. An `Enter` is of the frame it enters, an `Exit` of the frame it exits to.
    pub frame: u32,
    /// What is known of its outputs' shapes.
    pub shapes: SmallVec<[PartialShape; 1]>,
    /// The source line that made it.
    pub at: &'static Location<'static>,
    /// The node of the graph.
    pub id: NodeId,
}

/// What a node of a program is.
#[derive(Clone)]
pub enum ProgramKind {
    /// A node of the graph.
    Node(Arc<NodeInfo>),
    /// The source of feed `i`, with the name and dtype of what it stands for.
    Feed(usize, String, DType),
}

/// A static frame: the inside of one loop.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its name; empty for the root.
    pub name: String,
    /// The frame around it; the root is its own.
    pub parent: u32,
    /// How deep it is nested.
    pub depth: u32,
    /// How many iterations may be alive at a time.
    pub parallel_iterations: u32,
}

impl ProgramNode {
    /// The name for messages.
    pub fn name(&self) -> &str {
        match &self.kind {
            ProgramKind::Node(info) => &info.name,
            ProgramKind::Feed(_, name, _) => name,
        }
    }

    /// The op type for messages.
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

    /// How many outputs it has.
    pub fn n_outputs(&self) -> usize {
        self.info().map_or(1, |i| i.output_types.len())
    }

    /// Whether an output is a reference to a variable.
    pub fn output_is_ref(&self, index: u32) -> bool {
        self.info().is_some_and(|i| i.output_types.get(index as usize).is_some_and(|t| t.is_ref))
    }

    /// Whether this is an Enter of a value that is the same in every iteration.
    pub fn is_constant_enter(&self) -> bool {
        self.role() == Role::Enter
            && self.info().is_some_and(|i| i.attrs.bool("is_constant").unwrap_or(false))
    }
}

impl Program {
    /// What is needed of the graph for what is asked, verified.
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
        let (frames, order) = verify::verify(&mut program.nodes)?;
        program.frames = frames;
        program.order = order;
        program.check_places(graph, feeds)?;
        program.hand_on_references();
        Ok(program)
    }

    /// These nodes, wherever they lie, with all they depend on, verified. For checks and for looking at frames, not for running.
    pub fn of_nodes(graph: &GraphData, nodes: &[NodeId]) -> Result<Program> {
        let needed = needed(graph, &Asked { targets: nodes, ..Asked::default() })?;
        let mut program = snapshot(graph, &Asked::default(), &needed)?;
        (program.frames, program.order) = verify::verify(&mut program.nodes)?;
        Ok(program)
    }

    /// The loops around the frame, outermost first.
    pub fn loops_around(&self, mut frame: u32) -> Vec<u32> {
        let mut loops = Vec::new();
        while frame != 0 {
            loops.push(frame);
            frame = self.frames[frame as usize].parent;
        }
        loops.reverse();
        loops
    }

    /// Fetched, fed and targeted nodes must lie outside of loops: inside there is one value per iteration. Those fetched in every
    /// iteration must lie inside of one.
    fn check_places(&self, graph: &GraphData, feeds: &[Port]) -> Result<()> {
        let inside = |node: &ProgramNode, what: &str, help: &str| {
            invalid!(
                "`{}` lies inside the loop `{}` and cannot be {what}",
                node.name(),
                self.frames[node.frame as usize].name
            )
            .at_line(node.at)
            .with_help(help.to_owned())
        };
        for source in &self.fetches {
            let node = &self.nodes[source.node as usize];
            if node.frame != 0 {
                return Err(inside(
                    node,
                    "fetched",
                    "fetch the loop's result (its Exit), or `every(..)` of it: its values in all iterations",
                ));
            }
        }
        for source in &self.every {
            let node = &self.nodes[source.node as usize];
            if node.frame == 0 {
                return Err(invalid!(
                    "`{}` lies outside of every loop: there are no iterations to give its values in",
                    node.name()
                )
                .at_line(node.at)
                .with_help("fetch it directly, without `every`"));
            }
        }
        for &target in &self.targets {
            let node = &self.nodes[target as usize];
            if node.frame != 0 {
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

/// Whether feeding this node's first output replaces the node whole, control edges too, as TensorFlow has it for placeholders.
fn replaced_whole(graph: &GraphData, feeds: &[Port], id: NodeId) -> bool {
    graph.role(id) == Some(Role::Placeholder) && feeds.contains(&Port::new(id, 0))
}

/// Which nodes the fetches and targets depend on. A worklist, not a recursion: graphs may be chains of millions.
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
        // What is the same in every iteration does not depend on how many there are, and is asked for in each of them.
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
    let mut nodes = Vec::new();
    let mut fed = std::collections::HashMap::new();
    for (i, &port) in feeds.iter().enumerate() {
        let node = graph.node(port.node)?;
        fed.insert(port, nodes.len() as Index);
        nodes.push(ProgramNode {
            kind: ProgramKind::Feed(i, format!("{}:{}", node.name(), port.index), graph.type_of(port)?.dtype),
            inputs: SmallVec::new(),
            controls: SmallVec::new(),
            frame: 0,
            shapes: [graph.shape_of(port)].into_iter().collect(),
            at: node.at,
            id: port.node,
        });
    }
    let mut position = vec![Index::MAX; needed.len()];
    for (i, position) in position.iter_mut().enumerate().filter(|(i, _)| needed[*i]) {
        *position = nodes.len() as Index;
        let node = &graph.nodes()[i];
        nodes.push(ProgramNode {
            kind: ProgramKind::Node(node.info.clone()),
            inputs: SmallVec::new(),
            controls: SmallVec::new(),
            frame: 0,
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
        Index::MAX => fed[&Port::new(*id, 0)],
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
        frames: Vec::new(),
        fetches,
        every,
        watched,
        order: Vec::new(),
    })
}
