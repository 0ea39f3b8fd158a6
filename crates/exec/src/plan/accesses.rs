//! The order of accesses to variables that are written: that of the program.

use super::builder::{Builder, Draft};
use crate::ids::PlanNode;
use millstream_graph::{Access, Dense, FrameId};
use std::collections::BTreeMap;

/// The accesses to one variable in one frame so far: the last write, and the reads after it.
#[derive(Default)]
struct Chain {
    last_write: Option<PlanNode>,
    reads: Vec<PlanNode>,
}

impl Builder<'_> {
    /// Adds weak edges between accesses to the same variable within a frame. Returns which frames must run
    /// one iteration at a time.
    pub(super) fn order_accesses(&self, drafts: &mut Dense<PlanNode, Draft>) -> Dense<FrameId, bool> {
        for list in self.program.accesses().values().filter(|l| l.iter().any(|access| access.writes)) {
            self.chain(list, drafts);
        }
        let writing = self.program.writing_loops();
        self.program.frames().ids().map(|frame| writing.contains(&frame)).collect()
    }

    fn chain(&self, list: &[Access], drafts: &mut Dense<PlanNode, Draft>) {
        let mut frames: BTreeMap<FrameId, Chain> = BTreeMap::new();
        for &Access { node, writes } in list.iter().filter(|access| self.left[access.node].is_none()) {
            let Chain { last_write, reads } = frames.entry(self.run_frame(node)).or_default();
            let here = self.position[node];
            let weak = &mut drafts[here].weak;
            match writes && !reads.is_empty() {
                true => weak.extend(reads.iter().copied().filter(|r| *r != here)),
                false => weak.extend(*last_write),
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
