//! The dataflow machine: what changes during one run, and how a node runs.
//!
//! # The protocol
//!
//! A *token* is the arrival of a value, or of the news that there is none (*dead*), at a node of one iteration of
//! one frame instance. A node is *ready* when all its tokens are in ([`Machine::arrive`] counts them down) and then runs exactly once:
//! dead if one of them was dead, otherwise for real. `Switch`, `Merge`, `Enter`, `Exit` and `NextIteration` are the exceptions that
//! make loops and branches.
//!
//! An iteration is over when nothing in it is ready, running or waiting (`outstanding`), no frame inside of it is alive
//! (`children`), all its frame's Enters are in, and the iteration before it is over. A frame is over when its last iteration is: its
//! Exits that never fired are dead then.
//!
//! The machine has one owner at a time (the *driver*), so nothing here is atomic or locked. Work that takes long is handed out as a
//! [`Task`] and comes back as a [`Done`]; see `step.rs` for who drives and who works.
//!
//! No function here recurses: what follows from a step goes on the stack of ready nodes or on a worklist.
//!
//! # The files
//!
//! `turn`: a node runs; `iteration`: what a token does where it arrives; `frames`: loops begin, go round and end. `tasks` and `waits`: kernels
//! that end elsewhere. `looking`, `counting` and `stuck` only tell what is.

mod counting;
mod frames;
mod iteration;
mod looking;
mod stuck;
mod tasks;
mod turn;
mod waits;

pub(crate) use tasks::{Done, Task};
pub(crate) use waits::Mailbox;

use crate::plan::{Input, LASTS, Place, Plan};
use crate::probe::Observer;
use crate::step::read_reference;
use crate::trace::Trace;
use frames::Frame;
use iteration::Iteration;
use millstream_graph::op::StepEnv;
use millstream_tensor::{Code, Error, Result, Tensor, prefetch};
use std::collections::VecDeque;
use turn::Turn;

/// A pending count's bit that says that a dead token has arrived.
const DEAD: u32 = 1 << 31;

/// A node to run: in which iteration, and whether dead.
#[derive(Clone, Copy)]
struct Ready {
    node: u32,
    /// The iteration's place in [`Machine::iterations`]; the top bit says dead.
    at: u32,
}

/// What comes of a fetch.
#[derive(Clone)]
pub(crate) enum Fetched {
    Pending,
    Value(Tensor),
    Dead,
}

/// All that changes during one run.
pub(crate) struct Machine {
    iterations: Vec<Iteration>,
    frames: Vec<Frame>,
    /// Iterations not in use, by frame of the plan.
    spare_iterations: Vec<Vec<u32>>,
    spare_frames: Vec<u32>,
    ready: Vec<Ready>,
    /// Long work that nobody has taken yet.
    pub(crate) tasks: VecDeque<Task>,
    /// Kernels that have yet to begin their waits.
    waits: Vec<waits::Wait>,
    /// Tasks taken and not yet done.
    pub(crate) running: usize,
    /// Waiting kernels.
    pub(crate) waiting: usize,
    /// Tasks may be made: somebody else can do them.
    pub(crate) may_hand_out: bool,
    pub(crate) results: Vec<Fetched>,
    pub(crate) error: Option<Error>,
    pub(crate) trace: Option<Box<Trace>>,
    /// What sees the values that are looked at; there if the plan has probes.
    pub(crate) observer: Option<Box<Observer>>,
    inputs: Vec<Tensor>,
    outputs: Vec<Option<Tensor>>,
    /// Iterations that may be over.
    ending: Vec<u32>,
    /// The names' epochs in which the handles were looked up that lasting slots hold.
    opened: Option<Epochs>,
}

/// The epochs of the resources and of what kernels keep: while they stay, so do handles.
type Epochs = [u64; 2];

/// How many nodes ahead the next ones are fetched into the cache. A node is often followed by one made soon after it, but where it
/// stands only the node itself says: in a graph larger than the caches each turn would wait for memory. A chain of 10^6 additions takes 18.7
/// ns a node instead of 33; one of 10^4, 13.0 instead of 12.8 (Intel Xeon, 2026-11).
const AHEAD: usize = 16;

impl Machine {
    pub(crate) fn new(plan: &Plan) -> Machine {
        let mut machine =
            Machine { spare_iterations: vec![Vec::new(); plan.frames.len()], ..Machine::empty() };
        let root = machine.new_frame(plan, 0, u32::MAX);
        machine.new_iteration(plan, root);
        machine
    }

    /// Nothing that could run.
    pub(crate) fn empty() -> Machine {
        Machine {
            iterations: Vec::new(),
            frames: Vec::new(),
            spare_iterations: Vec::new(),
            spare_frames: Vec::new(),
            ready: Vec::new(),
            tasks: VecDeque::new(),
            waits: Vec::new(),
            running: 0,
            waiting: 0,
            may_hand_out: false,
            results: Vec::new(),
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
        let root = &plan.frames[0];
        let it = &mut self.iterations[0];
        it.uses.copy_from_slice(&root.uses);
        it.merges.copy_from_slice(&root.merges);
        it.outstanding = 0;
        self.trace = None;
    }

    /// Forgets every value still held, the last kernel's inputs too, but for those that last.
    pub(crate) fn drop_values(&mut self) {
        self.inputs.clear();
        for it in &mut self.iterations {
            for (value, uses) in it.values.iter_mut().zip(&it.uses) {
                if value.as_scalar().is_none() && *uses < LASTS {
                    *value = Tensor::scalar(false);
                }
            }
        }
    }

    /// Starts the run: nodes that wait for nothing are ready. Where an earlier run has left its handles, and they are still those of their
    /// names, what gives them need not run.
    pub(crate) fn start(&mut self, plan: &Plan, env: &StepEnv) {
        self.results.clear();
        self.results.resize(plan.fetches_ref.len(), Fetched::Pending);
        let now = Some([env.resources.epoch(), env.kernel_state.epoch()]);
        let start = match std::mem::replace(&mut self.opened, now) == now {
            true => &plan.start_again,
            false => &plan.start,
        };
        self.iterations[0].pending.copy_from_slice(&start.pending);
        for &node in &start.ready {
            self.push(node, 0, false);
        }
    }

    /// Feed `i` has this value.
    pub(crate) fn feed(&mut self, plan: &Plan, i: usize, value: Tensor) {
        let Some(Some(node)) = plan.feeds.get(i).copied() else { return };
        let node = &plan.nodes[node as usize];
        self.put(0, node.slot, value);
        self.arrive_all(plan, 0, node.edges, false);
    }

    // Tokens and values: the work is in `Iteration`; these find it.

    #[inline]
    fn push(&mut self, node: u32, at: u32, dead: bool) {
        self.iterations[at as usize].outstanding += 1;
        self.ready.push(Ready { node, at: at | if dead { DEAD } else { 0 } });
    }

    #[inline(always)]
    fn put(&mut self, at: u32, slot: u32, value: Tensor) {
        self.iterations[at as usize].put(slot, value);
    }

    #[inline]
    fn arrive_all(&mut self, plan: &Plan, at: u32, edges: (u32, u32), dead: bool) {
        if edges.0 == edges.1 {
            return;
        }
        let it = &mut self.iterations[at as usize];
        let before = self.ready.len();
        it.arrive_all(plan, &mut self.ready, at, edges, dead);
        it.outstanding += (self.ready.len() - before) as u32;
    }

    /// A reader is through with a value; the last one drops it.
    #[inline]
    fn release(&mut self, at: u32, input: Input) {
        self.iterations[at as usize].release(input);
    }

    /// The value for a reader: taken out of its slot by the last one, so that it may be changed in place.
    #[inline(always)]
    fn take(&mut self, plan: &Plan, at: u32, input: Input) -> Result<Tensor> {
        match input.own_slot() {
            Some(slot) => Ok(self.iterations[at as usize].take(slot)),
            None => self.take_otherwise(plan, at, input),
        }
    }

    fn take_otherwise(&mut self, plan: &Plan, at: u32, input: Input) -> Result<Tensor> {
        let it = &mut self.iterations[at as usize];
        let value = match input.place() {
            Place::Slot(slot) => it.take(slot),
            _ => it.peek(plan, &self.frames, input).clone(),
        };
        match input.deref() {
            false => Ok(value),
            true => read_reference(&value),
        }
    }

    // Running nodes.

    /// Runs ready nodes until there are none, or `limit` have run. Returns whether any are left.
    pub(crate) fn drive(&mut self, plan: &Plan, env: &StepEnv, limit: usize) -> bool {
        match self.trace.is_some() || !plan.origins.is_empty() {
            false => self.drive_on::<false>(plan, env, limit),
            true => self.drive_on::<true>(plan, env, limit),
        }
    }

    /// `SLOW`: the run is traced or watched.
    fn drive_on<const SLOW: bool>(&mut self, plan: &Plan, env: &StepEnv, limit: usize) -> bool {
        let mut next = None;
        for _ in 0..limit {
            let Some(Ready { node: n, at }) = next.take().or_else(|| self.ready.pop()) else { return false };
            let dead = at & DEAD != 0;
            let at = at & !DEAD;
            if SLOW && self.is_late(plan, n, at) {
                continue;
            }
            let node = &plan.nodes[n as usize];
            prefetch(&plan.nodes, (n as usize).wrapping_add(AHEAD));
            let result = match dead {
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
        !self.ready.is_empty()
    }

    pub(crate) fn fail(&mut self, plan: &Plan, n: u32, at: u32, error: Error) {
        let label = &plan.labels[n as usize];
        let mut error = error.at_node(&label.name, label.op).at_line(label.at);
        let place = self.place(plan, at);
        if !place.is_empty() {
            error = error.note(format!("in {place}"));
        }
        match plan.origins.is_empty() {
            true => self.stop(error),
            false => self.found(plan, n, at, error),
        }
    }

    /// Nothing more is run, because of this error or an earlier one.
    pub(crate) fn stop(&mut self, error: Error) {
        let found = self.observer.as_mut().and_then(|o| o.take_found());
        let error = found.unwrap_or(error);
        // A node that waited says more of being called off than whoever called the run off: it says that, too.
        let called_off = |e: &Error| e.code() == Code::Cancelled;
        if self.error.as_ref().is_none_or(|had| called_off(had) && had.node().is_none() && called_off(&error))
        {
            self.error = Some(error);
        }
        self.ready.clear();
        self.tasks.clear();
        self.waits.clear();
    }

    /// Where an iteration is, for people: ``iteration 3 of loop `while/while_context` ``.
    fn place(&self, plan: &Plan, mut at: u32) -> String {
        let mut parts: Vec<String> = Vec::new();
        while let Some(it) = self.iterations.get(at as usize) {
            let Some(frame) = self.frames.get(it.frame as usize) else { break };
            if frame.of == 0 || parts.len() > 8 {
                break;
            }
            parts.push(format!("iteration {} of loop `{}`", it.number, plan.frames[frame.of as usize].name));
            at = frame.parent;
        }
        parts.join(", in ")
    }

    /// Whether anything is left to run here.
    pub(crate) fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.tasks.is_empty() && self.waits.is_empty()
    }
}
