//! Accesses to a variable that is written get the order of the program.

use super::{Builder, Draft};
use millstream_graph::op::{Effect, Role};
use millstream_graph::{Index, ProgramNode, Source};
use std::collections::BTreeMap;

impl Builder<'_> {
    /// Adds weak edges between accesses to the same variable within a frame; gives the frames that must run one iteration at a time.
    pub(super) fn order_accesses(&self, drafts: &mut [Draft]) -> Vec<bool> {
        let mut serialized = vec![false; self.program.frames.len()];
        let mut accesses: BTreeMap<Index, Vec<(Index, bool)>> = BTreeMap::new();
        for &n in &self.program.order {
            let node = self.node(n);
            if self.left[n as usize].is_some() {
                continue;
            }
            let effect = node.info().map_or(Effect::Pure, |i| i.op.kernel.effect);
            if matches!(effect, Effect::Reads | Effect::Writes)
                && let Some(variable) = node.inputs.first().and_then(|s| self.variable(*s))
            {
                accesses.entry(variable).or_default().push((n, effect == Effect::Writes));
                continue;
            }
            for i in 0..node.inputs.len() {
                if self.reads_ref(n, i)
                    && let Some(variable) = self.variable(node.inputs[i])
                {
                    accesses.entry(variable).or_default().push((n, false));
                }
            }
        }
        for list in accesses.values().filter(|l| l.iter().any(|(_, writes)| *writes)) {
            for &(n, _) in list {
                let mut frame = self.run_frame(n);
                while frame != 0 {
                    serialized[frame as usize] = true;
                    frame = self.program.frames[frame as usize].parent;
                }
            }
            self.chain(list, drafts);
        }
        serialized
    }

    fn chain(&self, list: &[(Index, bool)], drafts: &mut [Draft]) {
        let mut frames: BTreeMap<u32, (Option<u32>, Vec<u32>)> = BTreeMap::new();
        for &(n, writes) in list {
            let (last_write, reads) = frames.entry(self.run_frame(n)).or_default();
            let here = self.position[n as usize];
            let weak = &mut drafts[here as usize].weak;
            match (writes, &*reads) {
                (true, reads) if !reads.is_empty() => {
                    weak.extend(reads.iter().copied().filter(|r| *r != here))
                }
                _ => weak.extend(*last_write),
            }
            match writes {
                true => {
                    *last_write = Some(here);
                    reads.clear();
                }
                false => reads.push(here),
            }
        }
    }

    /// The node that made the variable that a handle or reference leads to; nodes of one shared name are one variable.
    fn variable(&self, mut source: Source) -> Option<Index> {
        for _ in 0..self.program.nodes.len() {
            let node = self.node(source.node);
            let info = node.info()?;
            let passes_ref = info.op.role == Role::Compute
                && info.output_types.get(source.index as usize).is_some_and(|t| t.is_ref)
                && info.input_types.first().is_some_and(|t| t.is_ref);
            if node.inputs.is_empty() || !(info.op.role != Role::Compute || passes_ref) {
                return Some(self.namesake(source.node));
            }
            source = node.inputs[0];
        }
        None
    }

    /// The first node with the same `shared_name` as this one.
    fn namesake(&self, n: Index) -> Index {
        let key = |n: &ProgramNode| {
            let info = n.info()?;
            let name = info.attrs.str("shared_name").ok().filter(|s| !s.is_empty()).cloned()?;
            Some((name, info.attrs.str("container").ok().cloned()))
        };
        let Some(wanted) = key(self.node(n)) else { return n };
        self.program.nodes.iter().position(|m| key(m).as_ref() == Some(&wanted)).map_or(n, |p| p as Index)
    }
}
