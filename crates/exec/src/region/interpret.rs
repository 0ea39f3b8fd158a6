//! Code, interpreted.

use super::blocks::Calls;
use super::code::{Code, Instruction};
use super::registers::{Exit, Registers};
use millstream_graph::Entity;

/// Runs the code until it ends, or the units are used up.
pub fn interpret(code: &Code, registers: &mut Registers, calls: &dyn Calls) -> Exit {
    let mut at = registers.at;
    // Where a slice goes on, it has been counted already.
    let mut resumed = registers.iterations > 0;
    loop {
        let Some(instruction) = code.instructions.get(at) else { return Exit::Done };
        let words = &mut registers.words;
        at += 1;
        match *instruction {
            Instruction::Compute { operation, to, from: [a, b, c], .. } => {
                words[to.index()] = (operation.run)(words[a.index()], words[b.index()], words[c.index()]);
            }
            Instruction::Copy { to, from } => words[to.index()] = words[from.index()],
            Instruction::Jump { to } => at = to,
            Instruction::Unless { condition, to } => {
                if words[condition.index()] == 0 {
                    at = to;
                }
            }
            Instruction::Loop { outermost, units } => {
                let counted = std::mem::take(&mut resumed);
                if !counted && outermost {
                    registers.begin();
                }
                if !counted {
                    registers.units -= i64::from(units);
                }
                if registers.units < 0 {
                    registers.at = at - 1;
                    return Exit::Paused;
                }
            }
            Instruction::Fail { condition } => {
                if words[condition.index()] != 0 {
                    registers.undo();
                    return Exit::Failed;
                }
            }
            Instruction::Push { list, from } => {
                let n = code.lists[list.index()] as usize;
                if registers.lists[list.index()].push(&words[from.index()..][..n]).is_err() {
                    registers.undo();
                    return Exit::Failed;
                }
            }
            Instruction::Pop { list, to } => {
                let n = code.lists[list.index()] as usize;
                if !registers.lists[list.index()].pop(&mut words[to.index()..][..n]) {
                    registers.undo();
                    return Exit::Failed;
                }
            }
            Instruction::Tiles { .. }
            | Instruction::Call { .. }
            | Instruction::Share { .. }
            | Instruction::Swap { .. }
            | Instruction::PushBlock { .. }
            | Instruction::PopBlock { .. } => {
                if !registers.blocks.step(code, at - 1, &mut registers.words, calls) {
                    registers.undo();
                    return Exit::Failed;
                }
            }
            Instruction::End => return Exit::Done,
        }
    }
}
