//! The state of one iteration, and what a token does when it arrives in it.

use super::instances::{Arrival, Instance};
use super::{DEAD, Ready};
use crate::ids::{CountId, EdgeId, InstanceId, IterationId, MergeId, PlanNode, SlotId, Span};
use crate::plan::{Edge, Input, Kind, MergeState, Place, Plan, To};
use crate::trace::Seen;
use millstream_graph::{Dense, Entity, FrameId};
use millstream_tensor::Tensor;
use smallvec::SmallVec;

/// The state of one iteration of one instance of a frame.
pub(super) struct Iteration {
    pub(super) instance: InstanceId,
    pub(super) number: u64,
    /// The number of its nodes that are ready, running or waiting.
    pub(super) outstanding: u32,
    /// The instances alive inside, by frame.
    pub(super) children: SmallVec<[(FrameId, InstanceId); 2]>,
    pub(super) pending: Dense<CountId, u32>,
    pub(super) uses: Dense<SlotId, u32>,
    pub(super) values: Dense<SlotId, Tensor>,
    pub(super) merges: Dense<MergeId, MergeState>,
}

impl Iteration {
    /// The values in the slots of a node whose kernel has just run.
    pub(super) fn seen(&self, plan: &Plan, n: PlanNode) -> Vec<Seen> {
        let node = &plan.nodes[n];
        let (Kind::Kernel(kernel) | Kind::Unary(_, kernel) | Kind::Binary(_, kernel)) = node.kind else {
            return Vec::new();
        };
        let types = &plan.kernels[kernel].info.output_types;
        let slots = plan.slots(node).iter().zip(types).enumerate();
        slots
            .filter(|(_, (slot, ty))| **slot != SlotId::NONE && !ty.is_ref)
            .map(|(index, (&slot, _))| {
                let value = &self.values[slot];
                Seen { index: index as u32, dtype: value.dtype(), shape: value.shape().clone() }
            })
            .collect()
    }

    /// A token arrives that only counts down, at the count that [`Edge::plain`] gives. Returns the node if it
    /// is now ready.
    #[inline(always)]
    pub(super) fn count_down(
        &mut self,
        at: IterationId,
        edge: Edge,
        count: CountId,
        dead: bool,
    ) -> Option<Ready> {
        let pending = &mut self.pending[count];
        // The dead bit is set, never cleared: `|` where the count is `-`.
        let left = (*pending - 1) | (u32::from(dead) << 31);
        *pending = left;
        (left & !DEAD == 0).then_some(Ready { node: edge.node, at: at.bits() | left })
    }

    /// The tokens of a node's edges arrive. Nodes that become ready are pushed; the caller counts them as
    /// outstanding.
    #[inline]
    pub(super) fn arrive_all(
        &mut self,
        plan: &Plan,
        ready: &mut Vec<Ready>,
        at: IterationId,
        edges: Span<EdgeId>,
        dead: bool,
    ) {
        for &edge in edges.of(&plan.edges) {
            match edge.plain() {
                Some(count) => {
                    if let Some(node) = self.count_down(at, edge, count, dead) {
                        ready.push(node);
                    }
                }
                None => self.arrive_otherwise(plan, ready, at, edge, dead),
            }
        }
    }

    #[inline(never)]
    fn arrive_otherwise(
        &mut self,
        plan: &Plan,
        ready: &mut Vec<Ready>,
        at: IterationId,
        edge: Edge,
        dead: bool,
    ) {
        match edge.to() {
            To::Merge => self.arrive_at_merge(plan, ready, at, edge, dead),
            To::MergeControl => {
                let merge = &mut self.merges[edge.merge()];
                merge.controls_left -= 1;
                if merge.controls_left == 0 && merge.chosen != MergeState::NONE {
                    ready.push(Ready::new(edge.node, at, merge.chosen == MergeState::DEAD));
                }
            }
            To::LiveOnly if dead => {}
            To::Node | To::Weak | To::LiveOnly => {
                ready.extend(self.count_down(at, edge, edge.count(), false));
            }
        }
    }

    fn arrive_at_merge(
        &mut self,
        plan: &Plan,
        ready: &mut Vec<Ready>,
        at: IterationId,
        edge: Edge,
        dead: bool,
    ) {
        let (merge, input) = plan.merge_inputs[edge.arrival()];
        let merge = &mut self.merges[merge];
        merge.data_left = merge.data_left.saturating_sub(1);
        if merge.chosen != MergeState::NONE {
            // The first live input was taken; later ones are only released.
            if !dead {
                self.release(plan.inputs(&plan.nodes[edge.node])[input as usize]);
            }
            return;
        }
        match dead {
            false => merge.chosen = input,
            true if merge.is_loop || merge.data_left == 0 => merge.chosen = MergeState::DEAD,
            true => return,
        }
        if merge.controls_left == 0 {
            ready.push(Ready::new(edge.node, at, dead));
        }
    }

    /// A bypassed merge has got its token.
    #[inline]
    pub(super) fn settle(&mut self, merge: MergeId) {
        if let Some(merge) = self.merges.get_mut(merge) {
            merge.chosen = 0;
        }
    }

    #[inline(always)]
    pub(super) fn put(&mut self, slot: SlotId, value: Tensor) {
        if slot != SlotId::NONE {
            self.values[slot] = value;
        }
    }

    /// The value at a place, left where it is.
    #[inline(always)]
    pub(super) fn peek<'a>(
        &'a self,
        plan: &'a Plan,
        instances: &'a Dense<InstanceId, Instance>,
        input: Input,
    ) -> &'a Tensor {
        if let Some(slot) = input.own_slot() {
            return &self.values[slot];
        }
        match input.place() {
            Place::Slot(slot) => &self.values[slot],
            Place::Constant(constant) => &plan.constants[constant],
            Place::Invariant(invariant) => match &instances[self.instance].invariants[invariant] {
                Arrival::Live(value) => value,
                // A live node never reads an invariant that has not arrived.
                Arrival::Pending | Arrival::Dead => &plan.nothing,
            },
        }
    }

    /// A reader needs a value no more. The last one drops it; scalars have nothing to drop and are not
    /// counted.
    #[inline]
    pub(super) fn release(&mut self, input: Input) {
        if let Place::Slot(slot) = input.place() {
            let value = &mut self.values[slot];
            if value.as_scalar().is_none() {
                let uses = &mut self.uses[slot];
                *uses -= 1;
                if *uses == 0 {
                    *value = Tensor::scalar(false);
                }
            }
        }
    }

    /// The value for a reader. The last reader takes it out of its slot.
    #[inline(always)]
    pub(super) fn take(&mut self, slot: SlotId) -> Tensor {
        let value = &mut self.values[slot];
        if let Some(scalar) = value.as_scalar() {
            return (*scalar).into();
        }
        let uses = &mut self.uses[slot];
        *uses -= 1;
        match *uses {
            0 => std::mem::replace(value, Tensor::scalar(false)),
            _ => value.clone(),
        }
    }
}
