//! From the loop tree to code: which loops are regions, and their instructions.

mod branches;
mod emit;
mod facts;
mod front;
mod loops;
mod ops;

use super::Way;
use super::code::Code;
use super::late::Given;
use facts::{Facts, order_of};
pub(crate) use facts::{MOST_SAID, Premises};
pub(crate) use front::raise_front;
use loops::Raiser;
use millstream_graph::loops::{LoopId, LoopTree};
use millstream_graph::{Dense, FrameId, Index, Program};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The loops of a program that are regions, and how all loops run.
#[derive(Default)]
pub(crate) struct Raised {
    pub(crate) ways: Dense<FrameId, Way>,
    pub(crate) regions: Vec<Region>,
    /// The loops whose code is made in runs.
    pub(crate) late: Vec<Entering>,
}

/// A loop that is a region.
pub(crate) struct Region {
    pub(crate) frame: FrameId,
    pub(crate) code: Code,
    /// The Enters and Exits, in the order of the code's inputs and outputs.
    pub(crate) enters: Vec<Index>,
    pub(crate) exits: Vec<Index>,
}

/// A loop that becomes code once the values that enter it are there.
pub(crate) struct Entering {
    of: Arc<Whole>,
    id: LoopId,
    pub(crate) frame: FrameId,
    /// Its nodes and those of the loops inside of it, in the order of the program.
    order: Vec<Index>,
    pub(crate) enters: Vec<Index>,
    pub(crate) exits: Vec<Index>,
}

/// A program that is kept, with its loops.
struct Whole {
    program: Program,
    tree: LoopTree<Index>,
}

/// What keeps a loop with the machine: a node, and why.
struct Stays(Index, &'static str);

/// Reasons that the values of a run may do away with.
const UNKNOWN_SHAPE: &str = "has an output whose shape is unknown before the run";
const COMPUTED_SHAPE: &str = "has a shape input that is computed";

type Raise<T> = Result<T, Stays>;

/// Raises every loop that can be: an outer loop with all that is in it, or else the loops inside of it.
pub(crate) fn raise_loops(program: &Program) -> Raised {
    let mut raised =
        Raised { ways: Dense::filled(Way::Machine, program.frames().len()), ..Raised::default() };
    if program.frames().len() == 1 {
        return raised;
    }
    let tree = LoopTree::of(program);
    let looked_at: BTreeSet<Index> = program.every().iter().map(|source| source.node).collect();
    let mut late = Vec::new();
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
            Err(Stays(node, why)) if why == UNKNOWN_SHAPE || why == COMPUTED_SHAPE => {
                raised.ways[frame] = Way::Late(node, why);
                late.push((id, frame));
            }
            Err(Stays(node, why)) => raised.ways[frame] = Way::Because(node, why),
        }
    }
    if !late.is_empty() {
        let of = Arc::new(Whole { program: program.clone(), tree });
        raised.late = late.into_iter().map(|(id, frame)| Entering::new(&of, id, frame)).collect();
    }
    raised
}

/// Raises a loop for these values of its Enters. Returns with the code the Enters on whose values it relies.
pub(crate) fn raise_for(of: &Entering, given: &[Given]) -> (Result<Code, (Index, &'static str)>, Premises) {
    let Whole { program, tree } = &*of.of;
    let facts = Facts::infer(program, &of.order, &of.enters, given);
    loop {
        let before = facts.used();
        let raised = Raiser::new(program, tree).knowing(&facts).raise(of.id, of.frame);
        // What the code relies on it checks, once all of that is known.
        if facts.used() == before || raised.is_err() {
            let raised = raised.map(|region| region.code).map_err(|Stays(node, why)| (node, why));
            return (raised, facts.used());
        }
    }
}

impl Entering {
    fn new(of: &Arc<Whole>, id: LoopId, frame: FrameId) -> Entering {
        let it = &of.tree[id];
        Entering {
            id,
            frame,
            order: order_of(&of.program, &of.tree, id),
            enters: it.variables.iter().map(|v| v.enter).chain(it.invariants.iter().copied()).collect(),
            exits: it.variables.iter().filter_map(|v| v.exit).collect(),
            of: of.clone(),
        }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.of.program
    }

    /// The nodes whose kernels the code may call.
    pub(crate) fn nodes(&self) -> &[Index] {
        &self.order
    }
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
