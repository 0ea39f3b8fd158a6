//! A node's turn: it runs, or passes on that it is dead, and tells its consumers.

use super::instances::Arrival;
use super::tasks::Task;
use super::{AHEAD, Fetched, Machine, Ready};
use crate::errors::{no_output, predicate};
use crate::ids::{InstanceId, IterationId, KernelId, MergeId, PlanNode, SlotId, SwitchId};
use crate::plan::{Body, Input, Kind, Node, Place, Plan};
use millstream_graph::Entity;
use millstream_graph::op::{KernelCx, StepEnv};
use millstream_tensor::{Element, Result, Tensor, prefetch};

/// Work of at least this many nanoseconds is handed out. What is shorter is done sooner than another core has
/// its operands.
pub(crate) const LONG_NS: f64 = 40_000.0;

/// How a node's turn ended.
pub(super) enum Turn {
    /// The node is through; its iteration has yet to be told.
    Through,
    /// The node is through, and its iteration knows.
    Told,
    /// As [`Turn::Told`]. This node, the only one that waited for nothing else, is next.
    Next(Ready),
    /// The node goes on elsewhere and is finished later.
    Elsewhere,
}

/// What is left to do once a node has done its work.
enum Then {
    /// Its values are in its slots: its consumers are told.
    Tell,
    /// Its values went into another iteration: nodes of its own that wait for it are told.
    TellBeside,
    /// Nothing.
    Finish,
    /// Nothing, and traces do not show it: it is no node of the program.
    FinishUnseen,
}

impl Machine {
    /// Runs a live node.
    #[inline]
    pub(super) fn run<const SLOW: bool>(
        &mut self,
        plan: &Plan,
        env: &StepEnv,
        n: PlanNode,
        node: &Node,
        at: IterationId,
    ) -> Result<Turn> {
        if SLOW && let Some(trace) = &mut self.trace {
            trace.begin();
        }
        let [x, y] = node.leading;
        let then = match node.kind {
            Kind::Binary(f, kernel) => {
                let it = &mut self.iterations[at];
                let a = it.peek(plan, &self.instances, x).as_scalar();
                let b = it.peek(plan, &self.instances, y).as_scalar();
                match a.zip(b).and_then(|(a, b)| f(a, b)) {
                    Some(result) => it.put(node.slot, result.into()),
                    None => return self.run_kernel(plan, env, n, node, at, kernel),
                }
                Then::Tell
            }
            Kind::Unary(f, kernel) => {
                let it = &mut self.iterations[at];
                match it.peek(plan, &self.instances, x).as_scalar().and_then(f) {
                    Some(result) => it.put(node.slot, result.into()),
                    None => return self.run_kernel(plan, env, n, node, at, kernel),
                }
                Then::Tell
            }
            Kind::Kernel(kernel) => return self.run_kernel(plan, env, n, node, at, kernel),
            _ => self.route(plan, n, node, at)?,
        };
        if SLOW && !matches!(then, Then::FinishUnseen) {
            self.traced(plan, n, at, false);
        }
        match then {
            Then::Tell => return Ok(self.tell(plan, at, node)),
            Then::TellBeside => self.tell_beside(plan, n, at),
            Then::Finish | Then::FinishUnseen => {}
        }
        Ok(Turn::Through)
    }

    /// Runs a live node that only sends a value on its way.
    #[inline(always)]
    fn route(&mut self, plan: &Plan, n: PlanNode, node: &Node, at: IterationId) -> Result<Then> {
        let [x, _] = node.leading;
        Ok(match node.kind {
            Kind::Switch(switch) => {
                self.run_switch(plan, node, switch, at)?;
                Then::Finish
            }
            Kind::Merge(merge) => {
                self.run_merge(plan, node, at, merge)?;
                Then::Tell
            }
            Kind::Enter(frame, merge) => {
                let value = self.take(plan, at, x)?;
                if let Some(Arrival::Live(value)) = self.gather(plan, n, at, frame, Arrival::Live(value)) {
                    let inside = self.enter(plan, at, frame);
                    self.enter_variable(plan, inside, merge, value, node);
                }
                Then::TellBeside
            }
            Kind::EnterConstant(frame, invariant) => {
                let value = self.take(plan, at, x)?;
                if let Some(value) = self.gather(plan, n, at, frame, Arrival::Live(value)) {
                    let inside = self.enter(plan, at, frame);
                    self.enter_constant(plan, inside, invariant, value, node);
                }
                Then::TellBeside
            }
            Kind::Exit => {
                let value = self.take(plan, at, x)?;
                self.exit(plan, n, node, at, value)?;
                Then::Finish
            }
            Kind::NextIteration(merge) => {
                let value = self.take(plan, at, x)?;
                self.next_iteration(plan, n, node, merge, at, value);
                Then::TellBeside
            }
            Kind::Fetch(fetch) => {
                self.results[fetch] = Fetched::Value(self.take(plan, at, x)?);
                Then::FinishUnseen
            }
            Kind::Probe(probe) => {
                let value = self.take(plan, at, x)?;
                self.show(plan, at, probe, value)?;
                Then::FinishUnseen
            }
            Kind::Forward => {
                let value = self.take(plan, at, x)?;
                self.put(at, node.slot, value);
                Then::Tell
            }
            Kind::Nothing | Kind::Feed => Then::Tell,
            // `run` runs these.
            Kind::Unary(..) | Kind::Binary(..) | Kind::Kernel(_) => Then::Finish,
        })
    }

    /// Tells the nodes that wait for this one in its own iteration, though its value went elsewhere.
    #[inline]
    fn tell_beside(&mut self, plan: &Plan, n: PlanNode, at: IterationId) {
        if !plan.beside.is_empty()
            && let Some(&edges) = plan.beside.get(&n)
        {
            self.arrive_all(plan, at, edges, false);
        }
    }

    /// Tells the consumers that a node's values are in their slots, and its iteration that it is through.
    #[inline]
    fn tell(&mut self, plan: &Plan, at: IterationId, node: &Node) -> Turn {
        let it = &mut self.iterations[at];
        prefetch(it.values.as_slice(), node.slot.index().wrapping_add(AHEAD));
        if let Some(count) = node.only.plain()
            && let Some(next) = it.count_down(at, node.only, count, false)
        {
            // One node less is outstanding, and one more.
            return Turn::Next(next);
        }
        let before = self.ready.len();
        if node.only.plain().is_none() {
            it.arrive_all(plan, &mut self.ready, at, node.edges, false);
        }
        it.outstanding = it.outstanding + (self.ready.len() - before) as u32 - 1;
        if it.outstanding == 0 && it.instance != InstanceId::ROOT {
            self.ending.push(at);
            self.end(plan);
        }
        Turn::Told
    }

    #[cold]
    pub(super) fn traced(&mut self, plan: &Plan, n: PlanNode, at: IterationId, dead: bool) {
        if self.trace.is_some() {
            let place = self.place(plan, at);
            let it = &self.iterations[at];
            if let Some(trace) = &mut self.trace {
                let outputs = (!dead).then(|| it.seen(plan, n));
                trace.end(&plan.labels[n], place, it.number, outputs);
            }
        }
    }

    fn run_kernel(
        &mut self,
        plan: &Plan,
        env: &StepEnv,
        n: PlanNode,
        node: &Node,
        at: IterationId,
        kernel: KernelId,
    ) -> Result<Turn> {
        let k = &plan.kernels[kernel];
        self.inputs.clear();
        for &input in plan.inputs(node) {
            match input.own_slot() {
                Some(slot) => self.inputs.push(self.iterations[at].take(slot)),
                None => {
                    let value = self.take_otherwise(plan, at, input)?;
                    self.inputs.push(value);
                }
            }
        }
        if self.may_hand_out
            && !matches!(k.body, Body::Waits(_))
            && (plan.hand_out_all || k.is_long(&self.inputs))
        {
            let inputs = std::mem::take(&mut self.inputs);
            self.tasks.push_back(Task { node: n, at, kernel, inputs });
            return Ok(Turn::Elsewhere);
        }
        let n_outputs = plan.slots(node).len();
        if self.outputs.len() != n_outputs {
            self.outputs.resize(n_outputs, None);
        }
        let mut cx = KernelCx::new(&k.info, env, &mut self.inputs, &mut self.outputs);
        if !k.run(&mut cx)? {
            return self.park(n, at, kernel, k);
        }
        let it = &mut self.iterations[at];
        for (i, (&slot, value)) in plan.slots(node).iter().zip(&mut self.outputs).enumerate() {
            // Taken even if nothing reads it: the next kernel finds all outputs empty.
            match value.take() {
                Some(value) => it.put(slot, value),
                None if slot == SlotId::NONE => {}
                None => return Err(no_output(i)),
            }
        }
        if self.trace.is_some() {
            self.traced(plan, n, at, false);
        }
        Ok(self.tell(plan, at, node))
    }

    /// Runs a dead node: it computes nothing, passes the news on, and releases the values that did arrive.
    pub(super) fn run_dead(&mut self, plan: &Plan, n: PlanNode, node: &Node, at: IterationId) {
        if !matches!(node.kind, Kind::Merge(_)) {
            for &input in plan.inputs(node) {
                self.release(at, input);
            }
        }
        match node.kind {
            Kind::Enter(frame, merge) => {
                if self.gather(plan, n, at, frame, Arrival::Dead).is_some() {
                    let inside = self.enter(plan, at, frame);
                    let first = self.instances[inside].iterations[0];
                    self.enter_dead(plan, inside, first, merge, n);
                }
            }
            Kind::EnterConstant(frame, invariant) => {
                if self.gather(plan, n, at, frame, Arrival::Dead).is_some() {
                    let inside = self.enter(plan, at, frame);
                    self.enter_constant(plan, inside, invariant, Arrival::Dead, node);
                }
            }
            // The instance decides about its Exits when it ends; a dead NextIteration is what ends it.
            Kind::Exit | Kind::NextIteration(_) | Kind::Probe(_) => {}
            Kind::Fetch(fetch) => self.results[fetch] = Fetched::Dead,
            Kind::Switch(switch) => {
                let [no, yes] = plan.switches[switch].dead;
                for edges in [no, yes, node.edges] {
                    self.arrive_all(plan, at, edges, true);
                }
            }
            _ => self.arrive_all(plan, at, node.edges, true),
        }
        self.tell_beside(plan, n, at);
        if self.trace.is_some() {
            self.traced(plan, n, at, true);
        }
    }

    fn run_merge(&mut self, plan: &Plan, node: &Node, at: IterationId, merge: MergeId) -> Result<()> {
        let chosen = self.iterations[at].merges[merge].chosen;
        let input = plan.inputs(node)[chosen as usize];
        if input.place() != Place::Slot(node.slot) {
            let value = self.take(plan, at, input)?;
            self.put(at, node.slot, value);
        }
        self.put(at, plan.slots(node)[1], Tensor::scalar(chosen as i32));
        Ok(())
    }

    fn run_switch(&mut self, plan: &Plan, node: &Node, switch: SwitchId, at: IterationId) -> Result<()> {
        let switch = &plan.switches[switch];
        let [data, pred] = node.leading;
        let it = &mut self.iterations[at];
        let scalar = pred.own_slot().and_then(|slot| it.values[slot].as_scalar());
        let taken = match scalar.and_then(bool::of) {
            Some(taken) => *taken,
            None => self.predicate(plan, at, pred)?,
        };
        let taken = usize::from(taken);
        match switch.slots[taken] {
            SlotId::NONE => self.release(at, data),
            slot => {
                let value = self.take(plan, at, data)?;
                self.put(at, slot, value);
            }
        }
        // The dead side first: the stack then runs the live side first.
        self.arrive_all(plan, at, switch.dead[1 - taken], true);
        self.arrive_all(plan, at, node.edges, false);
        self.arrive_all(plan, at, switch.edges[taken], false);
        Ok(())
    }

    /// A predicate that is not simply a bool in a slot.
    fn predicate(&mut self, plan: &Plan, at: IterationId, pred: Input) -> Result<bool> {
        let value = self.take(plan, at, pred)?;
        predicate(&value)
    }
}
