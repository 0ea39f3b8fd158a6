//! The state of one iteration, and what a token does when it arrives in it.

use super::frames::{Arrival, Frame};
use super::{DEAD, Ready};
use crate::plan::{Edge, Input, Kind, MergeState, NO_SLOT, Place, Plan, To};
use crate::trace::Seen;
use millstream_tensor::Tensor;
use smallvec::SmallVec;

/// The state of one iteration of one frame instance.
pub(super) struct Iteration {
    pub(super) frame: u32,
    pub(super) number: u64,
    pub(super) outstanding: u32,
    /// Frame instances alive inside: which static frame, which instance.
    pub(super) children: SmallVec<[(u32, u32); 2]>,
    pub(super) pending: Vec<u32>,
    pub(super) uses: Vec<u32>,
    pub(super) values: Vec<Tensor>,
    pub(super) merges: Vec<MergeState>,
}

impl Iteration {
    /// What lies in the slots of a node that has just run: what its kernel gave.
    pub(super) fn seen(&self, plan: &Plan, n: u32) -> Vec<Seen> {
        let node = &plan.nodes[n as usize];
        let (Kind::Kernel(kernel) | Kind::Unary(_, kernel) | Kind::Binary(_, kernel)) = node.kind else {
            return Vec::new();
        };
        let types = &plan.kernels[kernel as usize].info.output_types;
        let slots = plan.slots(node, types.len()).iter().zip(types).enumerate();
        slots
            .filter(|(_, (slot, ty))| **slot != NO_SLOT && !ty.is_ref)
            .map(|(index, (&slot, _))| {
                let value = &self.values[slot as usize];
                Seen { index: index as u32, dtype: value.dtype(), shape: value.shape().clone() }
            })
            .collect()
    }

    /// A token arrives that only counts down, at the place `Edge::plain` gives: the node if it is ready now.
    #[inline(always)]
    pub(super) fn count_down(&mut self, at: u32, edge: Edge, local: usize, dead: bool) -> Option<Ready> {
        let pending = &mut self.pending[local];
        // The dead bit is set, never cleared: `|` where the count is `-`.
        let left = (*pending - 1) | (u32::from(dead) << 31);
        *pending = left;
        (left & !DEAD == 0).then_some(Ready { node: edge.node, at: at | left })
    }

    /// The tokens of a node's edges arrive. What becomes ready is pushed; the caller counts it as outstanding.
    #[inline]
    pub(super) fn arrive_all(
        &mut self,
        plan: &Plan,
        ready: &mut Vec<Ready>,
        at: u32,
        edges: (u32, u32),
        dead: bool,
    ) {
        for &edge in &plan.edges[edges.0 as usize..edges.1 as usize] {
            match edge.plain() {
                Some(local) => {
                    if let Some(node) = self.count_down(at, edge, local, dead) {
                        ready.push(node);
                    }
                }
                None => self.arrive_otherwise(plan, ready, at, edge, dead),
            }
        }
    }

    #[inline(never)]
    fn arrive_otherwise(&mut self, plan: &Plan, ready: &mut Vec<Ready>, at: u32, edge: Edge, dead: bool) {
        match edge.to() {
            To::Merge => self.arrive_at_merge(plan, ready, at, edge, dead),
            To::MergeControl => {
                let merge = &mut self.merges[edge.local()];
                merge.controls_left -= 1;
                if merge.controls_left == 0 && merge.chosen != MergeState::NONE {
                    let dead = if merge.chosen == MergeState::DEAD { DEAD } else { 0 };
                    ready.push(Ready { node: edge.node, at: at | dead });
                }
            }
            To::LiveOnly if dead => {}
            To::Node | To::Weak | To::LiveOnly => {
                ready.extend(self.count_down(at, edge, edge.local(), false));
            }
        }
    }

    fn arrive_at_merge(&mut self, plan: &Plan, ready: &mut Vec<Ready>, at: u32, edge: Edge, dead: bool) {
        let (merge, input) = plan.merge_inputs[edge.local()];
        let merge = &mut self.merges[merge as usize];
        merge.data_left = merge.data_left.saturating_sub(1);
        if merge.chosen != MergeState::NONE {
            // The first live input was taken; what comes later is only let go.
            if !dead {
                let first = plan.nodes[edge.node as usize].first_input;
                self.release(plan.inputs[(first + input) as usize]);
            }
            return;
        }
        match dead {
            false => merge.chosen = input,
            true if merge.is_loop || merge.data_left == 0 => merge.chosen = MergeState::DEAD,
            true => return,
        }
        if merge.controls_left == 0 {
            ready.push(Ready { node: edge.node, at: at | if dead { DEAD } else { 0 } });
        }
    }

    /// A bypassed merge has got its token.
    #[inline]
    pub(super) fn settle(&mut self, merge: u32) {
        if let Some(merge) = self.merges.get_mut(merge as usize) {
            merge.chosen = 0;
        }
    }

    #[inline(always)]
    pub(super) fn put(&mut self, slot: u32, value: Tensor) {
        if slot != NO_SLOT {
            self.values[slot as usize] = value;
        }
    }

    /// The value at a place, left where it is.
    #[inline(always)]
    pub(super) fn peek<'a>(&'a self, plan: &'a Plan, frames: &'a [Frame], input: Input) -> &'a Tensor {
        if let Some(slot) = input.own_slot() {
            return &self.values[slot];
        }
        match input.place() {
            Place::Slot(slot) => &self.values[slot],
            Place::Constant(c) => &plan.constants[c],
            Place::Invariant(i) => match &frames[self.frame as usize].invariants[i] {
                Arrival::Live(value) => value,
                // A live node never reads an invariant that has not arrived.
                Arrival::Pending | Arrival::Dead => &plan.nothing,
            },
        }
    }

    /// A reader is through with a value. The last one drops it; scalars have nothing to drop and are not counted.
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

    /// The value for a reader: the last one takes it out of its slot.
    #[inline(always)]
    pub(super) fn take(&mut self, slot: usize) -> Tensor {
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
