//! Plans without loops and branches: their nodes run one after another, in the order that the tokens would
//! give, and each value goes straight to the places of the inputs that read it.
//!
//! What such a run cannot do it leaves to the tokens. Before a kernel that is worth another thread, or that
//! has to wait, the machine is put into the state that the tokens would have brought it to, and goes on from
//! there.

use super::{Fetched, Machine, Ready};
use crate::errors::no_output;
use crate::ids::{IterationId, PlanNode, SlotId};
use crate::plan::{Body, KernelPlan, Kind, Place, Plan, Reads, StraightPlan, StraightStep};
use crate::variable::read_reference;
use millstream_graph::op::{KernelCx, StepEnv, caught};
use millstream_graph::{Dense, Entity, FrameId};
use millstream_tensor::{Error, Result, Tensor};
use smallvec::SmallVec;

/// The state of a run that executes a [`StraightPlan`].
#[derive(Default)]
pub(super) struct Straight {
    /// For each place, the value that its node will read; before a node or a feed has made it, as in `kept`.
    places: Vec<Tensor>,
    /// For each place, its value where all runs have the same: a constant or a handle. Otherwise `false`.
    kept: Vec<Tensor>,
    /// The outputs of the kernel that runs.
    outputs: Vec<Option<Tensor>>,
    /// Whether `kept`, `places` and `outputs` are those of the plan.
    is_set: bool,
    /// The next step.
    at: usize,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// The machine passes tokens.
    #[default]
    Off,
    Runs,
    /// All steps have run.
    Over,
}

/// Why [`Machine::run_straight`] returned.
enum Stopped {
    Over,
    /// It ran as many steps as it may.
    Limit,
    /// The kernel of the next step is worth another thread, or has to wait.
    ByTokens,
}

impl Straight {
    /// Whether steps are left to execute.
    #[inline]
    pub(super) fn runs(&self) -> bool {
        self.state == State::Runs
    }

    /// Whether all steps were executed.
    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    pub(super) fn off(&mut self) {
        self.state = State::Off;
    }

    /// What was kept of handles is no longer valid.
    pub(super) fn forget(&mut self) {
        self.is_set = false;
    }

    /// A value goes to its readers, of which the last gets it without a copy.
    #[inline(always)]
    fn give(&mut self, plan: &StraightPlan, span: [u32; 2], value: Tensor) {
        let Some((&last, others)) = plan.places[span[0] as usize..span[1] as usize].split_last() else {
            return;
        };
        for &other in others {
            self.places[other as usize] = value.clone();
        }
        self.places[last as usize] = value;
    }

    /// The only output of a step goes to its readers, and the step is done.
    #[inline(always)]
    fn give_first(&mut self, plan: &StraightPlan, step: &StraightStep, value: Tensor) {
        self.give(plan, plan.outputs[step.outputs[0] as usize], value);
        self.at += 1;
    }

    /// The values that a step has read are let go.
    #[inline(always)]
    fn clear(&mut self, step: &StraightStep) {
        for i in step.inputs() {
            self.places[i].set_to(&self.kept[i]);
        }
    }

    /// Takes the value of a step that passes its only input on.
    fn pass_on(&mut self, step: &StraightStep) -> Result<Tensor> {
        let value = self.places.get_mut(step.inputs[0] as usize).map(take);
        self.clear(step);
        match value {
            Some(reference) if step.derefs => read_reference(&reference),
            value => value.ok_or_else(|| Error::internal("a node that passes a value on has none")),
        }
    }

    /// The inputs of a step that takes values of variables, instead of their references.
    #[cold]
    fn dereferenced(&mut self, plan: &Plan, step: &StraightStep) -> Result<SmallVec<[Tensor; 4]>> {
        let mut values = SmallVec::new();
        for (place, input) in step.inputs().zip(plan.inputs(&plan.nodes[step.node])) {
            values.push(match input.deref() {
                true => read_reference(&self.places[place])?,
                false => take(&mut self.places[place]),
            });
        }
        Ok(values)
    }

    /// Puts the inputs back that [`Straight::dereferenced`] has taken.
    #[cold]
    fn put_back(&mut self, plan: &Plan, step: &StraightStep, values: SmallVec<[Tensor; 4]>) {
        let inputs = plan.inputs(&plan.nodes[step.node]);
        for ((place, input), value) in step.inputs().zip(inputs).zip(values) {
            if !input.deref() {
                self.places[place] = value;
            }
        }
    }
}

impl Machine {
    /// Starts a run by steps, if the plan has them. `again`: the handles of an earlier run are in place.
    pub(super) fn start_straight(&mut self, plan: &Plan, again: bool) -> bool {
        let Some(straight) = &plan.straight else { return false };
        if straight.needs_handles && !again {
            return false;
        }
        let this = &mut self.straight;
        if !this.is_set {
            let slots = &self.iterations[IterationId::ROOT].values;
            let kept = |reads: &Reads| match *reads {
                Reads::Given => Tensor::scalar(false),
                Reads::Constant(constant) => plan.constants[constant].clone(),
                Reads::Handle(slot) => slots[slot].clone(),
            };
            this.kept = straight.reads.iter().map(kept).collect();
            this.places.clone_from(&this.kept);
            this.outputs.resize(straight.most_outputs, None);
            this.is_set = true;
        }
        (this.at, this.state) = (0, State::Runs);
        true
    }

    /// Gives feed `i` its value in a run by steps.
    pub(super) fn feed_straight(&mut self, plan: &Plan, i: usize, value: Tensor) {
        if let Some(straight) = &plan.straight
            && let Some(span) = straight.feeds.get(i)
        {
            self.straight.give(straight, *span, value);
        }
    }

    /// Runs at most `limit` steps. Returns whether anything is left to run.
    pub(super) fn drive_straight(&mut self, plan: &Plan, env: &StepEnv, limit: usize) -> bool {
        let Some(straight) = &plan.straight else { return false };
        match caught(|| self.run_straight(plan, straight, env, limit), "the kernel panicked") {
            Ok(Stopped::Over) => {
                self.straight.state = State::Over;
                false
            }
            Ok(Stopped::Limit) => true,
            Ok(Stopped::ByTokens) => {
                self.leave_straight(plan, straight);
                true
            }
            Err(error) => {
                let node = straight.steps.get(self.straight.at).map_or(PlanNode::NONE, |step| step.node);
                self.straight.off();
                self.fail(plan, node, IterationId::ROOT, error);
                false
            }
        }
    }

    fn run_straight(
        &mut self,
        plan: &Plan,
        straight: &StraightPlan,
        env: &StepEnv,
        limit: usize,
    ) -> Result<Stopped> {
        let end = straight.steps.len().min(self.straight.at.saturating_add(limit));
        while self.straight.at < end {
            let step = &straight.steps[self.straight.at];
            let this = &mut self.straight;
            let inputs = &this.places[step.inputs()];
            let kernel = match step.kind {
                Kind::Kernel(kernel) => kernel,
                Kind::Binary(f, kernel) => {
                    let scalars = match inputs {
                        [a, b] => a.as_scalar().zip(b.as_scalar()),
                        _ => None,
                    };
                    if let Some(result) = scalars.and_then(|(a, b)| f(a, b)) {
                        this.give_first(straight, step, result.into());
                        continue;
                    }
                    kernel
                }
                Kind::Unary(f, kernel) => {
                    let scalar = inputs.first().and_then(Tensor::as_scalar);
                    if let Some(result) = scalar.and_then(f) {
                        this.give_first(straight, step, result.into());
                        continue;
                    }
                    kernel
                }
                Kind::Forward => {
                    let value = this.pass_on(step)?;
                    this.give_first(straight, step, value);
                    continue;
                }
                Kind::Fetch(fetch) => {
                    self.results[fetch] = Fetched::Value(this.pass_on(step)?);
                    this.at += 1;
                    continue;
                }
                // It runs for its edges alone. The plan has no others.
                _ => {
                    this.at += 1;
                    continue;
                }
            };
            let k = &plan.kernels[kernel];
            let ran = match step.derefs {
                false => {
                    let inputs = &mut this.places[step.inputs()];
                    run_kernel(k, env, inputs, &mut this.outputs[..step.outputs().len()], self.may_hand_out)?
                }
                true => {
                    let mut inputs = this.dereferenced(plan, step)?;
                    let outputs = &mut this.outputs[..step.outputs().len()];
                    let ran = run_kernel(k, env, &mut inputs, outputs, self.may_hand_out)?;
                    if !ran {
                        this.put_back(plan, step, inputs);
                    }
                    ran
                }
            };
            if !ran {
                return Ok(Stopped::ByTokens);
            }
            for (i, output) in step.outputs().enumerate() {
                let span = straight.outputs[output];
                // Taken even if nothing reads it: the next kernel finds all outputs empty.
                match this.outputs[i].take() {
                    Some(value) => this.give(straight, span, value),
                    None if span[0] == span[1] => {}
                    None => return Err(no_output(i)),
                }
            }
            this.clear(step);
            this.at += 1;
        }
        Ok(if self.straight.at < straight.steps.len() { Stopped::Limit } else { Stopped::Over })
    }

    /// Puts the machine into the state that tokens would have brought it to.
    #[cold]
    fn leave_straight(&mut self, plan: &Plan, straight: &StraightPlan) {
        self.straight.off();
        let (done, left) = straight.steps.split_at(self.straight.at);
        let mut ran = Dense::filled(false, plan.nodes.len());
        let mut made = Dense::filled(false, plan.frames[FrameId::ROOT].uses.len());
        let it = &mut self.iterations[IterationId::ROOT];
        let start = &plan.start_again;
        it.pending.as_mut_slice().copy_from_slice(start.pending.as_slice());
        let mut ready: Vec<Ready> =
            start.ready.iter().map(|node| Ready::new(*node, IterationId::ROOT, false)).collect();
        for n in plan.feeds.iter().flatten().copied().chain(done.iter().map(|step| step.node)) {
            let node = &plan.nodes[n];
            ran[n] = true;
            it.arrive_all(plan, &mut ready, IterationId::ROOT, node.edges, false);
            plan.slots(node).iter().filter(|slot| **slot != SlotId::NONE).for_each(|slot| made[*slot] = true);
        }
        // What became ready last is on top, as if the rest had been taken from there.
        ready.retain(|ready| !ran[ready.node]);
        it.outstanding = ready.len() as u32;
        self.ready = ready;
        for input in done.iter().flat_map(|step| plan.inputs(&plan.nodes[step.node])) {
            if let Place::Slot(slot) = input.place() {
                it.uses[slot] -= 1;
            }
        }
        for step in left {
            for (place, input) in step.inputs().zip(plan.inputs(&plan.nodes[step.node])) {
                let value = take(&mut self.straight.places[place]);
                if let (Reads::Given, Place::Slot(slot)) = (straight.reads[place], input.place())
                    && made[slot]
                {
                    it.values[slot] = value;
                }
            }
            self.straight.clear(step);
        }
    }
}

/// Takes a value from its place.
#[inline]
fn take(value: &mut Tensor) -> Tensor {
    std::mem::replace(value, Tensor::scalar(false))
}

/// Runs a kernel. Returns whether it did: one that is worth another thread, or has to wait, does not.
#[inline(always)]
fn run_kernel(
    k: &KernelPlan,
    env: &StepEnv,
    inputs: &mut [Tensor],
    outputs: &mut [Option<Tensor>],
    may_hand_out: bool,
) -> Result<bool> {
    if may_hand_out && !matches!(k.body, Body::Waits(_)) && k.is_long(inputs) {
        return Ok(false);
    }
    k.run_bare(&mut KernelCx::new(&k.info, env, inputs, outputs))
}
