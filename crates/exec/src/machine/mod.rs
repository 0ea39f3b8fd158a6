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

mod counting;
mod iteration;
mod looking;
mod stuck;
mod waits;

pub(crate) use waits::Mailbox;

use crate::plan::{Body, Input, Kind, LASTS, NO_SLOT, Node, Place, Plan, SwitchPlan};
use crate::probe::Observer;
use crate::step::read_reference;
use crate::trace::Trace;
use iteration::Iteration;
use millstream_graph::op::{KernelCx, Rest, StepEnv};
use millstream_tensor::{Code, Element, Error, Result, Tensor, invalid, prefetch};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// A pending count's bit that says that a dead token has arrived.
const DEAD: u32 = 1 << 31;

/// A node to run: in which iteration, and whether dead.
#[derive(Clone, Copy)]
struct Ready {
    node: u32,
    /// The iteration's place in [`Machine::iterations`]; the top bit says dead.
    at: u32,
}

/// One execution of a loop: a frame within one iteration of the frame around it.
struct Frame {
    /// Which frame of the plan.
    of: u32,
    /// The iteration it is in.
    parent: u32,
    /// The iterations alive, oldest first.
    iterations: VecDeque<u32>,
    /// The number of the next iteration.
    next: u64,
    pending_enters: u32,
    /// The values of the constant Enters, as they arrive.
    invariants: Vec<Arrival>,
    n_invariants: u32,
    any_dead: bool,
    /// Tokens for the next iteration, which may not start yet: from which node, for which bypassed merge.
    parked: Vec<(u32, u32, Tensor)>,
    /// Exits that have fired.
    exited: SmallVec<[u32; 4]>,
}

#[derive(Clone)]
enum Arrival {
    Pending,
    Live(Tensor),
    Dead,
}

/// A kernel run that somebody else does.
pub(crate) struct Task {
    node: u32,
    at: u32,
    kernel: u32,
    inputs: Vec<Tensor>,
}

/// A kernel run that somebody else did.
pub(crate) struct Done {
    node: u32,
    at: u32,
    outputs: Came,
}

/// What came of it.
enum Came {
    /// The outputs of a task.
    Task(Result<SmallVec<[Option<Tensor>; 2]>>),
    /// The end of a wait.
    Rest(Rest),
}

impl Task {
    /// Runs the kernel.
    pub(crate) fn run(mut self, plan: &Plan, env: &StepEnv) -> Done {
        let kernel = &plan.kernels[self.kernel as usize];
        let mut outputs: SmallVec<[Option<Tensor>; 2]> =
            SmallVec::from_elem(None, kernel.info.output_types.len());
        let mut cx = KernelCx::new(&kernel.info, env, &mut self.inputs, &mut outputs);
        let result = kernel.run(&mut cx);
        Done { node: self.node, at: self.at, outputs: Came::Task(result.map(|_| outputs)) }
    }
}

/// What comes of a fetch.
#[derive(Clone)]
pub(crate) enum Fetched {
    Pending,
    Value(Tensor),
    Dead,
}

/// What became of a node's turn.
enum Turn {
    /// Through; its iteration is to be told.
    Through,
    /// Through, and its iteration knows.
    Told,
    /// As [`Turn::Told`], and this node, the only one that waited for nothing else, is next.
    Next(Ready),
    /// It goes on elsewhere and is finished later.
    Elsewhere,
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

/// Work from this many nanoseconds on is handed out.
const LONG_NS: f64 = 15_000.0;

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

    /// Forgets every value still held, but for those that last.
    pub(crate) fn drop_values(&mut self) {
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

    /// Runs a live node.
    #[inline]
    fn run<const SLOW: bool>(
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
    fn traced(&mut self, plan: &Plan, n: u32, at: u32, dead: bool) {
        if self.trace.is_some() {
            let place = self.place(plan, at);
            let number = self.iterations[at as usize].number;
            if let Some(trace) = &mut self.trace {
                trace.end(&plan.labels[n as usize], place, number, dead);
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

    /// What somebody else did arrives.
    pub(crate) fn done(&mut self, plan: &Plan, done: Done) {
        let Done { node: n, at, outputs } = done;
        match &outputs {
            Came::Task(_) => self.running -= 1,
            Came::Rest(_) => self.waiting -= 1,
        }
        if self.error.is_some() || self.is_late(plan, n, at) {
            return;
        }
        let outputs = match outputs {
            Came::Task(outputs) => outputs,
            Came::Rest(rest) => rest().map(|outputs| outputs.into_iter().map(Some).collect()),
        };
        let node = &plan.nodes[n as usize];
        let result = outputs.and_then(|mut outputs| {
            for (i, &slot) in
                plan.slots(node, outputs.len()).iter().enumerate().filter(|(_, s)| **s != NO_SLOT)
            {
                let value = outputs.get_mut(i).and_then(Option::take).ok_or_else(|| no_output(i))?;
                self.put(at, slot, value);
            }
            Ok(())
        });
        match result {
            Ok(()) => {
                self.traced(plan, n, at, false);
                self.arrive_all(plan, at, node.edges, false);
                self.finish(plan, at);
            }
            Err(error) => self.fail(plan, n, at, error),
        }
    }

    /// Dead: nothing is computed; the news is passed on, and values that did arrive are let go.
    fn run_dead(&mut self, plan: &Plan, n: u32, node: &Node, at: u32) {
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

    // Frames and iterations.

    fn new_frame(&mut self, plan: &Plan, of: u32, parent: u32) -> u32 {
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
    fn new_iteration(&mut self, plan: &Plan, frame_id: u32) -> u32 {
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
    fn enter(&mut self, plan: &Plan, at: u32, of: u32) -> u32 {
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
    fn entered(&mut self, inside: u32, first: u32) {
        let frame = &mut self.frames[inside as usize];
        frame.pending_enters -= 1;
        if frame.pending_enters == 0 {
            self.ending.push(first);
        }
    }

    fn enter_constant(&mut self, plan: &Plan, inside: u32, invariant: u32, value: Arrival, node: &Node) {
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

    fn exit(&mut self, plan: &Plan, n: u32, node: &Node, at: u32, value: Tensor) -> Result<()> {
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
    fn give(&mut self, plan: &Plan, node: &Node, merge: u32, to: u32, value: Tensor) {
        let it = &mut self.iterations[to as usize];
        it.settle(merge);
        it.put(node.slot, value);
        self.arrive_all(plan, to, node.edges, false);
    }

    fn next_iteration(&mut self, plan: &Plan, n: u32, node: &Node, merge: u32, at: u32, value: Tensor) {
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
    fn finish(&mut self, plan: &Plan, at: u32) {
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
    fn end(&mut self, plan: &Plan) {
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

    // Tasks.

    /// The task to begin next: one of a newest iteration, since all that follow wait for what it passes on, else the oldest.
    pub(crate) fn next_task(&mut self) -> Option<Task> {
        const LOOK: usize = 16;
        let is_newest = |task: &Task| {
            let it = &self.iterations[task.at as usize];
            it.number + 1 == self.frames[it.frame as usize].next
        };
        let from = self.tasks.len().saturating_sub(LOOK);
        let newest = self.tasks.iter().skip(from).position(is_newest).map(|i| from + i);
        self.tasks.remove(newest.unwrap_or(0))
    }

    // The end of the run.

    /// Whether anything is left to run here.
    pub(crate) fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.tasks.is_empty() && self.waits.is_empty()
    }
}

fn no_output(i: usize) -> Error {
    Error::internal(format!("the kernel gave no output {i}"))
}
