//! The state of one iteration, and what a token does when it arrives in it.

use super::{Arrival, DEAD, Frame, Ready};
use crate::plan::{Edge, Input, MergeState, NO_SLOT, Place, Plan, To};
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
    /// The tokens of a node's edges arrive. What becomes ready is pushed; the caller counts it as outstanding.
    #[inline]
    pub(super) fn arrive_all(
        &mut self,
        plan: &Plan,
        ready: &mut Vec<Ready>,
        at: u32,
        from: u32,
        to: u32,
        dead: bool,
    ) {
        for edge in &plan.edges[from as usize..to as usize] {
            self.arrive(plan, ready, at, edge, dead);
        }
    }

    #[inline(always)]
    pub(super) fn arrive(&mut self, plan: &Plan, ready: &mut Vec<Ready>, at: u32, edge: &Edge, dead: bool) {
        if edge.to != To::Node {
            return self.arrive_otherwise(plan, ready, at, edge, dead);
        }
        let pending = &mut self.pending[edge.local as usize];
        // The dead bit is set, never cleared: `|` where the count is `-`.
        let left = (*pending - 1) | (u32::from(dead) << 31);
        *pending = left;
        if left & !DEAD == 0 {
            ready.push(Ready { node: edge.node, at: at | left });
        }
    }

    #[inline(never)]
    pub(super) fn arrive_otherwise(
        &mut self,
        plan: &Plan,
        ready: &mut Vec<Ready>,
        at: u32,
        edge: &Edge,
        dead: bool,
    ) {
        match edge.to {
            To::Merge(_) | To::MergeControl => return self.arrive_at_merge(plan, ready, at, edge, dead),
            To::LiveOnly if dead => return,
            _ => {}
        }
        let pending = &mut self.pending[edge.local as usize];
        *pending -= 1;
        let left = *pending;
        if left & !DEAD == 0 {
            ready.push(Ready { node: edge.node, at: at | left });
        }
    }

    pub(super) fn arrive_at_merge(
        &mut self,
        plan: &Plan,
        ready: &mut Vec<Ready>,
        at: u32,
        edge: &Edge,
        dead: bool,
    ) {
        let merge = &mut self.merges[edge.local as usize];
        let settled = merge.chosen != MergeState::NONE;
        match edge.to {
            To::MergeControl => {
                merge.controls_left -= 1;
                if merge.controls_left == 0 && settled {
                    let dead = if merge.chosen == MergeState::DEAD { DEAD } else { 0 };
                    ready.push(Ready { node: edge.node, at: at | dead });
                }
                return;
            }
            To::Merge(input) => {
                merge.data_left = merge.data_left.saturating_sub(1);
                if settled {
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
            }
            _ => return,
        }
        if merge.controls_left != 0 {
            return;
        }
        let node = &plan.nodes[edge.node as usize];
        if merge.passes && !dead {
            // The value is in the merge's own slot already: go straight on to its consumers. They are no loop merges, so this
            // nests no deeper.
            for edge in &plan.edges[node.edges[0] as usize..node.edges[3] as usize] {
                self.arrive(plan, ready, at, edge, false);
            }
            return;
        }
        ready.push(Ready { node: edge.node, at: at | if dead { DEAD } else { 0 } });
    }

    #[inline(always)]
    pub(super) fn put(&mut self, slot: u32, value: Tensor) {
        if slot != NO_SLOT {
            self.values[slot as usize] = value;
        }
    }

    /// The value at a place, left where it is.
    #[inline]
    pub(super) fn peek<'a>(&'a self, plan: &'a Plan, frames: &'a [Frame], input: Input) -> &'a Tensor {
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

    #[inline]
    pub(super) fn release(&mut self, input: Input) {
        if let Place::Slot(slot) = input.place() {
            let uses = &mut self.uses[slot];
            *uses -= 1;
            if *uses == 0 {
                let value = &mut self.values[slot];
                if value.as_scalar().is_none() {
                    *value = Tensor::scalar(false);
                }
            }
        }
    }

    #[inline]
    pub(super) fn take(&mut self, slot: usize) -> Tensor {
        let uses = &mut self.uses[slot];
        *uses -= 1;
        match *uses {
            0 => std::mem::replace(&mut self.values[slot], Tensor::scalar(false)),
            _ => self.values[slot].clone(),
        }
    }
}
