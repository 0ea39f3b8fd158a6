//! [`Emitter`]: instructions, registers and guards.

use super::super::blocks::{TileInput, Tiles};
use super::super::code::{Block, Call, CallId, Instruction, List, Passed, Reg, TilesId};
use super::{Raise, Stays};
use crate::tiles::{At, TileProgram, TileWriter};
use millstream_graph::op::expression::{Expression, Operand, Operation};
use millstream_graph::{Entity, Index};
use millstream_tensor::{DType, Shape, Tensor};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// The most instructions of a region, which bounds the time that compiling it takes.
const MOST_INSTRUCTIONS: usize = 20_000;
/// The most elementwise ops that are computed together.
const MOST_TOGETHER: usize = 64;
/// The most registers of a region.
const MOST_WORDS: usize = 1 << 14;

/// The predicates under which something runs, each with the value it must have, in order.
pub(super) type Guard = SmallVec<[(Reg, bool); 2]>;

/// What a region does with a list, found as its ops are met.
#[derive(Clone, Debug)]
pub(super) struct ListUse {
    pub item: Option<(DType, Shape)>,
    pub pushed: bool,
    pub popped: bool,
}

/// An elementwise op on blocks: it computes one.
#[derive(Clone, Debug)]
pub(super) struct OnBlocks {
    pub expression: Expression,
    pub inputs: SmallVec<[TileInput; 3]>,
    pub to: Block,
}

/// Code being written.
#[derive(Default)]
pub(super) struct Emitter {
    pub instructions: Vec<Instruction>,
    pub n_words: usize,
    pub lists: Vec<ListUse>,
    pub constants: BTreeMap<u64, Reg>,
    /// The registers of constants of several elements.
    pub arrays: Vec<(Reg, u64)>,
    /// The dtype and shape of each block.
    pub blocks: Vec<(DType, Shape)>,
    pub block_constants: Vec<(Block, Tensor)>,
    pub calls: Vec<Call>,
    /// Whether a call changes what outlives an iteration.
    pub changes: bool,
    /// The elementwise ops that each [`Instruction::Tiles`] computes.
    tiles: Vec<Vec<OnBlocks>>,
    /// Blocks that are written in the place of a variable.
    becomes: BTreeMap<Block, Block>,
    /// The registers that hold whether a guard is met. Valid in the loop being written.
    pub guards: BTreeMap<Guard, Reg>,
}

impl Emitter {
    /// Consecutive registers.
    pub(super) fn words(&mut self, n: usize) -> Reg {
        let first = Reg::new(self.n_words);
        self.n_words += n;
        first
    }

    pub(super) fn block(&mut self, dtype: DType, shape: Shape) -> Block {
        self.blocks.push((dtype, shape));
        Block::new(self.blocks.len() - 1)
    }

    /// Computes a block: together with the last ones if these have as many elements, and nothing but words
    /// was computed since.
    pub(super) fn on_blocks(&mut self, op: OnBlocks) {
        let n = |block: Block| self.blocks[block.index()].1.elements();
        let before = self.instructions.iter().enumerate().rev().find_map(|(i, it)| match it {
            Instruction::Compute { .. } => None,
            Instruction::Tiles { tiles } => Some(Some((i, *tiles))),
            _ => Some(None),
        });
        let last = self.instructions.len().wrapping_sub(1);
        let joins = before.flatten().filter(|(_, tiles)| {
            let ops = &self.tiles[tiles.index()];
            ops.len() < MOST_TOGETHER && ops.first().is_some_and(|first| n(first.to) == n(op.to))
        });
        match joins {
            Some((i, tiles)) if i == last => self.tiles[tiles.index()].push(op),
            Some((_, tiles)) => {
                // They move here, behind the words that this one reads.
                let mut ops = std::mem::take(&mut self.tiles[tiles.index()]);
                ops.push(op);
                self.emit_tiles(ops);
            }
            None => self.emit_tiles(vec![op]),
        }
    }

    /// Lets a block that was just computed be written in the place of a variable, whose value nothing needs
    /// any more. Returns whether it can be: the variable must keep its value until nothing more can fail.
    pub(super) fn in_place(&mut self, variable: Block, next: Block) -> bool {
        let last = self.instructions.iter().rev().find_map(|it| match it {
            Instruction::Compute { .. } | Instruction::Copy { .. } => None,
            Instruction::Tiles { tiles } => Some(Some(*tiles)),
            _ => Some(None),
        });
        let fits = last.flatten().is_some_and(|tiles| {
            let ops = &self.tiles[tiles.index()];
            let spread = ops.iter().flat_map(|op| &op.inputs).any(|input| match input {
                TileInput::Spread(block, _) => *block == variable,
                TileInput::Whole(_) | TileInput::Word(..) => false,
            });
            !spread && ops.iter().any(|op| op.to == next)
        });
        if fits {
            self.becomes.insert(next, variable);
        }
        fits
    }

    pub(super) fn call(&mut self, call: Call) {
        self.calls.push(call);
        let call = CallId::new(self.calls.len() - 1);
        self.emit(Instruction::Call { call });
    }

    fn emit_tiles(&mut self, ops: Vec<OnBlocks>) {
        self.tiles.push(ops);
        let tiles = TilesId::new(self.tiles.len() - 1);
        self.emit(Instruction::Tiles { tiles });
    }

    /// The programs of all elementwise ops on blocks. Blocks that nothing else reads stay within them; `kept`
    /// are those that leave the region. `None` if an op cannot be computed by tiles.
    pub(super) fn finish_tiles(&mut self, kept: impl Iterator<Item = Block>) -> Option<Vec<Tiles>> {
        let mut read: BTreeSet<Block> = kept.collect();
        for instruction in &self.instructions {
            match *instruction {
                Instruction::Share { from, .. } | Instruction::PushBlock { from, .. } => read.extend([from]),
                Instruction::Swap { a, b } => read.extend([a, b]),
                _ => {}
            }
        }
        for input in self.calls.iter().flat_map(|call| &call.inputs) {
            if let Passed::Block(block) = input {
                read.insert(*block);
            }
        }
        for ops in &self.tiles {
            let inside: BTreeSet<Block> = ops.iter().map(|op| op.to).collect();
            let blocks = ops.iter().flat_map(|op| &op.inputs).filter_map(TileInput::block);
            read.extend(blocks.filter(|block| !inside.contains(block)));
        }
        self.tiles.iter().map(|ops| self.program(ops, &read)).collect()
    }

    /// Gives each loop the units of an iteration. What is in inner loops is counted in the outer ones too,
    /// once: they cost at least that.
    pub(super) fn count_units(&mut self, tiles: &[Tiles]) {
        let costs: Vec<u32> = self.instructions.iter().map(|it| it.units(tiles, &self.calls)).collect();
        for i in 0..self.instructions.len() {
            let back =
                self.instructions.iter().rposition(|it| matches!(it, Instruction::Jump { to } if *to == i));
            if let (Instruction::Loop { units, .. }, Some(back)) = (&mut self.instructions[i], back) {
                *units = costs[i..=back].iter().fold(0, |all: u32, it| all.saturating_add(*it));
            }
        }
    }

    fn program(&self, ops: &[OnBlocks], read: &BTreeSet<Block>) -> Option<Tiles> {
        let mut writer = TileWriter::default();
        let mut inputs: Vec<TileInput> = Vec::new();
        let mut values: BTreeMap<Block, At> = BTreeMap::new();
        let mut outputs = Vec::new();
        for op in ops {
            let mut given: SmallVec<[At; 3]> = SmallVec::new();
            for input in &op.inputs {
                let inside = match input {
                    TileInput::Whole(block) => values.get(block).copied(),
                    _ => None,
                };
                given.push(match inside {
                    Some(at) => at,
                    None => {
                        let place = inputs.iter().position(|it| it.is(input)).unwrap_or_else(|| {
                            inputs.push(input.clone());
                            inputs.len() - 1
                        });
                        At::Input(u16::try_from(place).ok()?)
                    }
                });
            }
            let dtype = self.blocks[op.to.index()].0;
            let Expression { steps, value, .. } = &op.expression;
            let at = writer.expression(steps, *value, &given, dtype)?;
            values.insert(op.to, at);
            match self.becomes.get(&op.to) {
                Some(variable) => outputs.push((*variable, at)),
                None if read.contains(&op.to) => outputs.push((op.to, at)),
                None => {}
            }
        }
        let n = ops.first().map_or(0, |op| self.blocks[op.to.index()].1.elements());
        let program = match ops.is_empty() {
            true => TileProgram::default(),
            false => {
                let place = |block: Block| inputs.iter().position(|it| it.is(&TileInput::Whole(block)));
                let outputs = outputs.iter().map(|(block, at)| (*at, place(*block).map(|i| i as u16)));
                writer.finish(&outputs.collect::<Vec<_>>())
            }
        };
        Some(Tiles { program, inputs, outputs: outputs.into_iter().map(|(block, _)| block).collect(), n })
    }

    pub(super) fn list(&mut self) -> List {
        self.lists.push(ListUse { item: None, pushed: false, popped: false });
        List::new(self.lists.len() - 1)
    }

    pub(super) fn constant(&mut self, word: u64) -> Reg {
        if let Some(reg) = self.constants.get(&word) {
            return *reg;
        }
        let reg = self.words(1);
        self.constants.insert(word, reg);
        reg
    }

    /// An error once the region has become too large.
    pub(super) fn check(&self, node: Index) -> Raise<()> {
        match self.instructions.len() <= MOST_INSTRUCTIONS && self.n_words <= MOST_WORDS {
            true => Ok(()),
            false => Err(Stays(node, "makes the loop too large to compile")),
        }
    }

    pub(super) fn emit(&mut self, instruction: Instruction) -> usize {
        self.instructions.push(instruction);
        self.instructions.len() - 1
    }

    pub(super) fn compute(&mut self, operation: Operation, operands: &[Reg]) -> Reg {
        let to = self.words(1);
        self.compute_to(to, operation, operands);
        to
    }

    pub(super) fn compute_to(&mut self, to: Reg, operation: Operation, operands: &[Reg]) {
        let mut from = [Reg::new(0); 3];
        from.iter_mut().zip(operands).for_each(|(from, operand)| *from = *operand);
        let n = operands.len() as u8;
        self.emit(Instruction::Compute { operation, to, from, n });
    }

    /// One element of an expression, written to `to`. Returns whether the op fails, where it may.
    pub(super) fn expression(&mut self, expression: &Expression, inputs: &[Reg], to: Reg) -> Option<Reg> {
        let mut results: SmallVec<[Reg; 8]> = SmallVec::new();
        let last = expression.steps.len().wrapping_sub(1);
        for (i, step) in expression.steps.iter().enumerate() {
            let operands: SmallVec<[Reg; 3]> =
                step.operands.iter().map(|operand| self.operand(*operand, inputs, &results)).collect();
            let is_value = expression.value == Operand::Step(i as u32) && i == last;
            let result = if is_value { to } else { self.words(1) };
            self.compute_to(result, step.operation, &operands);
            results.push(result);
        }
        let value = self.operand(expression.value, inputs, &results);
        if value != to {
            self.emit(Instruction::Copy { to, from: value });
        }
        expression.fails.map(|fails| self.operand(fails, inputs, &results))
    }

    fn operand(&mut self, operand: Operand, inputs: &[Reg], results: &[Reg]) -> Reg {
        let found = match operand {
            Operand::Input(i) => inputs.get(i as usize).copied(),
            Operand::Step(i) => results.get(i as usize).copied(),
            Operand::Word(word) => Some(self.constant(word)),
        };
        found.unwrap_or_else(|| self.constant(0))
    }

    /// The register that holds whether a guard is met; none if it always is.
    pub(super) fn met(&mut self, guard: &Guard) -> Option<Reg> {
        if let Some(reg) = self.guards.get(guard) {
            return Some(*reg);
        }
        let (&(predicate, wanted), before) = guard.split_last()?;
        let before: Guard = before.iter().copied().collect();
        let mut met = match wanted {
            true => predicate,
            false => self.compute(Operation::NOT, &[predicate]),
        };
        if let Some(before) = self.met(&before) {
            met = self.compute(Operation::AND, &[before, met]);
        }
        self.guards.insert(guard.clone(), met);
        Some(met)
    }

    /// Fails where `condition` and the guard hold.
    pub(super) fn fail(&mut self, condition: Reg, guard: &Guard) {
        let condition = match self.met(guard) {
            Some(met) => self.compute(Operation::AND, &[condition, met]),
            None => condition,
        };
        self.emit(Instruction::Fail { condition });
    }

    /// Writes what `write` writes so that it only runs where the guard is met.
    pub(super) fn guarded<T>(&mut self, guard: &Guard, write: impl FnOnce(&mut Emitter) -> T) -> T {
        let skip = self.met(guard).map(|condition| self.emit(Instruction::Unless { condition, to: 0 }));
        let result = write(self);
        if let Some(skip) = skip {
            self.aim(skip);
        }
        result
    }

    /// Lets a jump lead to what comes next.
    pub(super) fn aim(&mut self, jump: usize) {
        let here = self.instructions.len();
        if let Instruction::Unless { to, .. } | Instruction::Jump { to } = &mut self.instructions[jump] {
            *to = here;
        }
    }
}

/// Two guards together.
pub(super) fn both(a: &Guard, b: &Guard) -> Guard {
    let mut all: Guard = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}
