//! Accesses to a variable that is written get the order of the program.

use super::{Builder, Draft};
use millstream_graph::Access;
use std::collections::BTreeMap;

impl Builder<'_> {
    /// Adds weak edges between accesses to the same variable within a frame; gives the frames that must run one iteration at a time.
    pub(super) fn order_accesses(&self, drafts: &mut [Draft]) -> Vec<bool> {
        for list in self.program.accesses().values().filter(|l| l.iter().any(|access| access.writes)) {
            self.chain(list, drafts);
        }
        let writing = self.program.writing_loops();
        (0..).zip(&self.program.frames).map(|(frame, _)| writing.contains(&frame)).collect()
    }

    fn chain(&self, list: &[Access], drafts: &mut [Draft]) {
        let mut frames: BTreeMap<u32, (Option<u32>, Vec<u32>)> = BTreeMap::new();
        for &Access { node, writes } in list.iter().filter(|access| self.left[access.node as usize].is_none())
        {
            let (last_write, reads) = frames.entry(self.run_frame(node)).or_default();
            let here = self.position[node as usize];
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
}
