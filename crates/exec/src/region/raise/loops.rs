//! [`Raiser`]: a loop with its condition, its body, and the loops inside of it.

use super::super::code::{Binding, Block, Code, Held, Instruction, List, Reg};
use super::emit::{Emitter, Guard, both};
use super::facts::Facts;
use super::{Raise, Region, Stays, UNKNOWN_SHAPE};
use millstream_graph::loops::{LoopId, LoopTree, Variable, Why};
use millstream_graph::op::{Effect, Role};
use millstream_graph::{Dense, Entity, FrameId, Index, Program, Source};
use millstream_tensor::{DType, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// The most elements of a value that is held in registers.
pub(super) const MOST_WORDS: usize = 16;
/// The most elements of a value that is held in a block. Work on larger ones is for several threads.
const MOST_ELEMENTS: usize = 1 << 16;

/// A loop on its way to code.
pub(super) struct Raiser<'a> {
    pub program: &'a Program,
    pub tree: &'a LoopTree<Index>,
    pub code: Emitter,
    pub values: BTreeMap<Source, Value>,
    /// What is known besides what the program says.
    pub facts: Option<&'a Facts>,
    /// When each node that was met runs.
    pub runs: BTreeMap<Index, Runs>,
    /// How often each output of a list is read.
    readers: Dense<Index, u32>,
    /// The loops that were written.
    written: BTreeSet<LoopId>,
    /// Whether the condition of a loop is being written: it runs as often as the machine runs it.
    pub in_condition: bool,
    /// The number of nodes being written, each because the one before needs it.
    pub depth: usize,
}

/// A value of the program.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub place: Place,
    pub runs: Runs,
}

/// Where a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// In registers, one for each element.
    Words(Reg, DType, Shape),
    /// In a block: a value of too many elements for registers, or of no numbers that fit into words.
    Block(Block, DType, Shape),
    List(List),
}

/// When a node runs, within an iteration of its loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    /// The predicates that must hold.
    pub guard: Guard,
    /// Only where the loop goes on. Other nodes also run in the last, incomplete iteration.
    pub late: bool,
}

/// A variable of a loop, with its primitives.
#[derive(Clone, Copy, Debug)]
struct Carried {
    enter: Index,
    merge: Index,
    /// `None` if nothing but the condition reads the variable.
    switch: Option<Index>,
    next: Source,
    exit: Option<Index>,
}

fn carried(variable: &Variable<Index>) -> Option<Carried> {
    let Variable { enter, switch, exit, .. } = *variable;
    Some(Carried { enter, merge: variable.merge?, switch, next: variable.next?, exit })
}

impl Runs {
    /// When something runs that needs both.
    pub(super) fn and(&self, other: &Runs) -> Runs {
        Runs { guard: both(&self.guard, &other.guard), late: self.late || other.late }
    }
}

impl<'a> Raiser<'a> {
    pub(super) fn new(program: &'a Program, tree: &'a LoopTree<Index>) -> Raiser<'a> {
        Raiser {
            program,
            tree,
            code: Emitter::default(),
            values: BTreeMap::new(),
            facts: None,
            runs: BTreeMap::new(),
            readers: Dense::new(),
            written: BTreeSet::new(),
            in_condition: false,
            depth: 0,
        }
    }

    /// The same, with what is known of a run.
    pub(super) fn knowing(self, facts: &'a Facts) -> Raiser<'a> {
        Raiser { facts: Some(facts), ..self }
    }

    /// Raises an outermost loop.
    pub(super) fn raise(mut self, id: LoopId, frame: FrameId) -> Raise<Region> {
        let it = &self.tree[id];
        self.check_regular(id)?;
        if it.impure.is_some() {
            self.check_effects(id)?;
        }
        let whole = self.whole(id)?;
        for variable in &whole {
            self.comes_in(variable.enter)?;
        }
        for &enter in &it.invariants {
            let value = self.comes_in(enter)?;
            if let Place::List(_) = value.place {
                return Err(Stays(enter, "enters the loop as a list that no iteration changes"));
            }
        }
        let enters: Vec<Index> = whole.iter().map(|v| v.enter).chain(it.invariants.iter().copied()).collect();
        self.write_loop(id, &whole, true)?;
        self.code.emit(Instruction::End);
        let inputs = enters.iter().map(|n| self.binding(*n, Source { node: *n, index: 0 }));
        let inputs = inputs.collect::<Raise<Vec<Binding>>>()?;
        let exits: Vec<Index> = whole.iter().filter_map(|v| v.exit).collect();
        let outputs = exits.iter().map(|n| self.binding(*n, Source { node: *n, index: 0 }));
        let outputs = outputs.collect::<Raise<Vec<Binding>>>()?;
        let lists = self.code.lists.iter().map(|list| {
            let (dtype, shape) = list.item.as_ref()?;
            let words = if in_words(*dtype, shape) { shape.elements() as u32 } else { 0 };
            (list.pushed != list.popped).then_some(words)
        });
        let lists: Option<Vec<u32>> = lists.collect();
        let first = enters.first().copied().unwrap_or(Index::new(0));
        let leave = outputs.iter().filter_map(|output| match output.held {
            Held::Block(block) => Some(block),
            Held::Words(_) | Held::List(_) => None,
        });
        let tiles = self.code.finish_tiles(leave);
        let tiles = tiles.ok_or(Stays(first, "enters a loop whose steps have no form for many elements"))?;
        self.code.count_units(&tiles);
        let single = self.code.constants.iter().map(|(word, reg)| (*reg, *word));
        let code = Code {
            lists: lists.ok_or(Stays(first, "enters a loop that both grows and shrinks a list"))?,
            instructions: self.code.instructions,
            n_words: self.code.n_words,
            constants: single.chain(self.code.arrays).collect(),
            blocks: self.code.blocks,
            block_constants: self.code.block_constants,
            tiles,
            calls: self.code.calls,
            changes: self.code.changes,
            inputs,
            n_variables: whole.len(),
            outputs,
        };
        Ok(Region { frame, code, enters, exits })
    }

    /// An error if the loop, or one inside of it, is not as `while_loop` makes them.
    fn check_regular(&self, id: LoopId) -> Raise<()> {
        let it = &self.tree[id];
        // A variable that only the condition reads has lost its Switch: nothing needs that.
        if let Some(irregular) = it.irregular.iter().find(|irregular| irregular.why != Why::NoSwitch) {
            return Err(Stays(irregular.node, "does not have the place that `while_loop` gives it"));
        }
        it.children.iter().try_for_each(|inner| self.check_regular(*inner))
    }

    /// An error if a node in the loop does more than compute and change what can be undone.
    fn check_effects(&self, id: LoopId) -> Raise<()> {
        let it = &self.tree[id];
        for &n in &it.nodes {
            let Some(info) = self.program.node(n).info() else { continue };
            let kernel = &info.op.kernel;
            let suits = match info.op.role {
                Role::Compute => kernel.effect == Effect::Pure || kernel.undoable,
                _ => info.output_types.iter().all(|ty| !ty.is_ref),
            };
            if !suits {
                return Err(Stays(n, "does more than compute"));
            }
        }
        it.children.iter().try_for_each(|inner| self.check_effects(*inner))
    }

    /// The variables of a loop, all of whose primitives must be there.
    fn whole(&self, id: LoopId) -> Raise<Vec<Carried>> {
        let whole = |v: &Variable<Index>| {
            carried(v).ok_or(Stays(v.enter, "enters the loop as an incomplete loop variable"))
        };
        self.tree[id].variables.iter().map(whole).collect()
    }

    /// Room for a value that comes into the outermost loop.
    fn comes_in(&mut self, enter: Index) -> Raise<Value> {
        let source = Source { node: enter, index: 0 };
        let place = match self.dtype(source)? {
            DType::Variant => Place::List(self.code.list()),
            DType::Resource => self.room(DType::Resource, Shape::from([])),
            dtype => {
                let shape = self.shape(source)?;
                self.room(dtype, shape)
            }
        };
        let value = Value { place, runs: Runs::default() };
        self.values.insert(source, value.clone());
        Ok(value)
    }

    /// Room for a value.
    pub(super) fn room(&mut self, dtype: DType, shape: Shape) -> Place {
        match in_words(dtype, &shape) {
            true => Place::Words(self.code.words(shape.elements()), dtype, shape),
            false => Place::Block(self.code.block(dtype, shape.clone()), dtype, shape),
        }
    }

    fn binding(&self, node: Index, source: Source) -> Raise<Binding> {
        match self.values.get(&source).map(|value| &value.place) {
            Some(Place::Words(reg, dtype, shape)) => {
                Ok(Binding { dtype: *dtype, shape: shape.clone(), held: Held::Words(*reg) })
            }
            Some(Place::Block(block, dtype, shape)) => {
                Ok(Binding { dtype: *dtype, shape: shape.clone(), held: Held::Block(*block) })
            }
            Some(Place::List(list)) => {
                let item = self.code.lists[list.index()].item.clone();
                let (dtype, shape) = item.ok_or(Stays(node, "is a list that the loop does not use"))?;
                Ok(Binding { dtype, shape, held: Held::List(*list) })
            }
            None => Err(Stays(node, "has no value inside the loop")),
        }
    }

    /// The dtype of an output.
    pub(super) fn dtype(&self, source: Source) -> Raise<DType> {
        let info = self.program.node(source.node).info();
        let ty = info.and_then(|info| info.output_types.get(source.index as usize));
        match ty {
            Some(ty) if !ty.is_ref => Ok(ty.dtype),
            _ => Err(Stays(source.node, "has a reference to a variable as output")),
        }
    }

    /// The shape of an output, which must be known and not large. Handles are scalars, though TensorFlow
    /// writes other shapes into graphs.
    pub(super) fn shape(&self, source: Source) -> Raise<Shape> {
        if self.dtype(source)? == DType::Resource {
            return Ok(Shape::from([]));
        }
        let known = self.facts.and_then(|facts| facts.shape(source));
        let shape = known.or_else(|| self.program.node(source.node).shapes.get(source.index as usize));
        let shape = shape.and_then(|shape| shape.full());
        match shape {
            None => Err(Stays(source.node, UNKNOWN_SHAPE)),
            Some(shape) if shape.elements() > MOST_ELEMENTS => {
                Err(Stays(source.node, "has an output of more than 65,536 elements"))
            }
            Some(shape) => Ok(shape),
        }
    }

    /// Writes a loop whose variables and invariants are in place.
    fn write_loop(&mut self, id: LoopId, whole: &[Carried], outermost: bool) -> Raise<()> {
        let it = &self.tree[id];
        let Some(condition) = &it.condition else {
            return Err(Stays(
                whole.first().map_or(Index::new(0), |v| v.enter),
                "enters a loop without a condition",
            ));
        };
        self.written.insert(id);
        let outside = self.code.blocks.len();
        let guards = std::mem::take(&mut self.code.guards);
        for variable in whole {
            let value = self.values[&Source { node: variable.enter, index: 0 }].clone();
            if let Place::List(_) = value.place {
                self.read_once(Source { node: variable.merge, index: 0 })?;
            }
            self.values.insert(Source { node: variable.merge, index: 0 }, value.clone());
            let late = Runs { guard: Guard::new(), late: true };
            let inside = Value { place: value.place.clone(), runs: late };
            if let Some(switch) = variable.switch {
                self.values.insert(Source { node: switch, index: 1 }, inside);
            }
        }
        let top = self.code.emit(Instruction::Loop { outermost, units: 0 });
        let in_condition: BTreeSet<Index> = condition.nodes.iter().copied().collect();
        let around = std::mem::replace(&mut self.in_condition, true);
        for &node in &condition.nodes {
            self.write_node(node)?;
        }
        self.in_condition = around;
        let decision = self.value(condition.value)?;
        self.runs.insert(condition.node, decision.runs.clone());
        self.values.insert(Source { node: condition.node, index: 0 }, decision.clone());
        let Place::Words(decides, DType::Bool, shape) = &decision.place else {
            return Err(Stays(condition.node, "has a condition that is not a bool"));
        };
        if shape.rank() > 0 || !decision.runs.guard.is_empty() || decision.runs.late {
            return Err(Stays(
                condition.node,
                "has a condition that is not a scalar, or is not computed in every iteration",
            ));
        }
        let leave = self.code.emit(Instruction::Unless { condition: *decides, to: 0 });
        for &node in it.nodes.iter().filter(|n| !in_condition.contains(n)) {
            self.write_node(node)?;
        }
        self.write_moves(whole, outside)?;
        self.code.emit(Instruction::Jump { to: top });
        self.code.aim(leave);
        self.code.guards = guards;
        for variable in whole {
            if let Some(exit) = variable.exit {
                let enter = self.values[&Source { node: variable.enter, index: 0 }].clone();
                self.values.insert(Source { node: exit, index: 0 }, enter);
            }
        }
        Ok(())
    }

    /// Gives the variables their values for the next iteration, all at once. Blocks from `outside` on were
    /// made in this loop.
    fn write_moves(&mut self, whole: &[Carried], outside: usize) -> Raise<()> {
        let mut moves: Vec<(Reg, Reg)> = Vec::new();
        let mut blocks: Vec<(Block, Block)> = Vec::new();
        for variable in whole {
            let enter = self.values[&Source { node: variable.enter, index: 0 }].clone();
            let next = self.value(variable.next)?;
            // Without a Switch, the last iteration might pass a value on.
            let ends = variable.switch.is_some() || next.runs.late;
            if !next.runs.guard.is_empty() || !ends {
                return Err(Stays(
                    variable.next.node,
                    "is not computed in every iteration, but the next iteration needs it",
                ));
            }
            match (&enter.place, &next.place) {
                (Place::Words(to, d, s), Place::Words(from, e, t)) if d == e && s == t => {
                    let all = (0..s.elements()).map(|i| (at(*to, i), at(*from, i)));
                    moves.extend(all.filter(|(to, from)| to != from));
                }
                (Place::List(a), Place::List(b)) if a == b => {}
                (Place::Block(to, d, s), Place::Block(from, e, t)) if d == e && s == t => {
                    blocks.extend((to != from).then_some((*to, *from)));
                }
                _ => {
                    return Err(Stays(
                        variable.next.node,
                        "passes a value of another kind to the next iteration",
                    ));
                }
            }
        }
        let overwritten: BTreeSet<Reg> = moves.iter().map(|(to, _)| *to).collect();
        for (_, from) in &mut moves {
            if overwritten.contains(from) {
                let kept = self.code.words(1);
                self.code.emit(Instruction::Copy { to: kept, from: *from });
                *from = kept;
            }
        }
        for (to, from) in moves {
            self.code.emit(Instruction::Copy { to, from });
        }
        self.move_blocks(blocks, outside);
        Ok(())
    }

    /// A block that was made for one variable last of all is written in its place. One that was made earlier
    /// changes places with it, so that the next iteration has somewhere to write. Others are shared.
    fn move_blocks(&mut self, mut moves: Vec<(Block, Block)>, outside: usize) {
        let overwritten: BTreeSet<Block> = moves.iter().map(|(to, _)| *to).collect();
        let sources: Vec<Block> = moves.iter().map(|(_, from)| *from).collect();
        let constants: BTreeSet<Block> = self.code.block_constants.iter().map(|(block, _)| *block).collect();
        let made = |from: Block| {
            let once = sources.iter().filter(|source| **source == from).count() == 1;
            outside <= from.index() && once && !overwritten.contains(&from) && !constants.contains(&from)
        };
        for (_, from) in &mut moves {
            if overwritten.contains(from) {
                let (dtype, shape) = self.code.blocks[from.index()].clone();
                let kept = self.code.block(dtype, shape);
                self.code.emit(Instruction::Share { to: kept, from: *from });
                *from = kept;
            }
        }
        let mut left = Vec::new();
        for ((to, from), source) in moves.into_iter().zip(&sources) {
            if !(made(*source) && !sources.contains(&to) && self.code.in_place(to, from)) {
                left.push((to, from, *source));
            }
        }
        for (to, from, source) in left {
            self.code.emit(match made(source) {
                true => Instruction::Swap { a: to, b: from },
                false => Instruction::Share { to, from },
            });
        }
    }

    /// Writes a loop inside of the one being written, if that has not been done.
    pub(super) fn write_inner(&mut self, id: LoopId) -> Raise<()> {
        if self.written.contains(&id) {
            return Ok(());
        }
        let it = &self.tree[id];
        let whole = self.whole(id)?;
        let mut runs: Option<Runs> = None;
        let mut initial = Vec::new();
        for variable in &whole {
            let value = self.entering(variable.enter)?;
            match &runs {
                Some(runs) if runs.guard != value.runs.guard => {
                    return Err(Stays(
                        variable.enter,
                        "enters the loop under another condition than the other loop variables",
                    ));
                }
                Some(_) => {}
                None => runs = Some(value.runs.clone()),
            }
            initial.push(value);
        }
        let mut runs = runs.unwrap_or_default();
        runs.late |= initial.iter().any(|value| value.runs.late);
        for &enter in &it.invariants {
            let value = self.entering(enter)?;
            if both(&runs.guard, &value.runs.guard) != runs.guard {
                return Err(Stays(
                    enter,
                    "enters the loop under another condition than the other loop variables",
                ));
            }
            if let Place::List(_) = value.place {
                return Err(Stays(enter, "enters the loop as a list that no iteration changes"));
            }
            runs.late |= value.runs.late;
            let inside = Value { place: value.place, runs: Runs::default() };
            self.values.insert(Source { node: enter, index: 0 }, inside);
        }
        let skip = self
            .code
            .met(&runs.guard)
            .map(|condition| self.code.emit(Instruction::Unless { condition, to: 0 }));
        for (variable, value) in whole.iter().zip(initial) {
            let place = match value.place {
                Place::Words(from, dtype, shape) => {
                    let to = self.code.words(shape.elements());
                    for i in 0..shape.elements() {
                        self.code.emit(Instruction::Copy { to: at(to, i), from: at(from, i) });
                    }
                    Place::Words(to, dtype, shape)
                }
                Place::Block(from, dtype, shape) => {
                    let to = self.code.block(dtype, shape.clone());
                    self.code.emit(Instruction::Share { to, from });
                    Place::Block(to, dtype, shape)
                }
                list => list,
            };
            let entered = Value { place, runs: Runs::default() };
            self.values.insert(Source { node: variable.enter, index: 0 }, entered);
        }
        self.write_loop(id, &whole, false)?;
        if let Some(skip) = skip {
            self.code.aim(skip);
        }
        for exit in whole.iter().filter_map(|variable| variable.exit) {
            if let Some(value) = self.values.get_mut(&Source { node: exit, index: 0 }) {
                value.runs = runs.clone();
            }
            self.runs.insert(exit, runs.clone());
        }
        Ok(())
    }

    /// The value that an Enter takes into an inner loop.
    fn entering(&mut self, enter: Index) -> Raise<Value> {
        let node = self.program.node(enter);
        let Some(&source) = node.inputs.first() else { return Err(Stays(enter, "has no input")) };
        let mut value = self.value(source)?;
        for control in node.controls.clone() {
            value.runs = value.runs.and(&self.when(control)?);
        }
        if let Place::Words(_, _, shape) | Place::Block(_, _, shape) = &value.place
            && *shape != self.shape(Source { node: enter, index: 0 })?
        {
            return Err(Stays(enter, "enters the loop with another shape than its input has"));
        }
        Ok(value)
    }

    /// An error unless a list is read by one node only: it is changed in place.
    pub(super) fn read_once(&mut self, source: Source) -> Raise<()> {
        if self.readers.is_empty() {
            let mut readers = Dense::filled(0, self.program.nodes().len());
            for input in self.program.nodes().iter().flat_map(|node| &node.inputs) {
                readers[input.node] += 1;
            }
            self.readers = readers;
        }
        // A Switch and a popping node have two outputs, each of which may be read.
        let node = self.program.node(source.node);
        let of_it = |n: &&Source| **n == source;
        let count = match node.n_outputs() {
            1 => self.readers[source.node] as usize,
            _ => self.program.nodes().iter().flat_map(|n| &n.inputs).filter(of_it).count(),
        };
        match count {
            0 | 1 => Ok(()),
            _ => Err(Stays(source.node, "has a list as output that is read more than once")),
        }
    }

    /// When a node runs whose outputs may not be needed.
    pub(super) fn when(&mut self, node: Index) -> Raise<Runs> {
        if !self.runs.contains_key(&node) {
            self.write_node(node)?;
        }
        let role = self.program.node(node).role();
        match self.runs.get(&node) {
            Some(runs) => Ok(runs.clone()),
            None if matches!(role, Role::Enter | Role::Merge) => Ok(Runs::default()),
            None => Err(Stays(node, "has control edges that compiled code does not support")),
        }
    }

    /// A value, written if it has not been.
    pub(super) fn value(&mut self, source: Source) -> Raise<Value> {
        if !self.values.contains_key(&source) {
            self.write_node(source.node)?;
        }
        let missing = Stays(source.node, "has an output that compiled code does not support");
        self.values.get(&source).cloned().ok_or(missing)
    }
}

/// Whether a value of this type is held in registers.
pub(super) fn in_words(dtype: DType, shape: &Shape) -> bool {
    dtype.is_word() && shape.elements() <= MOST_WORDS
}

/// Register `i` of a value.
pub(super) fn at(first: Reg, i: usize) -> Reg {
    Reg::new(first.index() + i)
}
