//! Pass 11: the front of the plan, the nodes outside of loops that need nothing but feeds and constants. One
//! piece of code computes them before the machine starts.
//!
//! The nodes stay in the plan. A run whose feeds the code does not take, or in which a node of the front
//! fails, starts without it.

use super::*;
use crate::plan::{FrontPlan, Place};
use crate::region::{RegionPlan, raise_front};
use millstream_graph::loops::LoopTree;
use std::collections::BTreeSet;

/// The count of a node that the code computes: its arrivals never bring it down to zero.
const NEVER: u32 = 1 << 30;

impl Layout<'_> {
    pub(super) fn raise_front(&self, start: &Start, start_again: &Start) -> Option<Box<FrontPlan>> {
        let (program, options) = (self.builder.program, self.builder.options);
        let looked_at = options.keep_all || options.watch_all || self.builder.probes.is_some();
        if !options.regions.enabled || options.hand_out_all || looked_at {
            return None;
        }
        let tree = LoopTree::default();
        let front = raise_front(program, &tree)?;
        let mut members = Dense::filled(false, self.nodes.len());
        for (here, draft) in self.drafts.entries() {
            let node = &self.nodes[here];
            let computes =
                matches!(node.kind, Kind::Unary(..) | Kind::Binary(..) | Kind::Kernel(_) | Kind::Forward);
            members[here] = draft.node().is_some_and(|n| front.nodes[n])
                && computes
                && draft.controls.is_empty()
                && draft.weak.is_empty()
                && node.edges.of(&self.edges).iter().all(|edge| edge.plain().is_some());
        }
        // What others read leaves the code.
        let readers = self.drafts.entries().filter(|(here, _)| !members[*here]);
        let read: BTreeSet<_> =
            readers.flat_map(|(_, draft)| draft.sources()).map(|source| source.node).collect();
        let of_members = |n: &millstream_graph::Index| members[self.builder.position[*n]];
        let outputs: Vec<_> = read.into_iter().filter(of_members).collect();
        let slots: Vec<SlotId> = outputs.iter().map(|n| self.nodes[self.builder.position[*n]].slot).collect();
        let n_nodes = members.iter().filter(|is_member| **is_member).count();
        let feeds = front.feeds.clone();
        let code = front.code(&outputs)?;
        Some(Box::new(FrontPlan {
            n_nodes,
            feeds,
            reads: self.reads(&members, &slots),
            outputs: slots,
            start: self.start_behind(start, &members),
            start_again: self.start_behind(start_again, &members),
            region: RegionPlan::new(code, Vec::new(), options.regions.clone()),
        }))
    }

    /// How often these nodes read each value that others read too.
    fn reads(&self, members: &Dense<PlanNode, bool>, outputs: &[SlotId]) -> Vec<(SlotId, u32)> {
        let feeds = self.nodes.iter().filter(|node| matches!(node.kind, Kind::Feed)).map(|node| node.slot);
        let mut reads: BTreeMap<SlotId, u32> = feeds
            .chain(outputs.iter().copied())
            .filter(|slot| *slot != SlotId::NONE)
            .map(|slot| (slot, 0))
            .collect();
        for (node, _) in self.nodes.iter().zip(members).filter(|(_, is_member)| **is_member) {
            for input in node.inputs.of(&self.inputs) {
                if let Place::Slot(slot) = input.place()
                    && let Some(n) = reads.get_mut(&slot)
                {
                    *n += 1;
                }
            }
        }
        reads.into_iter().filter(|(_, n)| 0 < *n).collect()
    }

    fn start_behind(&self, start: &Start, members: &Dense<PlanNode, bool>) -> Start {
        let mut start = start.without(members, &self.nodes, &self.edges);
        for (here, _) in members.entries().filter(|(_, is_member)| **is_member) {
            start.pending[self.counts[here]] = NEVER;
        }
        start
    }
}
