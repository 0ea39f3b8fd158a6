//! Machine code for regions: [`Code`] translated by Cranelift.
//!
//! A register of the code is a variable of Cranelift, of the type that its dtype has on the machine. Steps
//! that a processor has instructions for become these (`operations`); all others call the function that the
//! interpreter calls. So both give the same bits.
//!
//! The function that results keeps all in the processor's registers. Where a slice ends it stores what is
//! still needed (`liveness`) and returns; the next slice loads it and jumps back to the loop where it left.
//!
//! - `types`: the type of each register;
//! - `liveness`: what is needed at each loop;
//! - `translate`: the instructions;
//! - `operations`: the steps of expressions;
//! - `machine`: memory for code, and calls into it. All `unsafe` is there.

mod liveness;
mod machine;
mod operations;
mod translate;
mod types;

use machine::MachineCode;
use millstream_exec::region::{Code, Compiled, Compiler};
use std::sync::Arc;

/// Compiles regions to machine code.
#[derive(Debug, Default)]
pub struct Jit;

impl Compiler for Jit {
    fn compile(&self, code: &Arc<Code>) -> Option<Box<dyn Compiled>> {
        let code = MachineCode::new(code)?;
        Some(Box::new(code))
    }

    fn disassemble(&self, code: &Arc<Code>) -> Option<String> {
        machine::disassemble(code)
    }
}
