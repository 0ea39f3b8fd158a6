//! Code as a function of Cranelift.
//!
//! ```text
//!   entry ── which loop? ──► first instruction, or: load what is live ─► behind the look at the clock
//!
//!   loop k:  count; units left? ──no──► pause k: store what is live, return Paused
//!               │ yes
//!            behind the look ...
//! ```

use crate::liveness::{live, starts};
use crate::machine::{DONE, FAILED, Functions, ListOffsets, PAUSED, StateOffsets};
use crate::operations::{constant, native, of_word, operand_type, to_word};
use crate::types;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, Function, InstBuilder, MemFlags, SigRef, Signature, Type, Value, types::I8, types::I32,
    types::I64,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use millstream_exec::region::{Code, Instruction, List, Reg};
use millstream_graph::Entity;
use std::collections::{BTreeMap, BTreeSet};

/// Writes the function of a region: `(words, lists, state) -> exit`. `None` if its types contradict each
/// other.
pub(crate) fn translate(code: &Code, function: &mut Function, signatures: &Functions) -> Option<()> {
    let mut context = FunctionBuilderContext::new();
    let types = types::infer(code)?;
    let mut b = FunctionBuilder::new(function, &mut context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let [words, lists, state] = *b.block_params(entry) else { return None };
    let variables = types.iter().map(|ty| b.declare_var(*ty)).collect();
    let units = b.declare_var(I64);
    let starts = starts(code);
    let blocks = starts.iter().map(|start| (*start, b.create_block())).collect();
    let failed = b.create_block();
    let step = import(&mut b, &signatures.step);
    let grow = import(&mut b, &signatures.grow);
    let constants = code.constants.iter().copied().collect();
    let live = live(code);
    let mut translator = Translator {
        code,
        b,
        types,
        variables,
        units,
        constants,
        blocks,
        live,
        failed,
        words,
        lists,
        state,
        step,
        grow,
        grow_at: signatures.grow_at,
        on_blocks_at: signatures.on_blocks_at,
        behind: BTreeMap::new(),
    };
    translator.enter()?;
    translator.write(&starts)?;
    translator.write_failed();
    translator.b.seal_all_blocks();
    translator.b.finalize();
    Some(())
}

fn import(b: &mut FunctionBuilder<'_>, signature: &Signature) -> SigRef {
    b.import_signature(signature.clone())
}

struct Translator<'a> {
    code: &'a Code,
    b: FunctionBuilder<'a>,
    types: Vec<Type>,
    variables: Vec<Variable>,
    units: Variable,
    constants: BTreeMap<Reg, u64>,
    blocks: BTreeMap<usize, Block>,
    live: BTreeMap<usize, BTreeSet<u32>>,
    failed: Block,
    words: Value,
    lists: Value,
    state: Value,
    /// The signatures of steps and of the functions that make room in a list and work on blocks.
    step: SigRef,
    grow: SigRef,
    grow_at: i64,
    on_blocks_at: i64,
    /// The block behind the look at the clock, of each loop.
    behind: BTreeMap<usize, Block>,
}

/// Memory of ours, aligned and there.
fn trusted() -> MemFlags {
    MemFlags::trusted()
}

impl Translator<'_> {
    fn read(&mut self, reg: Reg, ty: Type) -> Value {
        match self.constants.get(&reg) {
            Some(word) => constant(&mut self.b, *word, ty),
            None => self.b.use_var(self.variables[reg.index()]),
        }
    }

    fn set(&mut self, reg: Reg, value: Value) {
        self.b.def_var(self.variables[reg.index()], value);
    }

    fn load_word(&mut self, i: usize) {
        let word = self.b.ins().load(I64, trusted(), self.words, (i * 8) as i32);
        let value = of_word(&mut self.b, word, self.types[i]);
        self.b.def_var(self.variables[i], value);
    }

    fn store_word(&mut self, i: usize) {
        // An output may be a constant.
        let value = self.read(Reg::new(i), self.types[i]);
        let word = to_word(&mut self.b, value);
        self.b.ins().store(trusted(), word, self.words, (i * 8) as i32);
    }

    /// Loads what the first block, or the loop at which the last slice ended, needs, and goes there.
    fn enter(&mut self) -> Option<()> {
        let units = self.b.ins().load(I64, trusted(), self.state, StateOffsets::UNITS);
        self.b.def_var(self.units, units);
        // Every variable has some value on every way.
        for i in 0..self.types.len() {
            let zero = constant(&mut self.b, 0, self.types[i]);
            self.b.def_var(self.variables[i], zero);
        }
        let begun = self.b.ins().load(I64, trusted(), self.state, StateOffsets::ITERATIONS);
        let (first, again) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(begun, again, &[], first, &[]);
        self.b.switch_to_block(first);
        self.load_live(0);
        self.b.ins().jump(*self.blocks.get(&0)?, &[]);
        self.b.switch_to_block(again);
        let at = self.b.ins().load(I64, trusted(), self.state, StateOffsets::AT);
        let mut table = Switch::new();
        let mut loads = Vec::new();
        for (i, instruction) in self.code.instructions.iter().enumerate() {
            if let Instruction::Loop { .. } = instruction {
                let (load, behind) = (self.b.create_block(), self.b.create_block());
                self.behind.insert(i, behind);
                table.set_entry(i as u128, load);
                loads.push((i, load, behind));
            }
        }
        let nowhere = self.b.create_block();
        table.emit(&mut self.b, at, nowhere);
        for (i, load, behind) in loads {
            self.b.switch_to_block(load);
            self.load_live(i);
            self.b.ins().jump(behind, &[]);
        }
        self.b.switch_to_block(nowhere);
        self.exit(FAILED);
        Some(())
    }

    fn load_live(&mut self, at: usize) {
        let live = self.live.get(&at).cloned().unwrap_or_default();
        live.into_iter().for_each(|i| self.load_word(i as usize));
    }

    fn exit(&mut self, code: i64) {
        let code = self.b.ins().iconst(I32, code);
        self.b.ins().return_(&[code]);
    }

    fn write(&mut self, starts: &BTreeSet<usize>) -> Option<()> {
        // Whether the instruction before goes on here.
        let mut falls_through = false;
        for (i, instruction) in self.code.instructions.iter().enumerate() {
            if starts.contains(&i) {
                let block = *self.blocks.get(&i)?;
                if falls_through {
                    self.b.ins().jump(block, &[]);
                }
                self.b.switch_to_block(block);
            }
            falls_through = true;
            match *instruction {
                Instruction::Loop { outermost, units } => self.write_loop(i, outermost, units)?,
                Instruction::Compute { operation, to, from, n } => {
                    let mut operands = Vec::with_capacity(3);
                    for (i, reg) in from.iter().take(n.into()).enumerate() {
                        let ty = operand_type(&operation, i)?;
                        operands.push(self.read(*reg, ty));
                    }
                    let value = match native(&mut self.b, operation.name, operation.dtype, &operands) {
                        Some(value) => value,
                        None => {
                            let function = operation.run as *const () as usize as i64;
                            self.call(function, &operands, self.types[to.index()])
                        }
                    };
                    self.set(to, value);
                }
                Instruction::Copy { to, from } => {
                    let value = self.read(from, self.types[to.index()]);
                    self.set(to, value);
                }
                Instruction::Jump { to } => {
                    self.b.ins().jump(*self.blocks.get(&to)?, &[]);
                    falls_through = false;
                }
                Instruction::Unless { condition, to } => {
                    let condition = self.read(condition, I8);
                    let (yes, no) = (*self.blocks.get(&(i + 1))?, *self.blocks.get(&to)?);
                    self.b.ins().brif(condition, yes, &[], no, &[]);
                    falls_through = false;
                }
                Instruction::Fail { condition } => {
                    let condition = self.read(condition, I8);
                    self.fail_if(condition);
                }
                Instruction::Push { list, from } => self.write_push(list, from),
                Instruction::Pop { list, to } => self.write_pop(list, to),
                Instruction::Tiles { tiles } if self.code.tiles[tiles.index()].is_empty() => {}
                Instruction::Tiles { tiles } => {
                    let words: Vec<usize> =
                        self.code.tiles[tiles.index()].words().map(|(reg, _)| reg.index()).collect();
                    words.into_iter().for_each(|i| self.store_word(i));
                    self.write_on_blocks(i);
                }
                Instruction::Call { call } => {
                    let call = &self.code.calls[call.index()];
                    call.inputs.iter().flat_map(|input| input.words()).for_each(|i| self.store_word(i));
                    self.write_on_blocks(i);
                    call.outputs.iter().flat_map(|output| output.words()).for_each(|i| self.load_word(i));
                }
                Instruction::Share { .. }
                | Instruction::Swap { .. }
                | Instruction::PushBlock { .. }
                | Instruction::PopBlock { .. } => self.write_on_blocks(i),
                Instruction::End => {
                    let outputs: Vec<usize> = self.code.outputs.iter().flat_map(|o| o.words()).collect();
                    outputs.into_iter().for_each(|i| self.store_word(i));
                    self.exit(DONE);
                    falls_through = false;
                }
            }
        }
        Some(())
    }

    fn write_loop(&mut self, i: usize, outermost: bool, units: u32) -> Option<()> {
        if outermost {
            let begun = self.b.ins().load(I64, trusted(), self.state, StateOffsets::ITERATIONS);
            let begun = self.b.ins().iadd_imm(begun, 1);
            self.b.ins().store(trusted(), begun, self.state, StateOffsets::ITERATIONS);
            for list in 0..self.code.lists.len() {
                let at = ListOffsets::of(list);
                let len = self.b.ins().load(I64, trusted(), self.lists, at + ListOffsets::LEN);
                self.b.ins().store(trusted(), len, self.lists, at + ListOffsets::BEFORE);
            }
            if self.code.lists.contains(&0) || self.code.changes {
                self.on_blocks(i);
            }
        }
        let left = self.b.use_var(self.units);
        let left = self.b.ins().iadd_imm(left, -i64::from(units));
        self.b.def_var(self.units, left);
        let pause = self.b.create_block();
        self.b.set_cold_block(pause);
        let behind = *self.behind.get(&i)?;
        let spent = self.b.ins().icmp_imm(IntCC::SignedLessThan, left, 0);
        self.b.ins().brif(spent, pause, &[], behind, &[]);
        self.b.switch_to_block(pause);
        // What follows the look needs what the loop itself needs: it reads no registers.
        let live = self.live.get(&i).cloned().unwrap_or_default();
        live.into_iter().for_each(|i| self.store_word(i as usize));
        let at = self.b.ins().iconst(I64, i as i64);
        self.b.ins().store(trusted(), at, self.state, StateOffsets::AT);
        self.exit(PAUSED);
        self.b.switch_to_block(behind);
        Some(())
    }

    fn call(&mut self, function: i64, operands: &[Value], to: Type) -> Value {
        let mut words: Vec<Value> = operands.iter().map(|value| to_word(&mut self.b, *value)).collect();
        while words.len() < 3 {
            words.push(self.b.ins().iconst(I64, 0));
        }
        let callee = self.b.ins().iconst(I64, function);
        let call = self.b.ins().call_indirect(self.step, callee, &words);
        let word = self.b.inst_results(call)[0];
        of_word(&mut self.b, word, to)
    }

    fn fail_if(&mut self, condition: Value) {
        let on = self.b.create_block();
        self.b.ins().brif(condition, self.failed, &[], on, &[]);
        self.b.switch_to_block(on);
    }

    /// The instruction at this position, which is about blocks, is executed by a function. It reads its words
    /// from memory.
    fn write_on_blocks(&mut self, i: usize) {
        let done = self.on_blocks(i);
        let on = self.b.create_block();
        self.b.ins().brif(done, on, &[] as &[BlockArg], self.failed, &[]);
        self.b.switch_to_block(on);
    }

    fn on_blocks(&mut self, i: usize) -> Value {
        let callee = self.b.ins().iconst(I64, self.on_blocks_at);
        let at = self.b.ins().iconst(I64, i as i64);
        let none = self.b.ins().iconst(I64, 0);
        let call = self.b.ins().call_indirect(self.grow, callee, &[self.state, at, none]);
        self.b.inst_results(call)[0]
    }

    fn write_failed(&mut self) {
        self.b.switch_to_block(self.failed);
        self.b.set_cold_block(self.failed);
        let variables = self.code.inputs.iter().take(self.code.n_variables).flat_map(|input| input.words());
        let variables: Vec<usize> = variables.collect();
        variables.into_iter().for_each(|i| self.store_word(i));
        self.exit(FAILED);
    }

    fn write_push(&mut self, list: List, from: Reg) {
        let (at, n) = (ListOffsets::of(list.index()), self.code.lists[list.index()] as usize);
        let len = self.b.ins().load(I64, trusted(), self.lists, at + ListOffsets::LEN);
        let room = self.b.ins().load(I64, trusted(), self.lists, at + ListOffsets::ROOM);
        let longer = self.b.ins().iadd_imm(len, n as i64);
        let (grow, write) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(grow);
        let full = self.b.ins().icmp(IntCC::UnsignedGreaterThan, longer, room);
        self.b.ins().brif(full, grow, &[], write, &[]);
        self.b.switch_to_block(grow);
        let callee = self.b.ins().iconst(I64, self.grow_at);
        let which = self.b.ins().iconst(I64, list.index() as i64);
        let wanted = self.b.ins().iconst(I64, n as i64);
        let call = self.b.ins().call_indirect(self.grow, callee, &[self.lists, which, wanted]);
        let grown = self.b.inst_results(call)[0];
        self.b.ins().brif(grown, write, &[] as &[BlockArg], self.failed, &[]);
        self.b.switch_to_block(write);
        let data = self.b.ins().load(I64, trusted(), self.lists, at + ListOffsets::DATA);
        let offset = self.b.ins().ishl_imm(len, 3);
        let place = self.b.ins().iadd(data, offset);
        for i in 0..n {
            let reg = Reg::new(from.index() + i);
            let value = self.read(reg, self.types[reg.index()]);
            let word = to_word(&mut self.b, value);
            self.b.ins().store(trusted(), word, place, (i * 8) as i32);
        }
        self.b.ins().store(trusted(), longer, self.lists, at + ListOffsets::LEN);
    }

    fn write_pop(&mut self, list: List, to: Reg) {
        let (at, n) = (ListOffsets::of(list.index()), self.code.lists[list.index()] as usize);
        let len = self.b.ins().load(I64, trusted(), self.lists, at + ListOffsets::LEN);
        let empty = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, len, n as i64);
        self.fail_if(empty);
        let shorter = self.b.ins().iadd_imm(len, -(n as i64));
        let data = self.b.ins().load(I64, trusted(), self.lists, at + ListOffsets::DATA);
        let offset = self.b.ins().ishl_imm(shorter, 3);
        let place = self.b.ins().iadd(data, offset);
        for i in 0..n {
            let word = self.b.ins().load(I64, trusted(), place, (i * 8) as i32);
            let reg = Reg::new(to.index() + i);
            let value = of_word(&mut self.b, word, self.types[reg.index()]);
            self.set(reg, value);
        }
        self.b.ins().store(trusted(), shorter, self.lists, at + ListOffsets::LEN);
    }
}
