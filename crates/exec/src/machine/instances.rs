//! Instances of frames and their iterations: how the execution of a loop begins, goes round, and ends.

use super::Machine;
use super::iteration::Iteration;
use crate::errors::exited_twice;
use crate::ids::{InstanceId, InvariantId, IterationId, MergeId, PlanNode, Span};
use crate::plan::{Node, Plan};
use millstream_graph::{Dense, FrameId};
use millstream_tensor::{Result, Tensor};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// One execution of a loop: an instance of its frame within one iteration of the frame around it.
pub(super) struct Instance {
    /// The frame.
    pub(super) of: FrameId,
    /// The iteration that it is in.
    pub(super) parent: IterationId,
    /// The iterations alive, oldest first.
    pub(super) iterations: VecDeque<IterationId>,
    /// The number of the next iteration.
    pub(super) next: u64,
    pub(super) pending_enters: u32,
    /// The values of the constant Enters, as they arrive.
    pub(super) invariants: Dense<InvariantId, Arrival>,
    pub(super) n_invariants: u32,
    pub(super) any_dead: bool,
    /// Tokens for the next iteration, which may not start yet: the NextIteration, the bypassed merge, the
    /// value.
    pub(super) parked: Vec<(PlanNode, MergeId, Tensor)>,
    /// Exits that have fired.
    pub(super) exited: SmallVec<[PlanNode; 4]>,
}

/// The state of a loop invariant.
#[derive(Clone)]
pub(super) enum Arrival {
    Pending,
    Live(Tensor),
    Dead,
}

impl Machine {
    pub(super) fn new_instance(&mut self, plan: &Plan, of: FrameId, parent: IterationId) -> InstanceId {
        let frame = &plan.frames[of];
        let fresh = Instance {
            of,
            parent,
            iterations: VecDeque::new(),
            next: 0,
            pending_enters: frame.n_enters,
            invariants: Dense::new(),
            n_invariants: 0,
            any_dead: false,
            parked: Vec::new(),
            exited: SmallVec::new(),
        };
        let id = match self.spare_instances.pop() {
            Some(id) => {
                // Keeps the allocations of the instance that was here.
                let old = &mut self.instances[id];
                let (iterations, invariants, parked) = (
                    std::mem::take(&mut old.iterations),
                    std::mem::take(&mut old.invariants),
                    std::mem::take(&mut old.parked),
                );
                *old = Instance { iterations, invariants, parked, ..fresh };
                id
            }
            None => self.instances.push(fresh),
        };
        let invariants = &mut self.instances[id].invariants;
        invariants.clear();
        invariants.extend(std::iter::repeat_n(Arrival::Pending, frame.invariants.len()));
        id
    }

    /// Starts the next iteration of an instance.
    pub(super) fn new_iteration(&mut self, plan: &Plan, of: InstanceId) -> IterationId {
        let instance = &mut self.instances[of];
        let frame = &plan.frames[instance.of];
        let number = instance.next;
        instance.next += 1;
        let complete = instance.n_invariants as usize == frame.invariants.len() && !instance.any_dead;
        let pending = if complete { &frame.pending_with_invariants } else { &frame.pending };
        let id = match self.spare_iterations[instance.of].pop() {
            Some(id) => {
                let it = &mut self.iterations[id];
                it.instance = of;
                it.number = number;
                it.outstanding = 0;
                it.pending.as_mut_slice().copy_from_slice(pending.as_slice());
                it.uses.as_mut_slice().copy_from_slice(frame.uses.as_slice());
                it.merges.as_mut_slice().copy_from_slice(frame.merges.as_slice());
                id
            }
            None => self.iterations.push(Iteration {
                instance: of,
                number,
                outstanding: 0,
                children: SmallVec::new(),
                pending: pending.clone(),
                uses: frame.uses.clone(),
                values: Dense::filled(Tensor::scalar(false), frame.uses.len()),
                merges: frame.merges.clone(),
            }),
        };
        instance.iterations.push_back(id);
        match complete {
            true => {
                for &node in &frame.ready_with_invariants {
                    self.push(node, id, false);
                }
                // An invariant may be an input of a cond's merge, which the counts do not show.
                for &edge in &frame.invariant_merges {
                    self.arrive_all(plan, id, Span::one(edge), false);
                }
            }
            false => self.apply_arrived(plan, of, id),
        }
        id
    }

    /// Tells a new iteration of the invariants that have already arrived.
    fn apply_arrived(&mut self, plan: &Plan, of: InstanceId, id: IterationId) {
        let frame = &plan.frames[self.instances[of].of];
        for (invariant, &enter) in frame.invariants.entries() {
            let dead = match self.instances[of].invariants[invariant] {
                Arrival::Pending => continue,
                Arrival::Live(_) => false,
                Arrival::Dead => true,
            };
            self.arrive_all(plan, id, plan.nodes[enter].edges, dead);
        }
    }

    /// The instance of a frame in an iteration, made if this is the first Enter to reach it.
    pub(super) fn enter(&mut self, plan: &Plan, at: IterationId, of: FrameId) -> InstanceId {
        let children = &self.iterations[at].children;
        if let Some((_, inside)) = children.iter().find(|(frame, _)| *frame == of) {
            return *inside;
        }
        let inside = self.new_instance(plan, of, at);
        self.iterations[at].children.push((of, inside));
        self.new_iteration(plan, inside);
        inside
    }

    /// An Enter is in. `first` is the first iteration.
    pub(super) fn entered(&mut self, inside: InstanceId, first: IterationId) {
        let instance = &mut self.instances[inside];
        instance.pending_enters -= 1;
        if instance.pending_enters == 0 {
            self.ending.push(first);
        }
    }

    /// A loop variable enters an instance.
    pub(super) fn enter_variable(
        &mut self,
        plan: &Plan,
        inside: InstanceId,
        merge: MergeId,
        value: Tensor,
        node: &Node,
    ) {
        let to = self.instances[inside].iterations[0];
        self.give(plan, node, merge, to, value);
        self.entered(inside, to);
    }

    /// A loop invariant enters an instance: it arrives in all iterations, those to come included.
    pub(super) fn enter_constant(
        &mut self,
        plan: &Plan,
        inside: InstanceId,
        invariant: InvariantId,
        value: Arrival,
        node: &Node,
    ) {
        let instance = &mut self.instances[inside];
        let dead = matches!(value, Arrival::Dead);
        instance.invariants[invariant] = value;
        instance.n_invariants += 1;
        instance.any_dead |= dead;
        let first = instance.iterations.front().copied();
        for i in 0..self.instances[inside].iterations.len() {
            let at = self.instances[inside].iterations[i];
            self.arrive_all(plan, at, node.edges, dead);
        }
        if let Some(first) = first {
            self.entered(inside, first);
        }
    }

    pub(super) fn exit(
        &mut self,
        plan: &Plan,
        n: PlanNode,
        node: &Node,
        at: IterationId,
        value: Tensor,
    ) -> Result<()> {
        let instance = &mut self.instances[self.iterations[at].instance];
        if instance.exited.contains(&n) {
            return Err(exited_twice());
        }
        instance.exited.push(n);
        let to = instance.parent;
        self.put(to, node.slot, value);
        self.arrive_all(plan, to, node.edges, false);
        Ok(())
    }

    /// A value comes into an iteration from outside of it.
    #[inline]
    pub(super) fn give(&mut self, plan: &Plan, node: &Node, merge: MergeId, to: IterationId, value: Tensor) {
        let it = &mut self.iterations[to];
        it.settle(merge);
        it.put(node.slot, value);
        self.arrive_all(plan, to, node.edges, false);
    }

    pub(super) fn next_iteration(
        &mut self,
        plan: &Plan,
        n: PlanNode,
        node: &Node,
        merge: MergeId,
        at: IterationId,
        value: Tensor,
    ) {
        let it = &self.iterations[at];
        let of = it.instance;
        let instance = &mut self.instances[of];
        // Iterations alive are numbered next - len .. next.
        let oldest = instance.next - instance.iterations.len() as u64;
        let to = match instance.iterations.get((it.number + 1 - oldest) as usize) {
            Some(&to) => to,
            None if (instance.iterations.len() as u32) < plan.frames[instance.of].parallel => {
                self.new_iteration(plan, of)
            }
            None => {
                instance.parked.push((n, merge, value));
                return;
            }
        };
        self.give(plan, node, merge, to, value);
    }

    /// A node of an iteration is through.
    #[inline]
    pub(super) fn finish(&mut self, plan: &Plan, at: IterationId) {
        let it = &mut self.iterations[at];
        it.outstanding -= 1;
        if it.outstanding == 0 && it.instance != InstanceId::ROOT {
            self.ending.push(at);
        }
        if !self.ending.is_empty() {
            self.end(plan);
        }
    }

    /// Ends the iterations on the worklist that are over, and what ends with them.
    pub(super) fn end(&mut self, plan: &Plan) {
        while let Some(at) = self.ending.pop() {
            let it = &self.iterations[at];
            let of = it.instance;
            let instance = &self.instances[of];
            let over = it.outstanding == 0
                && it.children.is_empty()
                && instance.pending_enters == 0
                && instance.iterations.front() == Some(&at);
            if of == InstanceId::ROOT || !over {
                continue;
            }
            self.end_iteration(plan, of, at);
        }
    }

    fn end_iteration(&mut self, plan: &Plan, of: InstanceId, at: IterationId) {
        let instance = &mut self.instances[of];
        instance.iterations.pop_front();
        self.spare_iterations[instance.of].push(at);
        if !instance.parked.is_empty() {
            // The tokens that waited for room: now that there is a free place, all of them go to one new
            // iteration.
            let mut parked = std::mem::take(&mut instance.parked);
            let to = self.new_iteration(plan, of);
            for (n, merge, value) in parked.drain(..) {
                self.give(plan, &plan.nodes[n], merge, to, value);
            }
            self.instances[of].parked = parked;
        }
        match self.instances[of].iterations.front() {
            // The next one may have waited only for this one.
            Some(&next) => self.ending.push(next),
            None => self.end_instance(plan, of),
        }
    }

    pub(super) fn end_instance(&mut self, plan: &Plan, id: InstanceId) {
        let instance = &mut self.instances[id];
        let (of, parent) = (instance.of, instance.parent);
        instance.invariants.clear();
        let exited = std::mem::take(&mut instance.exited);
        self.spare_instances.push(id);
        for &exit in plan.frames[of].exits.iter().filter(|e| !exited.contains(e)) {
            self.arrive_all(plan, parent, plan.nodes[exit].edges, true);
        }
        let it = &mut self.iterations[parent];
        it.children.retain(|(_, inside)| *inside != id);
        if it.outstanding == 0 && it.children.is_empty() && it.instance != InstanceId::ROOT {
            self.ending.push(parent);
        }
    }
}
