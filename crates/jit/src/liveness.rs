//! Which registers are needed at the start of each block of code.

use millstream_exec::region::{Code, Instruction, Reg};
use millstream_graph::Entity;
use std::collections::{BTreeMap, BTreeSet};

/// For each position where a block starts (the first instruction, targets of jumps, loops, and what follows a
/// jump), the registers whose values may still be read. Constants are left out.
pub(crate) fn live(code: &Code) -> BTreeMap<usize, BTreeSet<u32>> {
    let constants: BTreeSet<u32> = code.constants.iter().map(|(reg, _)| number(*reg)).collect();
    let starts = starts(code);
    let mut live: BTreeMap<usize, BTreeSet<u32>> =
        starts.iter().map(|start| (*start, BTreeSet::new())).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([code.instructions.len()]).collect();
    // The registers that each block reads before it writes them, and those that it writes.
    let blocks: Vec<(usize, usize, BTreeSet<u32>, BTreeSet<u32>)> = starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| {
            let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
            for instruction in &code.instructions[start..end] {
                uses(code, instruction, |reg| {
                    if !writes.contains(&reg) && !constants.contains(&reg) {
                        reads.insert(reg);
                    }
                });
                defines(code, instruction, |reg| writes.extend([reg]));
            }
            (start, end, reads, writes)
        })
        .collect();
    loop {
        let mut changed = false;
        for (start, end, reads, writes) in blocks.iter().rev() {
            let mut now = reads.clone();
            for next in successors(code, *end) {
                now.extend(live.get(&next).into_iter().flatten().filter(|reg| !writes.contains(reg)));
            }
            if let Some(before) = live.get_mut(start)
                && before.len() != now.len()
            {
                *before = now;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}

/// Where blocks start.
pub(crate) fn starts(code: &Code) -> BTreeSet<usize> {
    let mut starts = BTreeSet::from([0]);
    for (i, instruction) in code.instructions.iter().enumerate() {
        match *instruction {
            Instruction::Loop { .. } => starts.extend([i]),
            Instruction::Jump { to } | Instruction::Unless { to, .. } => starts.extend([to, i + 1]),
            _ => {}
        }
    }
    starts.retain(|start| *start < code.instructions.len());
    starts
}

/// Where it goes on after the block that ends here.
fn successors(code: &Code, end: usize) -> impl Iterator<Item = usize> {
    let (jump, next) = match end.checked_sub(1).and_then(|last| code.instructions.get(last)) {
        Some(Instruction::Jump { to }) => (Some(*to), None),
        Some(Instruction::Unless { to, .. }) => (Some(*to), Some(end)),
        Some(Instruction::End) => (None, None),
        _ => (None, Some(end)),
    };
    jump.into_iter().chain(next)
}

fn uses(code: &Code, instruction: &Instruction, mut each: impl FnMut(u32)) {
    match *instruction {
        Instruction::Compute { from, n, .. } => from.iter().take(n.into()).for_each(|reg| each(number(*reg))),
        Instruction::Copy { from, .. } => each(number(from)),
        Instruction::Unless { condition, .. } => each(number(condition)),
        // A failure stores the variables.
        Instruction::Fail { condition } => {
            each(number(condition));
            variables(code, each);
        }
        Instruction::Push { list, from } => {
            (0..code.lists[list.index()]).for_each(|i| each(number(from) + i));
            variables(code, each);
        }
        Instruction::Pop { .. } | Instruction::PushBlock { .. } | Instruction::PopBlock { .. } => {
            variables(code, each);
        }
        Instruction::Share { .. } => variables(code, each),
        Instruction::Call { call } => {
            let inputs = code.calls[call.index()].inputs.iter().flat_map(|input| input.words());
            inputs.for_each(|i| each(i as u32));
            variables(code, each);
        }
        Instruction::Tiles { tiles } => {
            code.tiles[tiles.index()].words().for_each(|(reg, _)| each(number(reg)));
            variables(code, each);
        }
        Instruction::End => {
            let outputs = code.outputs.iter().flat_map(|output| output.words());
            outputs.for_each(|i| each(i as u32));
        }
        Instruction::Loop { .. } | Instruction::Jump { .. } | Instruction::Swap { .. } => {}
    }
}

/// The registers of the outermost loop's variables.
fn variables(code: &Code, each: impl FnMut(u32)) {
    let inputs = code.inputs.iter().take(code.n_variables);
    inputs.flat_map(|input| input.words()).map(|i| i as u32).for_each(each);
}

fn defines(code: &Code, instruction: &Instruction, mut each: impl FnMut(u32)) {
    match *instruction {
        Instruction::Compute { to, .. } | Instruction::Copy { to, .. } => each(number(to)),
        Instruction::Pop { list, to } => (0..code.lists[list.index()]).for_each(|i| each(number(to) + i)),
        Instruction::Call { call } => {
            let outputs = code.calls[call.index()].outputs.iter().flat_map(|output| output.words());
            outputs.for_each(|i| each(i as u32));
        }
        _ => {}
    }
}

fn number(reg: Reg) -> u32 {
    reg.index() as u32
}
