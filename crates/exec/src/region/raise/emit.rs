//! [`Emitter`]: instructions, registers and guards.

use super::super::code::{Instruction, List, Reg};
use super::{Raise, Stays};
use millstream_graph::op::expression::{Expression, Operand, WordFn, and, not};
use millstream_graph::{Entity, Index};
use millstream_tensor::{DType, Shape};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The most instructions of a region, which bounds the time that compiling it takes.
const MOST_INSTRUCTIONS: usize = 20_000;
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

/// Code being written.
#[derive(Default)]
pub(super) struct Emitter {
    pub instructions: Vec<Instruction>,
    pub n_words: usize,
    pub lists: Vec<ListUse>,
    pub constants: BTreeMap<u64, Reg>,
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
            false => Err(Stays(node, "makes the loop too large for a region")),
        }
    }

    pub(super) fn emit(&mut self, instruction: Instruction) -> usize {
        self.instructions.push(instruction);
        self.instructions.len() - 1
    }

    pub(super) fn compute(
        &mut self,
        operation: &'static str,
        dtype: DType,
        operands: &[Reg],
        run: WordFn,
    ) -> Reg {
        let to = self.words(1);
        self.compute_to(to, operation, dtype, operands, run);
        to
    }

    pub(super) fn compute_to(
        &mut self,
        to: Reg,
        operation: &'static str,
        dtype: DType,
        operands: &[Reg],
        run: WordFn,
    ) {
        let mut from = [Reg::new(0); 3];
        from.iter_mut().zip(operands).for_each(|(from, operand)| *from = *operand);
        let n = operands.len() as u8;
        self.emit(Instruction::Compute { operation, dtype, to, from, n, run });
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
            self.compute_to(result, step.operation, step.dtype, &operands, step.run);
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
            false => self.compute("not", DType::Bool, &[predicate], not),
        };
        if let Some(before) = self.met(&before) {
            met = self.compute("and", DType::Bool, &[before, met], and);
        }
        self.guards.insert(guard.clone(), met);
        Some(met)
    }

    /// Fails where `condition` and the guard hold.
    pub(super) fn fail(&mut self, condition: Reg, guard: &Guard) {
        let condition = match self.met(guard) {
            Some(met) => self.compute("and", DType::Bool, &[condition, met], and),
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
