//! Frames and their iterations: how a loop's execution begins, goes round, and ends.

use super::Machine;
use super::iteration::Iteration;
use crate::plan::{Node, Plan};
use millstream_tensor::{Result, Tensor, invalid};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// One execution of a loop: a frame within one iteration of the frame around it.
pub(super) struct Frame {
    /// Which frame of the plan.
    pub(super) of: u32,
    /// The iteration it is in.
    pub(super) parent: u32,
    /// The iterations alive, oldest first.
    pub(super) iterations: VecDeque<u32>,
    /// The number of the next iteration.
    pub(super) next: u64,
    pub(super) pending_enters: u32,
    /// The values of the constant Enters, as they arrive.
    pub(super) invariants: Vec<Arrival>,
    pub(super) n_invariants: u32,
    pub(super) any_dead: bool,
    /// Tokens for the next iteration, which may not start yet: from which node, for which bypassed merge.
    pub(super) parked: Vec<(u32, u32, Tensor)>,
    /// Exits that have fired.
    pub(super) exited: SmallVec<[u32; 4]>,
}

#[derive(Clone)]
pub(super) enum Arrival {
    Pending,
    Live(Tensor),
    Dead,
}

impl Machine {
    pub(super) fn new_frame(&mut self, plan: &Plan, of: u32, parent: u32) -> u32 {
        let frame_plan = &plan.frames[of as usize];
        let fresh = Frame {
            of,
            parent,
            iterations: VecDeque::new(),
            next: 0,
            pending_enters: frame_plan.n_enters,
            invariants: Vec::new(),
            n_invariants: 0,
            any_dead: false,
            parked: Vec::new(),
            exited: SmallVec::new(),
        };
        let id = match self.spare_frames.pop() {
            Some(id) => {
                // Keep the allocations of the one that was here.
                let old = &mut self.frames[id as usize];
                let (iterations, invariants, parked) = (
                    std::mem::take(&mut old.iterations),
                    std::mem::take(&mut old.invariants),
                    std::mem::take(&mut old.parked),
                );
                *old = Frame { iterations, invariants, parked, ..fresh };
                id
            }
            None => {
                self.frames.push(fresh);
                (self.frames.len() - 1) as u32
            }
        };
        let invariants = &mut self.frames[id as usize].invariants;
        invariants.clear();
        invariants.resize(frame_plan.invariants.len(), Arrival::Pending);
        id
    }

    /// Starts the next iteration of a frame instance.
    pub(super) fn new_iteration(&mut self, plan: &Plan, frame_id: u32) -> u32 {
        let frame = &mut self.frames[frame_id as usize];
        let of = &plan.frames[frame.of as usize];
        let number = frame.next;
        frame.next += 1;
        let complete = frame.n_invariants as usize == of.invariants.len() && !frame.any_dead;
        let pending = if complete { &of.pending_with_invariants } else { &of.pending };
        let id = match self.spare_iterations[frame.of as usize].pop() {
            Some(id) => {
                let it = &mut self.iterations[id as usize];
                it.frame = frame_id;
                it.number = number;
                it.outstanding = 0;
                it.pending.copy_from_slice(pending);
                it.uses.copy_from_slice(&of.uses);
                it.merges.copy_from_slice(&of.merges);
                id
            }
            None => {
                self.iterations.push(Iteration {
                    frame: frame_id,
                    number,
                    outstanding: 0,
                    children: SmallVec::new(),
                    pending: pending.clone(),
                    uses: of.uses.clone(),
                    values: vec![Tensor::scalar(false); of.n_slots as usize],
                    merges: of.merges.clone(),
                });
                (self.iterations.len() - 1) as u32
            }
        };
        frame.iterations.push_back(id);
        match complete {
            true => {
                for &node in &of.ready_with_invariants {
                    self.push(node, id, false);
                }
                self.invariants_at_merges(plan, frame_id, id);
            }
            false => self.apply_arrived(plan, frame_id, id),
        }
        id
    }

    /// Tells a new iteration of the invariants that are there already.
    fn apply_arrived(&mut self, plan: &Plan, frame_id: u32, id: u32) {
        let of = &plan.frames[self.frames[frame_id as usize].of as usize];
        for (i, &enter) in of.invariants.iter().enumerate() {
            let dead = match self.frames[frame_id as usize].invariants[i] {
                Arrival::Pending => continue,
                Arrival::Live(_) => false,
                Arrival::Dead => true,
            };
            let node = &plan.nodes[enter as usize];
            self.arrive_all(plan, id, node.edges, dead);
        }
    }

    /// The short way leaves merges out: an invariant may be an input of a cond's merge.
    fn invariants_at_merges(&mut self, plan: &Plan, frame_id: u32, id: u32) {
        let of = &plan.frames[self.frames[frame_id as usize].of as usize];
        for &edge in &of.invariant_merges {
            self.arrive_all(plan, id, (edge, edge + 1), false);
        }
    }

    /// The instance of a frame in an iteration, made if this is the first Enter to reach it.
    pub(super) fn enter(&mut self, plan: &Plan, at: u32, of: u32) -> u32 {
        let children = &self.iterations[at as usize].children;
        if let Some((_, inside)) = children.iter().find(|(f, _)| *f == of) {
            return *inside;
        }
        let inside = self.new_frame(plan, of, at);
        self.iterations[at as usize].children.push((of, inside));
        self.new_iteration(plan, inside);
        inside
    }

    /// An Enter is in.
    pub(super) fn entered(&mut self, inside: u32, first: u32) {
        let frame = &mut self.frames[inside as usize];
        frame.pending_enters -= 1;
        if frame.pending_enters == 0 {
            self.ending.push(first);
        }
    }

    pub(super) fn enter_constant(
        &mut self,
        plan: &Plan,
        inside: u32,
        invariant: u32,
        value: Arrival,
        node: &Node,
    ) {
        let frame = &mut self.frames[inside as usize];
        let dead = matches!(value, Arrival::Dead);
        frame.invariants[invariant as usize] = value;
        frame.n_invariants += 1;
        frame.any_dead |= dead;
        let first = frame.iterations.front().copied();
        for i in 0..self.frames[inside as usize].iterations.len() {
            let at = self.frames[inside as usize].iterations[i];
            self.arrive_all(plan, at, node.edges, dead);
        }
        if let Some(first) = first {
            self.entered(inside, first);
        }
    }

    pub(super) fn exit(&mut self, plan: &Plan, n: u32, node: &Node, at: u32, value: Tensor) -> Result<()> {
        let frame = &mut self.frames[self.iterations[at as usize].frame as usize];
        if frame.exited.contains(&n) {
            return Err(invalid!(
                "the loop has given this result before: its condition must be false once, at the end"
            )
            .with_help("an Exit may only be reached when the loop's condition is false"));
        }
        frame.exited.push(n);
        let to = frame.parent;
        self.put(to, node.slot, value);
        self.arrive_all(plan, to, node.edges, false);
        Ok(())
    }

    /// A value comes into an iteration from outside of it.
    #[inline]
    pub(super) fn give(&mut self, plan: &Plan, node: &Node, merge: u32, to: u32, value: Tensor) {
        let it = &mut self.iterations[to as usize];
        it.settle(merge);
        it.put(node.slot, value);
        self.arrive_all(plan, to, node.edges, false);
    }

    pub(super) fn next_iteration(
        &mut self,
        plan: &Plan,
        n: u32,
        node: &Node,
        merge: u32,
        at: u32,
        value: Tensor,
    ) {
        let it = &self.iterations[at as usize];
        let frame_id = it.frame;
        let frame = &mut self.frames[frame_id as usize];
        // Iterations alive are numbered next - len .. next.
        let oldest = frame.next - frame.iterations.len() as u64;
        let to = match frame.iterations.get((it.number + 1 - oldest) as usize) {
            Some(&to) => to,
            None if (frame.iterations.len() as u32) < plan.frames[frame.of as usize].parallel => {
                self.new_iteration(plan, frame_id)
            }
            None => {
                frame.parked.push((n, merge, value));
                return;
            }
        };
        self.give(plan, node, merge, to, value);
    }

    /// A node of an iteration is through.
    #[inline]
    pub(super) fn finish(&mut self, plan: &Plan, at: u32) {
        let it = &mut self.iterations[at as usize];
        it.outstanding -= 1;
        if it.outstanding == 0 && it.frame != 0 {
            self.ending.push(at);
        }
        if !self.ending.is_empty() {
            self.end(plan);
        }
    }

    /// Ends the iterations on the worklist that are over, and what ends with them.
    pub(super) fn end(&mut self, plan: &Plan) {
        while let Some(at) = self.ending.pop() {
            let it = &self.iterations[at as usize];
            let frame_id = it.frame;
            let frame = &self.frames[frame_id as usize];
            let over = it.outstanding == 0
                && it.children.is_empty()
                && frame.pending_enters == 0
                && frame.iterations.front() == Some(&at);
            if frame_id == 0 || !over {
                continue;
            }
            self.end_iteration(plan, frame_id, at);
        }
    }

    fn end_iteration(&mut self, plan: &Plan, frame_id: u32, at: u32) {
        let frame = &mut self.frames[frame_id as usize];
        frame.iterations.pop_front();
        self.spare_iterations[frame.of as usize].push(at);
        if !frame.parked.is_empty() {
            // The tokens that waited for room; with one more free place all of them go to one new iteration.
            let mut parked = std::mem::take(&mut frame.parked);
            let to = self.new_iteration(plan, frame_id);
            for (n, merge, value) in parked.drain(..) {
                self.give(plan, &plan.nodes[n as usize], merge, to, value);
            }
            self.frames[frame_id as usize].parked = parked;
        }
        match self.frames[frame_id as usize].iterations.front() {
            // The next one may have waited only for this one.
            Some(&next) => self.ending.push(next),
            None => self.end_frame(plan, frame_id),
        }
    }

    fn end_frame(&mut self, plan: &Plan, frame_id: u32) {
        let frame = &mut self.frames[frame_id as usize];
        let (of, parent) = (frame.of, frame.parent);
        frame.invariants.clear();
        let exited = std::mem::take(&mut frame.exited);
        self.spare_frames.push(frame_id);
        for &exit in plan.frames[of as usize].exits.iter().filter(|e| !exited.contains(e)) {
            let node = &plan.nodes[exit as usize];
            self.arrive_all(plan, parent, node.edges, true);
        }
        let it = &mut self.iterations[parent as usize];
        it.children.retain(|(_, inside)| *inside != frame_id);
        if it.outstanding == 0 && it.children.is_empty() && it.frame != 0 {
            self.ending.push(parent);
        }
    }
}
