//! [`Order`]: the one order in which a program could run node by node, each loop as a whole. Runs do not keep
//! to it; it decides which of two things that happened at the same time comes first.

use millstream_graph::loops::View;
use millstream_graph::op::Role;
use millstream_graph::{Dense, Entity, FrameId, Index, Program, entity, topological};
use smallvec::SmallVec;

/// A place in the nest of loops: frame and iteration of each loop, outermost first.
pub(crate) type Path = SmallVec<[(FrameId, u64); 4]>;

/// A moment of a run: the rank of each loop around and the iteration, then the rank of the node. Compares as
/// time would pass.
pub(crate) type Moment = SmallVec<[u64; 8]>;

/// The ranks of nodes and loops. A node's dependencies have lower ranks. Ranks in different loops do not
/// compare.
pub(crate) struct Order {
    nodes: Dense<Index, u32>,
    frames: Dense<FrameId, u32>,
}

entity! {
    /// Something that has a rank: a node, or a loop, which is one thing to the nodes around it.
    struct Item = "item";
}

/// The frame whose iterations a node runs in: an Enter runs outside of the frame it enters, an Exit inside of
/// the one it leaves.
pub(crate) fn run_frame(program: &Program, n: Index) -> FrameId {
    let node = program.node(n);
    match node.role() {
        Role::Enter => program.frames()[node.frame].parent,
        Role::Exit => node.inputs.first().map_or(FrameId::ROOT, |s| program.node(s.node).frame),
        _ => node.frame,
    }
}

/// The dependencies among items.
struct Dependencies<'a> {
    program: &'a Program,
    edges: Vec<(u32, u32)>,
}

impl Order {
    /// The order of a program. Of each pair of `afterwards` the second node waits for the first, too.
    pub(crate) fn new(program: &Program, afterwards: &[(Index, Index)]) -> Order {
        let Dependencies { edges, .. } = Dependencies::of(program, afterwards);
        let place = places(program);
        let sorted = topological(place.len(), &edges, |i| place[Item::new(i as usize)]);
        // A loop that is entered with a result of its own has no rank, and comes last.
        let mut ranks: Dense<Item, u32> = Dense::filled(u32::MAX, place.len());
        for (rank, i) in (1..).zip(sorted.order) {
            ranks[Item::new(i as usize)] = rank;
        }
        let (nodes, frames) = ranks.as_slice().split_at(program.nodes().len());
        Order { nodes: nodes.to_vec().into(), frames: frames.to_vec().into() }
    }

    /// The moment at which a node runs.
    pub(crate) fn moment(&self, path: &[(FrameId, u64)], node: Index) -> Moment {
        self.within(path, [self.nodes[node].into()])
    }

    /// The moment before anything runs in an iteration.
    pub(crate) fn start(&self, path: &[(FrameId, u64)]) -> Moment {
        self.within(path, [0])
    }

    /// The moment when a loop in an iteration is over.
    pub(crate) fn end(&self, path: &[(FrameId, u64)], frame: FrameId) -> Moment {
        self.within(path, [self.frames[frame].into(), u64::MAX])
    }

    fn within<const N: usize>(&self, path: &[(FrameId, u64)], then: [u64; N]) -> Moment {
        let loops = path.iter().flat_map(|&(frame, iteration)| [self.frames[frame].into(), iteration]);
        loops.chain(then).collect()
    }
}

/// Nodes are numbered first, then frames.
fn node_item(n: Index) -> Item {
    Item::new(n.index())
}

fn frame_item(program: &Program, frame: FrameId) -> Item {
    Item::new(program.nodes().len() + frame.index())
}

impl<'a> Dependencies<'a> {
    fn of(program: &'a Program, afterwards: &[(Index, Index)]) -> Dependencies<'a> {
        let mut all = Dependencies { program, edges: Vec::with_capacity(2 * program.nodes().len()) };
        for (n, node) in program.nodes().entries() {
            let back = program.back_edge(n);
            let data = node.inputs.iter().enumerate().filter(|(i, _)| back != Some(*i)).map(|(_, s)| s.node);
            data.chain(node.controls.iter().copied()).for_each(|from| all.add(from, n));
        }
        afterwards.iter().for_each(|&(from, to)| all.add(from, to));
        all
    }

    /// Adds a dependency between nodes, as the frame sees it that is around both: loops in it are items as a
    /// whole.
    fn add(&mut self, from: Index, to: Index) {
        let frames = self.program.frames();
        let mut a = (node_item(from), run_frame(self.program, from));
        let mut b = (node_item(to), run_frame(self.program, to));
        while a.1 != b.1 {
            let deeper = if frames[a.1].depth > frames[b.1].depth { &mut a } else { &mut b };
            *deeper = (frame_item(self.program, deeper.1), frames[deeper.1].parent);
        }
        if a.0 != b.0 {
            self.edges.push((a.0.index() as u32, b.0.index() as u32));
        }
    }
}

/// The order where dependencies do not decide: that of the program, a loop where its first node is.
fn places(program: &Program) -> Dense<Item, u32> {
    let mut place = Dense::filled(u32::MAX, program.nodes().len() + program.frames().len());
    for (i, &n) in program.order().iter().enumerate().rev() {
        place[node_item(n)] = i as u32;
        let mut frame = run_frame(program, n);
        while frame != FrameId::ROOT && place[frame_item(program, frame)] != i as u32 {
            place[frame_item(program, frame)] = i as u32;
            frame = program.frames()[frame].parent;
        }
    }
    place
}
