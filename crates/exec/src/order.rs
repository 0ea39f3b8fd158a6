//! [`Order`]: the one order in which a program could be run node by node, each loop as a whole. Runs do not keep to it; it says which
//! of two things that happened at the same time comes first.

use millstream_graph::op::Role;
use millstream_graph::{Index, Program};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where something is in the nest of loops: frame and iteration, from the outside in.
pub(crate) type Path = SmallVec<[(u32, u64); 4]>;

/// A moment of a run: for each loop around its rank and the iteration, then the rank of the node. Compares as time would pass.
pub(crate) type Moment = SmallVec<[u64; 8]>;

/// The ranks of nodes and loops. What a node depends on has a lower rank; ranks of what is in different loops mean nothing to each other.
pub(crate) struct Order {
    nodes: Vec<u32>,
    frames: Vec<u32>,
}

/// The frame whose iterations a node runs in: an Enter runs outside of the frame it enters, an Exit inside of the one it leaves.
pub(crate) fn run_frame(program: &Program, n: Index) -> u32 {
    let node = &program.nodes[n as usize];
    match node.role() {
        Role::Enter => program.frames[node.frame as usize].parent,
        Role::Exit => node.inputs.first().map_or(0, |s| program.nodes[s.node as usize].frame),
        _ => node.frame,
    }
}

impl Order {
    /// The order of a program; of each pair of `afterwards` the second waits for the first, too.
    pub(crate) fn new(program: &Program, afterwards: &[(Index, Index)]) -> Order {
        // Nodes, then frames: a loop is one thing to what is around it.
        let (n_nodes, n_items) = (program.nodes.len(), program.nodes.len() + program.frames.len());
        let mut outs: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); n_items];
        let mut waiting = vec![0u32; n_items];
        let mut depend = |from: Index, to: Index| {
            let (from, to) = side_by_side(program, from, to);
            if from != to {
                outs[from as usize].push(to);
                waiting[to as usize] += 1;
            }
        };
        for (n, node) in program.nodes.iter().enumerate() {
            let back = |s: Index| {
                node.role() == Role::Merge && program.nodes[s as usize].role() == Role::NextIteration
            };
            let inputs = node.inputs.iter().map(|s| s.node).filter(|s| !back(*s));
            inputs.chain(node.controls.iter().copied()).for_each(|from| depend(from, n as Index));
        }
        afterwards.iter().for_each(|&(from, to)| depend(from, to));

        // Where nothing else decides, as the program has it: a loop where its first node is.
        let mut place = vec![u32::MAX; n_items];
        for (i, &n) in program.order.iter().enumerate().rev() {
            place[n as usize] = i as u32;
            let mut frame = run_frame(program, n);
            while frame != 0 && place[n_nodes + frame as usize] != i as u32 {
                place[n_nodes + frame as usize] = i as u32;
                frame = program.frames[frame as usize].parent;
            }
        }
        let free = (0..n_items).filter(|&i| waiting[i] == 0);
        let mut ready: BinaryHeap<Reverse<(u32, usize)>> = free.map(|i| Reverse((place[i], i))).collect();
        // A loop that is entered with what comes out of it has no rank, and comes last.
        let mut ranks = vec![u32::MAX; n_items];
        let mut next = 1;
        while let Some(Reverse((_, i))) = ready.pop() {
            ranks[i] = next;
            next += 1;
            for &out in &outs[i] {
                waiting[out as usize] -= 1;
                if waiting[out as usize] == 0 {
                    ready.push(Reverse((place[out as usize], out as usize)));
                }
            }
        }
        let frames = ranks.split_off(n_nodes);
        Order { nodes: ranks, frames }
    }

    /// When a node runs there.
    pub(crate) fn moment(&self, path: &[(u32, u64)], node: Index) -> Moment {
        self.within(path, [self.nodes[node as usize].into()])
    }

    /// Before anything runs there.
    pub(crate) fn start(&self, path: &[(u32, u64)]) -> Moment {
        self.within(path, [0])
    }

    /// When a loop there is over.
    pub(crate) fn end(&self, path: &[(u32, u64)], frame: u32) -> Moment {
        self.within(path, [self.frames[frame as usize].into(), u64::MAX])
    }

    fn within<const N: usize>(&self, path: &[(u32, u64)], then: [u64; N]) -> Moment {
        let loops =
            path.iter().flat_map(|&(frame, iteration)| [self.frames[frame as usize].into(), iteration]);
        loops.chain(then).collect()
    }
}

/// A dependency as those around see it who are in one and the same frame: of nodes, or of loops that hold them.
fn side_by_side(program: &Program, from: Index, to: Index) -> (u32, u32) {
    let loops = program.nodes.len() as u32;
    let (mut a, mut b) = ((from, run_frame(program, from)), (to, run_frame(program, to)));
    while a.1 != b.1 {
        let deeper = match program.frames[a.1 as usize].depth > program.frames[b.1 as usize].depth {
            true => &mut a,
            false => &mut b,
        };
        *deeper = (loops + deeper.1, program.frames[deeper.1 as usize].parent);
    }
    (a.0, b.0)
}
