//! The dataflow machine: what changes during one run, and how a node runs.
//!
//! # The protocol
//!
//! A *token* is the arrival of a value, or of the news that there is none (*dead*), at a node of one
//! iteration of one instance of a frame. A node is *ready* when all its tokens are in
//! ([`Machine::arrive_all`] counts them down). It then runs exactly once: dead if one of the tokens was dead,
//! otherwise for real. `Switch`, `Merge`, `Enter`, `Exit` and `NextIteration` are the exceptions that make
//! loops and branches.
//!
//! An iteration is over when nothing in it is ready, running or waiting (`outstanding`), no instance inside
//! of it is alive (`children`), all Enters of its instance are in, and the iteration before it is over. An
//! instance is over when its last iteration is; those of its Exits that never fired are then dead.
//!
//! The machine has one owner at a time, the *driver*, so nothing here is atomic or locked. Long work is
//! handed out as a [`Task`] and comes back as a [`Done`]; see the `step` module for who drives and who works.
//!
//! No function here recurses: what follows from a turn goes on the stack of ready nodes or on a worklist.
//!
//! # The files
//!
//! `turn`: a node runs. `iteration`: what a token does where it arrives. `instances`: loops begin, go round
//! and end. `regions`: loops that run as code. `front`: nodes that code computes before the rest.
//! `straight`: plans that need no tokens. `tasks` and `waits`: kernels that end elsewhere. `looking`,
//! `counting`, `whereabouts` and `stuck` only observe.

mod counting;
mod front;
mod instances;
mod iteration;
mod looking;
mod regions;
mod straight;
mod stuck;
mod tasks;
mod turn;
mod waits;
mod whereabouts;

pub(crate) use tasks::{Done, Task};
pub(crate) use turn::LONG_NS;
pub(crate) use waits::Mailbox;

use crate::errors::{in_iteration, of_label};
use crate::ids::{EdgeId, FetchId, InstanceId, IterationId, PlanNode, SlotId, Span};
use crate::plan::{Input, LASTS, Place, Plan, Start};
use crate::probe::Observer;
use crate::trace::Trace;
use crate::variable::read_reference;
use instances::Instance;
use iteration::Iteration;
use millstream_graph::op::StepEnv;
use millstream_graph::{Dense, Entity, FrameId};
use millstream_tensor::{Code, Error, Result, Tensor, prefetch};
use std::collections::{BTreeSet, VecDeque};
use turn::Turn;

/// The bit of a pending count, and of a [`Ready`] node, that says that a dead token has arrived.
const DEAD: u32 = 1 << 31;

/// A node to run.
#[derive(Clone, Copy)]
struct Ready {
    node: PlanNode,
    /// The iteration, and [`DEAD`].
    at: u32,
}

const _: () = assert!(size_of::<Ready>() == 8);

impl Ready {
    #[inline(always)]
    fn new(node: PlanNode, at: IterationId, dead: bool) -> Ready {
        Ready { node, at: at.bits() | if dead { DEAD } else { 0 } }
    }

    #[inline(always)]
    fn is_dead(self) -> bool {
        self.at & DEAD != 0
    }

    #[inline(always)]
    fn iteration(self) -> IterationId {
        IterationId::from_bits(self.at & !DEAD)
    }
}

/// The result of a fetch.
#[derive(Clone)]
pub(crate) enum Fetched {
    Pending,
    Value(Tensor),
    Dead,
}

/// The tokens and values of one run: all that changes while it runs.
pub(crate) struct Machine {
    iterations: Dense<IterationId, Iteration>,
    instances: Dense<InstanceId, Instance>,
    /// Iterations that are not in use, by frame.
    spare_iterations: Dense<FrameId, Vec<IterationId>>,
    spare_instances: Vec<InstanceId>,
    ready: Vec<Ready>,
    /// The loops that run as regions, or wait for values to do so.
    regions: Vec<regions::RegionRun>,
    /// The registers of the plan's front, kept from run to run.
    front: Option<crate::region::Registers>,
    /// The run, while it executes a straight plan.
    straight: straight::Straight,
    /// Long work that no thread has taken yet.
    pub(crate) tasks: VecDeque<Task>,
    /// Kernels that have yet to begin their waits.
    waits: Vec<waits::Wait>,
    /// The number of tasks that were taken and are not done.
    pub(crate) running: usize,
    /// The nodes whose kernels wait, by their iterations.
    waiting: BTreeSet<(PlanNode, IterationId)>,
    /// Whether tasks may be made: another thread can do them.
    pub(crate) may_hand_out: bool,
    pub(crate) results: Dense<FetchId, Fetched>,
    pub(crate) error: Option<Error>,
    pub(crate) trace: Option<Box<Trace>>,
    /// Sees the values that are looked at. There if the plan has probes.
    pub(crate) observer: Option<Box<Observer>>,
    inputs: Vec<Tensor>,
    outputs: Vec<Option<Tensor>>,
    /// Iterations that may be over.
    ending: Vec<IterationId>,
    /// The epochs of names in which the handles in lasting slots were looked up.
    opened: Option<Epochs>,
}

/// The epochs of the resources and of the kernels' state. While they stay the same, so do handles.
type Epochs = [u64; 2];

/// How many nodes ahead the next ones are fetched into the cache. A node is often followed by one that was
/// made soon after it, but only the node itself says where its successor is, so in a graph larger than the
/// caches each turn would wait for memory. A chain of 10^6 additions takes 18.7 ns a node instead of 33; one
/// of 10^4, 13.0 instead of 12.8 (Intel Xeon, 2026-11).
const AHEAD: usize = 16;

impl Machine {
    pub(crate) fn new(plan: &Plan) -> Machine {
        let spare = Dense::filled(Vec::new(), plan.frames.len());
        let mut machine = Machine { spare_iterations: spare, ..Machine::empty() };
        let root = machine.new_instance(plan, FrameId::ROOT, IterationId::NONE);
        machine.new_iteration(plan, root);
        machine
    }

    /// A machine with nothing that could run.
    pub(crate) fn empty() -> Machine {
        Machine {
            iterations: Dense::new(),
            instances: Dense::new(),
            spare_iterations: Dense::new(),
            spare_instances: Vec::new(),
            ready: Vec::new(),
            regions: Vec::new(),
            front: None,
            straight: straight::Straight::default(),
            tasks: VecDeque::new(),
            waits: Vec::new(),
            running: 0,
            waiting: BTreeSet::new(),
            may_hand_out: false,
            results: Dense::new(),
            error: None,
            trace: None,
            observer: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            ending: Vec::new(),
            opened: None,
        }
    }

    /// Makes a used machine as good as new. Only after a run that ended well.
    pub(crate) fn reset(&mut self, plan: &Plan) {
        self.trace = None;
        if self.straight.is_over() {
            // It left nothing behind.
            self.straight.off();
            return;
        }
        let root = &plan.frames[FrameId::ROOT];
        let it = &mut self.iterations[IterationId::ROOT];
        it.uses.as_mut_slice().copy_from_slice(root.uses.as_slice());
        it.merges.as_mut_slice().copy_from_slice(root.merges.as_slice());
        it.outstanding = 0;
    }

    /// Drops every value still held, the last kernel's inputs too, except for handles that last.
    pub(crate) fn drop_values(&mut self) {
        self.inputs.clear();
        if self.straight.is_over() {
            return;
        }
        for it in &mut self.iterations {
            for (value, uses) in it.values.iter_mut().zip(&it.uses) {
                if value.as_scalar().is_none() && *uses < LASTS {
                    *value = Tensor::scalar(false);
                }
            }
        }
    }

    /// Starts the run: nodes that wait for nothing become ready. Where an earlier run has left its handles,
    /// and they are still those of their names, the nodes that give them need not run.
    pub(crate) fn start(&mut self, plan: &Plan, env: &StepEnv) {
        self.start_at(plan, env, [&plan.start, &plan.start_again]);
    }

    fn start_at(&mut self, plan: &Plan, env: &StepEnv, starts: [&Start; 2]) {
        let again = self.begin(plan, env);
        self.start_by_tokens(starts[usize::from(again)]);
    }

    /// Begins a run. Returns whether the handles of an earlier one are in place.
    fn begin(&mut self, plan: &Plan, env: &StepEnv) -> bool {
        self.results = Dense::filled(Fetched::Pending, plan.fetches_ref.len());
        let now = Some([env.resources.epoch(), env.kernel_state.epoch()]);
        let again = std::mem::replace(&mut self.opened, now) == now;
        if !again {
            self.straight.forget();
        }
        again
    }

    fn start_by_tokens(&mut self, start: &Start) {
        let it = &mut self.iterations[IterationId::ROOT];
        it.pending.as_mut_slice().copy_from_slice(start.pending.as_slice());
        for &node in &start.ready {
            self.push(node, IterationId::ROOT, false);
        }
    }

    /// Gives feed `i` this value.
    pub(crate) fn feed(&mut self, plan: &Plan, i: usize, value: Tensor) {
        let Some(Some(node)) = plan.feeds.get(i).copied() else { return };
        let node = &plan.nodes[node];
        self.put(IterationId::ROOT, node.slot, value);
        self.arrive_all(plan, IterationId::ROOT, node.edges, false);
    }

    /// Gives feed `i` no value: the nodes that read it are dead.
    pub(crate) fn feed_dead(&mut self, plan: &Plan, i: usize) {
        let Some(Some(node)) = plan.feeds.get(i).copied() else { return };
        self.arrive_all(plan, IterationId::ROOT, plan.nodes[node].edges, true);
    }

    // Tokens and values: the work is in `Iteration`; these find it.

    #[inline]
    fn push(&mut self, node: PlanNode, at: IterationId, dead: bool) {
        self.iterations[at].outstanding += 1;
        self.ready.push(Ready::new(node, at, dead));
    }

    #[inline(always)]
    fn put(&mut self, at: IterationId, slot: SlotId, value: Tensor) {
        self.iterations[at].put(slot, value);
    }

    #[inline]
    fn arrive_all(&mut self, plan: &Plan, at: IterationId, edges: Span<EdgeId>, dead: bool) {
        if edges.is_empty() {
            return;
        }
        let it = &mut self.iterations[at];
        let before = self.ready.len();
        it.arrive_all(plan, &mut self.ready, at, edges, dead);
        it.outstanding += (self.ready.len() - before) as u32;
    }

    /// A reader needs a value no more. The last one drops it.
    #[inline]
    fn release(&mut self, at: IterationId, input: Input) {
        self.iterations[at].release(input);
    }

    /// The value for a reader. The last reader takes it out of its slot, so that it may be changed in place.
    #[inline(always)]
    fn take(&mut self, plan: &Plan, at: IterationId, input: Input) -> Result<Tensor> {
        match input.own_slot() {
            Some(slot) => Ok(self.iterations[at].take(slot)),
            None => self.take_otherwise(plan, at, input),
        }
    }

    fn take_otherwise(&mut self, plan: &Plan, at: IterationId, input: Input) -> Result<Tensor> {
        let it = &mut self.iterations[at];
        let value = match input.place() {
            Place::Slot(slot) => it.take(slot),
            _ => it.peek(plan, &self.instances, input).clone(),
        };
        match input.deref() {
            false => Ok(value),
            true => read_reference(&value),
        }
    }

    // Running nodes.

    /// Runs ready nodes until there are none, or `limit` have run. Returns whether any are left.
    pub(crate) fn drive(&mut self, plan: &Plan, env: &StepEnv, limit: usize) -> bool {
        if self.straight.runs() {
            return self.drive_straight(plan, env, limit);
        }
        match self.trace.is_some() || !plan.origins.is_empty() {
            false => self.drive_on::<false>(plan, env, limit),
            true => self.drive_on::<true>(plan, env, limit),
        }
    }

    /// `SLOW`: the run is traced or watched.
    fn drive_on<const SLOW: bool>(&mut self, plan: &Plan, env: &StepEnv, limit: usize) -> bool {
        let mut next = None;
        for _ in 0..limit {
            let Some(ready) = next.take().or_else(|| self.ready.pop()) else {
                return !self.regions.is_empty() && self.run_regions(plan, env);
            };
            let (n, at) = (ready.node, ready.iteration());
            if SLOW && self.is_late(plan, n, at) {
                continue;
            }
            let node = &plan.nodes[n];
            prefetch(plan.nodes.as_slice(), n.index().wrapping_add(AHEAD));
            let result = match ready.is_dead() {
                true => {
                    self.run_dead(plan, n, node, at);
                    Ok(Turn::Through)
                }
                false => self.run::<SLOW>(plan, env, n, node, at),
            };
            match result {
                Ok(Turn::Next(ready)) => next = Some(ready),
                Ok(Turn::Told) => {}
                Ok(Turn::Through) => self.finish(plan, at),
                Ok(Turn::Elsewhere) => {}
                Err(error) => {
                    self.fail(plan, n, at, error);
                    if self.error.is_some() {
                        return false;
                    }
                }
            }
        }
        self.ready.extend(next);
        match self.regions.is_empty() {
            true => !self.ready.is_empty(),
            false => self.run_regions(plan, env),
        }
    }

    pub(crate) fn fail(&mut self, plan: &Plan, n: PlanNode, at: IterationId, error: Error) {
        let mut error = of_label(error, &plan.labels[n]);
        let place = self.place(plan, at);
        if !place.is_empty() {
            error = error.note(format!("in {place}"));
        }
        match plan.origins.is_empty() {
            true => self.stop(error),
            false => self.found(plan, n, at, error),
        }
    }

    /// Ends the run with this error or an earlier one: nothing more is run.
    pub(crate) fn stop(&mut self, error: Error) {
        let found = self.observer.as_mut().and_then(|o| o.take_found());
        let error = found.unwrap_or(error);
        // The error of a node whose wait was cancelled replaces the plain cancellation of the run: it names
        // the node too.
        let cancelled = |e: &Error| e.code() == Code::Cancelled;
        if self.error.as_ref().is_none_or(|had| cancelled(had) && had.node().is_none() && cancelled(&error)) {
            self.error = Some(error);
        }
        self.ready.clear();
        self.tasks.clear();
        self.waits.clear();
        self.regions.clear();
    }

    /// An iteration, in messages: ``iteration 3 of loop `while/while_context` ``, then the iterations around
    /// it.
    fn place(&self, plan: &Plan, mut at: IterationId) -> String {
        let mut parts: Vec<String> = Vec::new();
        while let Some(it) = self.iterations.get(at) {
            let Some(instance) = self.instances.get(it.instance) else { break };
            if instance.of == FrameId::ROOT || parts.len() > 8 {
                break;
            }
            parts.push(in_iteration(it.number, &plan.frames[instance.of].name));
            at = instance.parent;
        }
        parts.join(", in ")
    }

    /// The number of waiting kernels.
    pub(crate) fn n_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing is left to run here.
    pub(crate) fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.tasks.is_empty() && self.waits.is_empty() && !self.has_regions()
    }
}
