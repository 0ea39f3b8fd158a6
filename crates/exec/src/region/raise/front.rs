//! The front of a program: the elementwise nodes outside of loops that need nothing but feeds and constants.

use super::super::code::{Binding, Code, Held, Instruction};
use super::Raise;
use super::loops::{MOST_WORDS, Place, Raiser, Runs, Value};
use millstream_graph::loops::LoopTree;
use millstream_graph::op::{Effect, Lowering, Role};
use millstream_graph::{Dense, FrameId, Index, Program, ProgramKind, Source};
use millstream_tensor::PartialShape;

/// Fewer nodes are not worth the way in and out.
const FEWEST: usize = 32;
/// More nodes are not looked at: the code would be too long.
const MOST: usize = 20_000;

/// The front of a program as code.
pub(crate) struct Front<'a> {
    raiser: Raiser<'a>,
    inputs: Vec<Binding>,
    /// The feed that each input of the code is.
    pub(crate) feeds: Vec<usize>,
    /// The nodes that the code computes.
    pub(crate) nodes: Dense<Index, bool>,
}

/// Raises the front of a program; `None` if it is too small.
pub(crate) fn raise_front<'a>(program: &'a Program, tree: &'a LoopTree<Index>) -> Option<Front<'a>> {
    let nodes = candidates(program)?;
    let mut front = Front {
        raiser: Raiser::new(program, tree),
        inputs: Vec::new(),
        feeds: Vec::new(),
        nodes: Dense::filled(false, program.nodes().len()),
    };
    let mut count = 0;
    for &n in program.order().iter().filter(|n| nodes[**n]) {
        // What makes the code too large stays with the machine, and so does what reads it.
        let reads_others = program.node(n).inputs.iter().any(|source| !front.nodes[source.node]);
        if reads_others || front.write(n).is_err() {
            continue;
        }
        front.nodes[n] = true;
        count += usize::from(program.node(n).role() == Role::Compute && program.node(n).info().is_some());
    }
    (FEWEST <= count).then_some(front)
}

/// The nodes that the code may compute; `None` if they are few.
fn candidates(program: &Program) -> Option<Dense<Index, bool>> {
    let mut found = Dense::filled(false, program.nodes().len());
    let mut count = 0;
    for &n in program.order() {
        if MOST < count {
            break;
        }
        let node = program.node(n);
        let is_small = |shape: &PartialShape| {
            shape.full().is_some_and(|shape| (1..=MOST_WORDS).contains(&shape.elements()))
        };
        let plain = node.frame == FrameId::ROOT
            && node.controls.is_empty()
            && node.shapes.len() == 1
            && is_small(&node.shapes[0])
            && node.inputs.iter().all(|source| found[source.node] && source.index == 0);
        let info = match &node.kind {
            ProgramKind::Node(info) => info,
            ProgramKind::Feed(_, _, dtype) => {
                found[n] = plain && dtype.is_word();
                continue;
            }
        };
        let has_words = info.output_types.iter().all(|ty| !ty.is_ref && ty.dtype.is_word());
        let refs = (0..node.inputs.len()).any(|i| program.reads_reference(n, i));
        found[n] = plain
            && has_words
            && !refs
            && match node.role() {
                Role::Const | Role::Identity => true,
                Role::Compute => {
                    let kernel = &info.op.kernel;
                    let lowering = kernel.lowering.and_then(|pick| pick(info));
                    let suits = matches!(lowering, Some(Lowering::Elements(_) | Lowering::Broadcast(_)));
                    count += usize::from(suits);
                    suits && kernel.effect == Effect::Pure
                }
                _ => false,
            };
    }
    (FEWEST <= count).then_some(found)
}

impl Front<'_> {
    fn write(&mut self, n: Index) -> Raise<()> {
        let program = self.raiser.program;
        let (feed, dtype) = match &program.node(n).kind {
            ProgramKind::Node(_) => return self.raiser.write_node(n),
            ProgramKind::Feed(feed, _, dtype) => (*feed, *dtype),
        };
        let Some(shape) = program.node(n).shapes[0].full() else { return Ok(()) };
        let place = self.raiser.room(dtype, shape.clone());
        let held = match &place {
            Place::Words(reg, ..) => Held::Words(*reg),
            Place::Block(block, ..) => Held::Block(*block),
            Place::List(list) => Held::List(*list),
        };
        self.inputs.push(Binding { dtype, shape, held });
        self.feeds.push(feed);
        // Nothing here depends on whether a loop goes on.
        let runs = Runs { late: true, ..Runs::default() };
        self.raiser.values.insert(Source { node: n, index: 0 }, Value { place, runs });
        Ok(())
    }

    /// The code that gives the values of these nodes.
    pub(crate) fn code(mut self, outputs: &[Index]) -> Option<Code> {
        self.raiser.code.emit(Instruction::End);
        let bound = |n: &Index| -> Option<Binding> {
            let source = Source { node: *n, index: 0 };
            match &self.raiser.values.get(&source)?.place {
                Place::Words(reg, dtype, shape) => {
                    Some(Binding { dtype: *dtype, shape: shape.clone(), held: Held::Words(*reg) })
                }
                Place::Block(..) | Place::List(_) => None,
            }
        };
        let outputs: Option<Vec<Binding>> = outputs.iter().map(bound).collect();
        let emitter = self.raiser.code;
        if !emitter.calls.is_empty() || !emitter.blocks.is_empty() || !emitter.lists.is_empty() {
            return None;
        }
        let single = emitter.constants.iter().map(|(word, reg)| (*reg, *word));
        Some(Code {
            constants: single.chain(emitter.arrays).collect(),
            instructions: emitter.instructions,
            n_words: emitter.n_words,
            lists: Vec::new(),
            blocks: Vec::new(),
            block_constants: Vec::new(),
            tiles: Vec::new(),
            calls: Vec::new(),
            changes: false,
            inputs: self.inputs,
            n_variables: 0,
            outputs: outputs?,
        })
    }
}
