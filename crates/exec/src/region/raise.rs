//! From the loop tree to code: which loops are regions, and their instructions.

mod branches;
mod emit;
mod front;
mod loops;
mod ops;

use super::Way;
use super::code::Code;
pub(crate) use front::raise_front;
use loops::Raiser;
use millstream_graph::loops::{LoopId, LoopTree};
use millstream_graph::{Dense, FrameId, Index, Program};
use std::collections::BTreeSet;

/// The loops of a program that are regions, and how all loops run.
pub(crate) struct Raised {
    pub(crate) ways: Dense<FrameId, Way>,
    pub(crate) regions: Vec<Region>,
}

/// A loop that is a region.
pub(crate) struct Region {
    pub(crate) frame: FrameId,
    pub(crate) code: Code,
    /// The Enters and Exits, in the order of the code's inputs and outputs.
    pub(crate) enters: Vec<Index>,
    pub(crate) exits: Vec<Index>,
}

/// What keeps a loop with the machine: a node, and why.
struct Stays(Index, &'static str);

type Raise<T> = Result<T, Stays>;

/// Raises every loop that can be: an outer loop with all that is in it, or else the loops inside of it.
pub(crate) fn raise_loops(program: &Program) -> Raised {
    let mut raised =
        Raised { ways: Dense::filled(Way::Machine, program.frames().len()), regions: Vec::new() };
    if program.frames().len() == 1 {
        return raised;
    }
    let tree = LoopTree::of(program);
    let looked_at: BTreeSet<Index> = program.every().iter().map(|source| source.node).collect();
    for (id, it) in tree.iter() {
        let Some(frame) = it.nodes.first().map(|n| program.node(*n).frame) else { continue };
        if raised.ways[frame] == Way::Within {
            continue;
        }
        let mut all = it.nodes.iter().chain(inside(&tree, id).flat_map(|inner| &tree[inner].nodes));
        let result = match all.find(|n| looked_at.contains(n)) {
            Some(node) => Err(Stays(*node, "is fetched in every iteration")),
            None => Raiser::new(program, &tree).raise(id, frame),
        };
        match result {
            Ok(region) => {
                raised.ways[frame] = Way::Region;
                inside(&tree, id).for_each(|inner| {
                    if let Some(n) = tree[inner].nodes.first() {
                        raised.ways[program.node(*n).frame] = Way::Within;
                    }
                });
                raised.regions.push(region);
            }
            Err(Stays(node, why)) => raised.ways[frame] = Way::Because(node, why),
        }
    }
    raised
}

/// The loops inside of a loop, at any depth.
fn inside(tree: &LoopTree<Index>, id: LoopId) -> impl Iterator<Item = LoopId> {
    let mut work = tree[id].children.clone();
    std::iter::from_fn(move || {
        let next = work.pop()?;
        work.extend(&tree[next].children);
        Some(next)
    })
}
