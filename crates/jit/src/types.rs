//! The machine type of each register.

use cranelift_codegen::ir::{Type, types};
use millstream_exec::region::{Code, Held, Instruction, Passed, Reg};
use millstream_graph::Entity;
use millstream_tensor::DType;
use std::collections::BTreeMap;

/// The type of a dtype's words. Halves are bits, which only functions compute with.
pub(crate) fn of_dtype(dtype: DType) -> Option<Type> {
    Some(match dtype {
        DType::Bool | DType::I8 | DType::U8 => types::I8,
        DType::I16 | DType::U16 | DType::F16 | DType::BF16 => types::I16,
        DType::I32 | DType::U32 => types::I32,
        DType::I64 | DType::U64 => types::I64,
        DType::F32 => types::F32,
        DType::F64 => types::F64,
        _ => return None,
    })
}

/// The type of each register that is not a constant. `None` if two uses of one contradict each other.
pub(crate) fn infer(code: &Code) -> Option<Vec<Type>> {
    let mut found =
        Found { constants: code.constants.iter().copied().collect(), types: vec![None; code.n_words] };
    let mut items = vec![None; code.lists.len()];
    for binding in code.inputs.iter().chain(&code.outputs) {
        // Items of a list may be blocks.
        let has_words = match binding.held {
            Held::Words(_) => true,
            Held::Block(_) => false,
            Held::List(list) => 0 < code.lists[list.index()],
        };
        if !has_words {
            continue;
        }
        let ty = of_dtype(binding.dtype)?;
        for i in binding.words() {
            found.set(Reg::new(i), ty)?;
        }
        if let Held::List(list) = binding.held {
            items[list.index()] = Some(ty);
        }
    }
    // Copies pass types on in both directions, so this is repeated until nothing is new.
    loop {
        let before = found.types.iter().flatten().count();
        for instruction in &code.instructions {
            found.look(code, &items, instruction)?;
        }
        if found.types.iter().flatten().count() == before {
            break;
        }
    }
    Some(found.types.into_iter().map(|ty| ty.unwrap_or(types::I64)).collect())
}

struct Found {
    constants: BTreeMap<Reg, u64>,
    types: Vec<Option<Type>>,
}

impl Found {
    fn set(&mut self, reg: Reg, ty: Type) -> Option<()> {
        // Registers of constants serve all types.
        if self.constants.contains_key(&reg) {
            return Some(());
        }
        let known = self.types.get_mut(reg.index())?;
        match known {
            Some(known) if *known != ty => None,
            _ => {
                *known = Some(ty);
                Some(())
            }
        }
    }

    fn look(&mut self, code: &Code, items: &[Option<Type>], instruction: &Instruction) -> Option<()> {
        match *instruction {
            Instruction::Compute { operation, to, from, n } => {
                let ty = of_dtype(operation.dtype)?;
                for (i, reg) in from.iter().take(n.into()).enumerate() {
                    let is_mask = operation.name == "select" && i == 0;
                    self.set(*reg, if is_mask { types::I8 } else { ty })?;
                }
                self.set(to, of_dtype(operation.result)?)
            }
            Instruction::Copy { to, from } => {
                if let Some(ty) = self.types[from.index()] {
                    self.set(to, ty)?;
                }
                match self.types[to.index()] {
                    Some(ty) => self.set(from, ty),
                    None => Some(()),
                }
            }
            Instruction::Unless { condition, .. } | Instruction::Fail { condition } => {
                self.set(condition, types::I8)
            }
            Instruction::Push { list, from: first } | Instruction::Pop { list, to: first } => {
                let ty = items[list.index()]?;
                let n = code.lists[list.index()] as usize;
                (0..n).try_for_each(|i| self.set(Reg::new(first.index() + i), ty))
            }
            Instruction::Tiles { tiles } => {
                code.tiles[tiles.index()].words().try_for_each(|(reg, dtype)| self.set(reg, of_dtype(dtype)?))
            }
            Instruction::Call { call } => {
                let it = &code.calls[call.index()];
                it.inputs.iter().chain(&it.outputs).try_for_each(|passed| match passed {
                    Passed::Words(_, dtype, _) => {
                        let ty = of_dtype(*dtype)?;
                        passed.words().try_for_each(|i| self.set(Reg::new(i), ty))
                    }
                    Passed::Block(_) | Passed::Constant(_) => Some(()),
                })
            }
            Instruction::Loop { .. }
            | Instruction::Jump { .. }
            | Instruction::Share { .. }
            | Instruction::Swap { .. }
            | Instruction::PushBlock { .. }
            | Instruction::PopBlock { .. }
            | Instruction::End => Some(()),
        }
    }
}
