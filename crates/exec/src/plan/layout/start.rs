//! Pass 9: how a run starts, for the first time and with the handles of an earlier run in place.
//!
//! Afterwards the slots of handles that last are marked, so that no reader takes them and no end of a run
//! clears them.

use super::*;
use crate::plan::LASTS;
use millstream_graph::op::Effect;
use millstream_tensor::DType;

impl Layout<'_> {
    pub(super) fn start(&self) -> Start {
        let waits_for_nothing = |here: &PlanNode| {
            self.drafts[*here].n_waits() == 0
                && !matches!(self.nodes[*here].kind, Kind::Feed | Kind::Merge(_))
        };
        let ready = self.nodes.ids().filter(waits_for_nothing).collect();
        Start { ready, pending: self.frames[FrameId::ROOT].pending.clone() }
    }

    pub(super) fn start_again(&mut self, start: &Start) -> Start {
        let lasting = self.lasting();
        let again = start.without(&lasting, &self.nodes, &self.edges);
        let uses = &mut self.frames[FrameId::ROOT].uses;
        for (node, lasts) in self.nodes.iter().zip(lasting) {
            if lasts && node.slot != SlotId::NONE {
                uses[node.slot] |= LASTS;
            }
        }
        again
    }

    /// The nodes of the root that give handles which stay the same while no name is forgotten: those that
    /// open named things, and those that make handles of these and of constants alone.
    fn lasting(&self) -> Dense<PlanNode, bool> {
        let mut lasts = Dense::filled(false, self.drafts.len());
        if self.builder.options.keep_all || self.builder.probes.is_some() {
            return lasts;
        }
        for (here, draft) in self.drafts.entries() {
            let gives_handles = draft.node().and_then(|n| self.builder.node(n).info()).is_some_and(|info| {
                let kernel = &info.op.kernel;
                let one = info.output_types.len() == 1;
                kernel.opens
                    || one && kernel.effect == Effect::Pure && info.output_types[0].dtype == DType::Resource
            });
            let waits_for_these = draft.controls.is_empty()
                && draft.weak.is_empty()
                && draft.sources().all(|source| lasts[self.maker(source)]);
            let node = &self.nodes[here];
            let plain = node.edges.of(&self.edges).iter().all(|edge| edge.plain().is_some());
            let is_kernel = matches!(node.kind, Kind::Kernel(_));
            let is_outside = self.homes[here] == FrameId::ROOT;
            lasts[here] = is_kernel && is_outside && gives_handles && waits_for_these && plain;
        }
        lasts
    }
}

impl Start {
    /// The start of a run that finds the values of these nodes in their slots.
    pub(super) fn without(
        &self,
        lasting: &Dense<PlanNode, bool>,
        nodes: &Dense<PlanNode, Node>,
        edges: &Dense<EdgeId, Edge>,
    ) -> Start {
        let mut start = self.clone();
        start.ready.retain(|&node| !lasting[node]);
        for (node, _) in nodes.iter().zip(lasting).filter(|(_, lasts)| **lasts) {
            for edge in node.edges.of(edges) {
                let pending = &mut start.pending[edge.count()];
                *pending -= 1;
                if *pending == 0 && !lasting[edge.node] {
                    start.ready.push(edge.node);
                }
            }
        }
        start
    }
}
