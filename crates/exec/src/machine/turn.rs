//! A node's turn: it runs, or passes on that it is dead, and tells those who wait for it.

use super::frames::Arrival;
use super::tasks::Task;
use super::{AHEAD, Fetched, Machine, Ready};
use crate::plan::{Body, Input, Kind, NO_SLOT, Node, Place, Plan, SwitchPlan};
use millstream_graph::op::{KernelCx, StepEnv};
use millstream_tensor::{Element, Error, Result, Tensor, invalid, prefetch};

/// Work from this many nanoseconds on is handed out.
const LONG_NS: f64 = 15_000.0;

/// What became of a node's turn.
pub(super) enum Turn {
    /// Through; its iteration is to be told.
    Through,
    /// Through, and its iteration knows.
    Told,
    /// As [`Turn::Told`], and this node, the only one that waited for nothing else, is next.
    Next(Ready),
    /// It goes on elsewhere and is finished later.
    Elsewhere,
}

impl Machine {
    /// Runs a live node.
    #[inline]
    pub(super) fn run<const SLOW: bool>(
        &mut self,
        plan: &Plan,
        env: &StepEnv,
        n: u32,
        node: &Node,
        at: u32,
    ) -> Result<Turn> {
        if SLOW && let Some(trace) = &mut self.trace {
            trace.begin();
        }
        let first = node.first_input as usize;
        match node.kind {
            Kind::Binary(f, kernel) => {
                let [x, y] = node.leading;
                let it = &mut self.iterations[at as usize];
                let a = it.peek(plan, &self.frames, x).as_scalar();
                let b = it.peek(plan, &self.frames, y).as_scalar();
                let Some(result) = a.zip(b).and_then(|(a, b)| f(a, b)) else {
                    return self.run_kernel(plan, env, n, node, at, kernel);
                };
                it.put(node.slot, result.into());
            }
            Kind::Unary(f, kernel) => {
                let [x, _] = node.leading;
                let it = &mut self.iterations[at as usize];
                let Some(result) = it.peek(plan, &self.frames, x).as_scalar().and_then(f) else {
                    return self.run_kernel(plan, env, n, node, at, kernel);
                };
                it.put(node.slot, result.into());
            }
            Kind::Kernel(kernel) => return self.run_kernel(plan, env, n, node, at, kernel),
            Kind::Forward => {
                let value = self.take(plan, at, plan.inputs[first])?;
                self.put(at, node.slot, value);
            }
            Kind::Nothing | Kind::Feed => {}
            Kind::Switch(which) => {
                self.run_switch(plan, node, &plan.switches[which as usize], at)?;
                if SLOW {
                    self.traced(plan, n, at, false);
                }
                return Ok(Turn::Through);
            }
            Kind::Merge(merge) => {
                let chosen = self.iterations[at as usize].merges[merge as usize].chosen;
                let input = plan.inputs[first + chosen as usize];
                if !matches!(input.place(), Place::Slot(slot) if slot as u32 == node.slot) {
                    let value = self.take(plan, at, input)?;
                    self.put(at, node.slot, value);
                }
                self.put(at, plan.slots(node, 2)[1], Tensor::scalar(chosen as i32));
            }
            Kind::Enter(frame, merge) => {
                let value = self.take(plan, at, plan.inputs[first])?;
                let inside = self.enter(plan, at, frame);
                let to = self.frames[inside as usize].iterations[0];
                self.give(plan, node, merge, to, value);
                self.entered(inside, to);
                self.tell_beside(plan, n, at);
                if SLOW {
                    self.traced(plan, n, at, false);
                }
                return Ok(Turn::Through);
            }
            Kind::EnterConstant(frame, invariant) => {
                let value = self.take(plan, at, plan.inputs[first])?;
                let inside = self.enter(plan, at, frame);
                self.enter_constant(plan, inside, invariant, Arrival::Live(value), node);
                self.tell_beside(plan, n, at);
                if SLOW {
                    self.traced(plan, n, at, false);
                }
                return Ok(Turn::Through);
            }
            Kind::Exit => {
                let value = self.take(plan, at, plan.inputs[first])?;
                self.exit(plan, n, node, at, value)?;
                if SLOW {
                    self.traced(plan, n, at, false);
                }
                return Ok(Turn::Through);
            }
            Kind::NextIteration(merge) => {
                let value = self.take(plan, at, plan.inputs[first])?;
                self.next_iteration(plan, n, node, merge, at, value);
                self.tell_beside(plan, n, at);
                if SLOW {
                    self.traced(plan, n, at, false);
                }
                return Ok(Turn::Through);
            }
            Kind::Fetch(k) => {
                let value = self.take(plan, at, plan.inputs[first])?;
                self.results[k as usize] = Fetched::Value(value);
                return Ok(Turn::Through);
            }
            Kind::Probe(k) => {
                let value = self.take(plan, at, plan.inputs[first])?;
                self.show(plan, at, k, value)?;
                return Ok(Turn::Through);
            }
        }
        if SLOW {
            self.traced(plan, n, at, false);
        }
        Ok(self.tell(plan, at, node))
    }

    /// A node whose values went elsewhere has run: those learn of it that wait for that in its own iteration.
    #[inline]
    fn tell_beside(&mut self, plan: &Plan, n: u32, at: u32) {
        if !plan.beside.is_empty()
            && let Some(&edges) = plan.beside.get(&n)
        {
            self.arrive_all(plan, at, edges, false);
        }
    }

    /// A node's values are in their slots: its consumers learn of it, and its iteration that it is through.
    #[inline]
    fn tell(&mut self, plan: &Plan, at: u32, node: &Node) -> Turn {
        let it = &mut self.iterations[at as usize];
        prefetch(&it.values, (node.slot as usize).wrapping_add(AHEAD));
        if let Some(local) = node.only.plain()
            && let Some(next) = it.count_down(at, node.only, local, false)
        {
            // One node less is outstanding, and one more.
            return Turn::Next(next);
        }
        let before = self.ready.len();
        if node.only.plain().is_none() {
            it.arrive_all(plan, &mut self.ready, at, node.edges, false);
        }
        it.outstanding = it.outstanding + (self.ready.len() - before) as u32 - 1;
        if it.outstanding == 0 && it.frame != 0 {
            self.ending.push(at);
            self.end(plan);
        }
        Turn::Told
    }

    #[cold]
    pub(super) fn traced(&mut self, plan: &Plan, n: u32, at: u32, dead: bool) {
        if self.trace.is_some() {
            let place = self.place(plan, at);
            let number = self.iterations[at as usize].number;
            if let Some(trace) = &mut self.trace {
                let outputs = (!dead).then(|| self.iterations[at as usize].seen(plan, n));
                trace.end(&plan.labels[n as usize], place, number, outputs);
            }
        }
    }

    fn run_kernel(
        &mut self,
        plan: &Plan,
        env: &StepEnv,
        n: u32,
        node: &Node,
        at: u32,
        kernel: u32,
    ) -> Result<Turn> {
        let k = &plan.kernels[kernel as usize];
        let first = node.first_input as usize;
        self.inputs.clear();
        for &input in &plan.inputs[first..first + node.n_inputs as usize] {
            match input.own_slot() {
                Some(slot) => self.inputs.push(self.iterations[at as usize].take(slot)),
                None => {
                    let value = self.take_otherwise(plan, at, input)?;
                    self.inputs.push(value);
                }
            }
        }
        if self.may_hand_out
            && (plan.hand_out_all || k.cost(&self.inputs) >= LONG_NS)
            && !matches!(k.body, Body::Waits(_))
        {
            let inputs = std::mem::take(&mut self.inputs);
            self.tasks.push_back(Task { node: n, at, kernel, inputs });
            return Ok(Turn::Elsewhere);
        }
        let n_outputs = k.info.output_types.len();
        if self.outputs.len() != n_outputs {
            self.outputs.resize(n_outputs, None);
        }
        let mut cx = KernelCx::new(&k.info, env, &mut self.inputs, &mut self.outputs);
        if !k.run(&mut cx)? {
            return self.park(n, at, kernel, k);
        }
        let it = &mut self.iterations[at as usize];
        for (i, (&slot, value)) in plan.slots(node, n_outputs).iter().zip(&mut self.outputs).enumerate() {
            // Taken even if nobody reads it: the next kernel finds all of them empty.
            match value.take() {
                Some(value) => it.put(slot, value),
                None if slot == NO_SLOT => {}
                None => return Err(no_output(i)),
            }
        }
        if self.trace.is_some() {
            self.traced(plan, n, at, false);
        }
        Ok(self.tell(plan, at, node))
    }

    /// Dead: nothing is computed; the news is passed on, and values that did arrive are let go.
    pub(super) fn run_dead(&mut self, plan: &Plan, n: u32, node: &Node, at: u32) {
        if !matches!(node.kind, Kind::Merge(_)) {
            let first = node.first_input as usize;
            for i in first..first + node.n_inputs as usize {
                self.release(at, plan.inputs[i]);
            }
        }
        match node.kind {
            Kind::Enter(frame, merge) => {
                let inside = self.enter(plan, at, frame);
                let to = self.frames[inside as usize].iterations[0];
                self.iterations[to as usize].settle(merge);
                self.arrive_all(plan, to, node.edges, true);
                self.entered(inside, to);
            }
            Kind::EnterConstant(frame, invariant) => {
                let inside = self.enter(plan, at, frame);
                self.enter_constant(plan, inside, invariant, Arrival::Dead, node);
            }
            // The frame speaks for its Exits when it ends; a dead NextIteration is what ends it.
            Kind::Exit | Kind::NextIteration(_) | Kind::Probe(_) => {}
            Kind::Fetch(k) => self.results[k as usize] = Fetched::Dead,
            Kind::Switch(which) => {
                let switch = &plan.switches[which as usize];
                for edges in [switch.dead[0], switch.dead[1], node.edges] {
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

    fn run_switch(&mut self, plan: &Plan, node: &Node, switch: &SwitchPlan, at: u32) -> Result<()> {
        let [data, pred] = node.leading;
        let it = &mut self.iterations[at as usize];
        let scalar = pred.own_slot().and_then(|slot| it.values[slot].as_scalar());
        let taken = match scalar.and_then(bool::of) {
            Some(taken) => *taken,
            None => self.predicate(plan, at, pred)?,
        };
        let taken = usize::from(taken);
        match switch.slots[taken] {
            NO_SLOT => self.release(at, data),
            slot => {
                let value = self.take(plan, at, data)?;
                self.put(at, slot, value);
            }
        }
        // The dead side first: the stack runs the live side first then.
        self.arrive_all(plan, at, switch.dead[1 - taken], true);
        self.arrive_all(plan, at, node.edges, false);
        self.arrive_all(plan, at, switch.edges[taken], false);
        Ok(())
    }

    /// A predicate that is not simply a bool in a slot.
    fn predicate(&mut self, plan: &Plan, at: u32, pred: Input) -> Result<bool> {
        let value = self.take(plan, at, pred)?;
        if value.shape().rank() != 0 {
            return Err(invalid!("The second input must be a scalar, but it has shape {}", value.shape())
                .with_help("the predicate of a Switch is a single bool"));
        }
        let value = value.to_scalar::<bool>();
        value.map_err(|e| invalid!("the predicate of a Switch must be a scalar bool: {}", e.message()))
    }
}

pub(super) fn no_output(i: usize) -> Error {
    Error::internal(format!("the kernel gave no output {i}"))
}
