//! Pass 12: the order in which the machine runs the nodes of a plan without loops and branches, and the way
//! of each value straight to those that read it.

use super::*;
use crate::plan::{LASTS, Pass, Place, Reads, StraightPlan, StraightStep, To};

impl Layout<'_> {
    /// `None` if the plan has loops, branches, or anything that looks at its nodes.
    pub(super) fn straighten(&self, start_again: &Start) -> Option<Box<StraightPlan>> {
        let options = self.builder.options;
        let looked_at = options.keep_all || options.watch_all || self.builder.probes.is_some();
        if looked_at || options.hand_out_all || !options.passes.has(Pass::Straight) {
            return None;
        }
        let order = self.order_of(start_again)?;
        let uses = &self.frames[FrameId::ROOT].uses;
        let lasts = |slot: SlotId| LASTS <= uses[slot];
        let mut plan = StraightPlan::default();
        // The places that read each slot, in the order of the steps.
        let mut readers: Dense<SlotId, Vec<u32>> = Dense::filled(Vec::new(), uses.len());
        for &n in &order {
            let node = &self.nodes[n];
            let first = u32::try_from(plan.reads.len()).ok()?;
            let mut derefs = false;
            for &input in node.inputs.of(&self.inputs) {
                derefs |= input.deref();
                let place = u32::try_from(plan.reads.len()).ok()?;
                plan.reads.push(match input.place() {
                    Place::Constant(constant) => Reads::Constant(constant),
                    Place::Slot(slot) if lasts(slot) => Reads::Handle(slot),
                    Place::Slot(slot) => {
                        readers[slot].push(place);
                        Reads::Given
                    }
                    Place::Invariant(_) => return None,
                });
            }
            let end = u32::try_from(plan.reads.len()).ok()?;
            plan.steps.push(StraightStep {
                node: n,
                kind: node.kind,
                inputs: [first, end],
                outputs: [0; 2],
                derefs,
            });
        }
        for step in &mut plan.steps {
            let first = plan.outputs.len() as u32;
            for &slot in self.nodes[step.node].outputs.of(&self.slots) {
                plan.outputs.push(of_slot(&mut plan.places, &readers, slot));
            }
            step.outputs = [first, plan.outputs.len() as u32];
            plan.most_outputs = plan.most_outputs.max(plan.outputs.len() - first as usize);
        }
        for feed in self.builder.program.feeds() {
            let node = feed.map(|n| self.builder.position[n]).filter(|n| *n != PlanNode::NONE);
            let slot = node.map_or(SlotId::NONE, |n| self.nodes[n].slot);
            plan.feeds.push(of_slot(&mut plan.places, &readers, slot));
        }
        plan.needs_handles = plan.reads.iter().any(|reads| matches!(reads, Reads::Handle(_)))
            || order.len() + self.n_feeds() < self.nodes.len();
        Some(Box::new(plan))
    }

    /// The nodes that a run starting like this runs, in the machine's order: what became ready last comes
    /// first.
    fn order_of(&self, start: &Start) -> Option<Vec<PlanNode>> {
        let is_straight = |node: &Node| {
            matches!(
                node.kind,
                Kind::Unary(..)
                    | Kind::Binary(..)
                    | Kind::Kernel(_)
                    | Kind::Forward
                    | Kind::Nothing
                    | Kind::Feed
                    | Kind::Fetch(_)
            )
        };
        if !self.nodes.iter().all(is_straight) || self.homes.iter().any(|home| *home != FrameId::ROOT) {
            return None;
        }
        let Start { mut ready, mut pending } = start.clone();
        let mut arrive = |ready: &mut Vec<PlanNode>, n: PlanNode| {
            for edge in self.nodes[n].edges.of(&self.edges) {
                if matches!(edge.to(), To::Merge | To::MergeControl) {
                    return None;
                }
                let pending = &mut pending[edge.count()];
                *pending -= 1;
                if *pending == 0 {
                    ready.push(edge.node);
                }
            }
            Some(())
        };
        for feed in self.builder.program.feeds().iter().flatten() {
            let n = self.builder.position[*feed];
            if n != PlanNode::NONE {
                arrive(&mut ready, n)?;
            }
        }
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(n) = ready.pop() {
            order.push(n);
            arrive(&mut ready, n)?;
        }
        // A node that is never ready is the machine's to complain about.
        let lasting = self.nodes.iter().filter(|node| self.lasts(node)).count();
        (order.len() + self.n_feeds() + lasting == self.nodes.len()).then_some(order)
    }

    /// Whether a node leaves its handle in its slot for later runs.
    fn lasts(&self, node: &Node) -> bool {
        node.slot != SlotId::NONE && LASTS <= self.frames[FrameId::ROOT].uses[node.slot]
    }

    fn n_feeds(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node.kind, Kind::Feed)).count()
    }
}

/// The span of the places that read a slot.
fn of_slot(places: &mut Vec<u32>, readers: &Dense<SlotId, Vec<u32>>, slot: SlotId) -> [u32; 2] {
    let first = places.len() as u32;
    if slot != SlotId::NONE {
        places.extend(&readers[slot]);
    }
    [first, places.len() as u32]
}
