//! Pass 2: where each output lives.
//!
//! Afterwards every output that is read has a slot in the frame where its value lives, which counts its
//! readers; outputs that nothing reads, and those of constant Enters, have none. The Enter and the
//! NextIteration of a loop variable write into the slot of its Merge, so that the value need not move.

use super::*;
use millstream_graph::op::Role;
use smallvec::SmallVec;

/// The readers of each node's outputs.
struct Readers {
    /// For each node, the nodes that read an output of it, once for each input.
    of: Dense<PlanNode, Vec<PlanNode>>,
    /// For each output of each node, the number of inputs that read it.
    counts: Dense<PlanNode, SmallVec<[u32; 2]>>,
}

impl Layout<'_> {
    pub(super) fn assign_slots(&mut self) {
        let readers = self.readers();
        let mut slots: Dense<PlanNode, SmallVec<[SlotId; 2]>> =
            Dense::filled(SmallVec::new(), self.drafts.len());
        // Merges first, since others borrow their slots.
        let is_merge = |n: &PlanNode| matches!(self.nodes[*n].kind, Kind::Merge(_));
        let (merges, others): (Vec<_>, Vec<_>) = self.nodes.ids().partition(is_merge);
        for here in merges.into_iter().chain(others) {
            let Some(n) = self.drafts[here].node() else { continue };
            if matches!(self.nodes[here].kind, Kind::EnterConstant(..)) {
                continue;
            }
            slots[here] = match self.borrowed(here, &readers, &slots) {
                Some(slot) => SmallVec::from_elem(slot, 1),
                None => {
                    let uses = &mut self.frames[self.builder.node(n).frame].uses;
                    let slot = |&reads: &u32| if reads == 0 { SlotId::NONE } else { uses.push(reads) };
                    readers.counts[here].iter().map(slot).collect()
                }
            };
        }
        for (node, slots) in self.nodes.iter_mut().zip(slots) {
            node.slot = slots.first().copied().unwrap_or(SlotId::NONE);
            node.outputs = Span::append(&mut self.slots, slots);
        }
    }

    fn readers(&self) -> Readers {
        let n_outputs = |draft: &Draft| match draft.node() {
            None => 0,
            Some(n) => match self.builder.groups.get(&n) {
                Some(group) => group.outputs.len(),
                None => self.builder.node(n).n_outputs(),
            },
        };
        let mut readers = Readers {
            of: Dense::filled(Vec::new(), self.drafts.len()),
            counts: self.drafts.iter().map(|draft| SmallVec::from_elem(0, n_outputs(draft))).collect(),
        };
        for (here, draft) in self.drafts.entries() {
            for source in draft.sources() {
                let maker = self.maker(source);
                readers.of[maker].push(here);
                readers.counts[maker][self.output(source)] += 1;
            }
        }
        readers
    }

    /// The slot of the merge that an Enter or NextIteration writes for, if it is the only reader and lends
    /// its slot. A merge whose value nothing reads, kept for its control edges, has none to lend.
    fn borrowed(
        &self,
        here: PlanNode,
        readers: &Readers,
        slots: &Dense<PlanNode, SmallVec<[SlotId; 2]>>,
    ) -> Option<SlotId> {
        let (Kind::Enter(..) | Kind::NextIteration(_)) = self.nodes[here].kind else { return None };
        let &[merge] = readers.of[here].as_slice() else { return None };
        let lends = self.is_loop_merge(merge);
        slots[merge].first().copied().filter(|slot| lends && *slot != SlotId::NONE)
    }

    /// Whether a merge gets one token in each iteration, from its Enter or from its NextIteration. Of two
    /// tokens in one iteration the second is let go, which must not be the first one's value: such a merge
    /// cannot lend its slot.
    fn is_loop_merge(&self, merge: PlanNode) -> bool {
        let role = |value: &Value| match value {
            Value::Source(s) if self.builder.node(s.node).is_constant_enter() => None,
            Value::Source(s) => Some(self.builder.node(s.node).role()),
            Value::Constant(_) => None,
        };
        let [a, b] = self.drafts[merge].inputs.as_slice() else { return false };
        let roles = [role(a), role(b)];
        matches!(self.nodes[merge].kind, Kind::Merge(_))
            && roles.contains(&Some(Role::Enter))
            && roles.contains(&Some(Role::NextIteration))
    }
}
