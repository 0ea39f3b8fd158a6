//! The reference tier: what a program means, evaluated slowly and obviously. It is the definition that the other tiers are tested
//! against: nothing is laid out, left out or folded, and nothing runs at the same time.
//!
//! Everything that happens is a [`Token`] taken from a first-in-first-out list: a value, or the news that there is none (*dead*), for
//! one place of one node under one *tag*. The tag says where in the nest of loops: the path of (loop, iteration) from the root. Values are held by
//! the tokens that carry them.
//!
//! - An ordinary node waits for all its tokens, then computes, or is dead if one of them was.
//! - A `Merge` goes on with the first live value, or is dead when all inputs are (a loop's: when one is). Its control inputs only delay it.
//! - `Enter` starts a loop within the current iteration; a constant one speaks in every iteration.
//! - A live `NextIteration` speaks in the next iteration, which starts if there is room; otherwise its token is parked. A dead one is silent.
//! - A live `Exit` speaks in the iteration around the loop; those that never were live are dead when the loop is over.
//! - An iteration is over when no token of it is left, no loop in it goes on, all Enters of its loop are in and the iteration before is over. A loop
//!   is over when its last iteration is.
//!
//! Every value is held against the shape that was inferred of it.
//!
//! Accesses to a variable that is written happen in the order of the program, and loops with such accesses run one iteration at a time.
//!
//! No recursion: programs may be chains of millions of nodes, and loops long.

use crate::order::run_frame;
use crate::plan::{Body, KernelPlan, MAX_LIVE_ITERATIONS, PlanOptions, not_fed, prepare};
use crate::probe::{Observer, Probes};
use crate::step::{
    AtWork, Outcome, RunOptions, dead_fetch, fetched_reference, read_reference, sleep_for_waits,
};
use millstream_graph::op::{Completion, KernelCx, Rest, Role, StepEnv};
use millstream_graph::{Access, Index, Program, ProgramKind};
use millstream_state::Resources;
use millstream_tensor::{Error, PartialShape, Result, Tensor, budget, invalid};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A program made ready for the reference tier.
pub struct Reference {
    program: Program,
    /// The kernels of the nodes that compute.
    kernels: Vec<Option<KernelPlan>>,
    /// For each node, who takes what it gives.
    readers: Vec<Readers>,
    /// For each frame, how many iterations may be alive and how many Enters lead into it, and its Exits.
    loops: Vec<LoopInfo>,
    /// How many of the tokens that a node waits for come from control inputs and from the order of variable accesses.
    n_controls: Vec<usize>,
    /// What is looked at on the way.
    probes: Option<Probes>,
}

#[derive(Clone, Default)]
struct Readers {
    /// Output, reader, which of its inputs.
    data: Vec<(u32, Index, usize)>,
    /// Output, which fetch.
    fetches: Vec<(u32, usize)>,
    /// Output, which probe.
    probes: Vec<(u32, usize)>,
    controls: Vec<Index>,
    /// Those that only wait until this has run, dead or alive.
    afterwards: Vec<Index>,
}

struct LoopInfo {
    parallel: u64,
    n_enters: usize,
    exits: Vec<Index>,
}

/// Where in the nest of loops: (frame, iteration) from the outside in. Empty for the root.
type Tag = Vec<(u32, u64)>;

/// `None` is dead.
type Value = Option<Tensor>;

/// Something on its way to a node.
struct Token {
    node: Index,
    tag: Tag,
    place: Place,
    value: Value,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Input(usize),
    Control,
    /// A control input whose deadness does not count.
    Afterwards,
    /// The node waits for nothing.
    Start,
}

/// What has arrived at a node under one tag.
#[derive(Default)]
struct Arrived {
    inputs: BTreeMap<usize, Value>,
    n_controls: usize,
    dead_control: bool,
    /// A merge: the input taken.
    chosen: Option<(usize, Value)>,
    ran: bool,
}

/// One iteration of one execution of a loop.
#[derive(Default)]
struct Iteration {
    arrived: HashMap<Index, Arrived>,
    /// Tokens on their way, and waiting kernels.
    outstanding: usize,
    /// Loops that go on inside.
    inside: usize,
}

/// One execution of a loop.
struct Instance {
    oldest: u64,
    /// The number of the next iteration.
    next: u64,
    enters_missing: usize,
    constants: Vec<(Index, Value)>,
    parked: Vec<(Index, Tensor)>,
    exited: BTreeSet<Index>,
}

type Delivery = (Index, Tag, Rest);

/// One run.
struct Run<'a> {
    reference: &'a Reference,
    env: &'a StepEnv,
    tokens: VecDeque<Token>,
    iterations: HashMap<Tag, Iteration>,
    /// By the tag of the iteration around them with (frame, 0) at its end.
    instances: HashMap<Tag, Instance>,
    results: Vec<Option<Value>>,
    waiting: usize,
    /// The first value that is not of the shape that the graph says.
    wrong: Option<Error>,
    mail: (Sender<Delivery>, Receiver<Delivery>),
    observer: Option<Observer>,
}

impl Reference {
    /// Makes a program ready. Of the options only `parallel_iterations` (without it there is no limit) and `watch_all` mean something
    /// here.
    pub fn new(program: Program, kernel_state: &Resources, options: &PlanOptions) -> Result<Reference> {
        let n = program.nodes.len();
        let mut kernels: Vec<Option<KernelPlan>> = Vec::new();
        let mut readers = vec![Readers::default(); n];
        let parallel =
            u64::from(options.parallel_iterations.unwrap_or(u32::MAX).clamp(1, MAX_LIVE_ITERATIONS));
        let mut loops: Vec<LoopInfo> =
            program.frames.iter().map(|_| LoopInfo { parallel, n_enters: 0, exits: Vec::new() }).collect();
        for (i, node) in program.nodes.iter().enumerate() {
            for (k, source) in node.inputs.iter().enumerate() {
                readers[source.node as usize].data.push((source.index, i as Index, k));
            }
            for &control in &node.controls {
                readers[control as usize].controls.push(i as Index);
            }
            match node.role() {
                Role::Enter => loops[node.frame as usize].n_enters += 1,
                Role::Exit => loops[run_frame(&program, i as Index) as usize].exits.push(i as Index),
                _ => {}
            }
            kernels.push(match (&node.kind, node.role()) {
                (ProgramKind::Node(info), Role::Compute) => Some(
                    prepare(info, kernel_state)
                        .map_err(|e| e.at_node(&info.name, info.op.name).at_line(node.at))?,
                ),
                (ProgramKind::Node(info), Role::Placeholder) => {
                    return Err(not_fed(info, node));
                }
                _ => None,
            });
        }
        for (k, source) in program.fetches.iter().enumerate() {
            readers[source.node as usize].fetches.push((source.index, k));
        }
        for frame in program.writing_loops() {
            loops[frame as usize].parallel = 1;
        }
        for accesses in program.accesses().values().filter(|l| l.iter().any(|access| access.writes)) {
            for (i, later) in accesses.iter().enumerate() {
                let same = |a: &&Access| run_frame(&program, a.node) == run_frame(&program, later.node);
                if let Some(before) = accesses[..i].iter().rev().find(same) {
                    readers[before.node as usize].afterwards.push(later.node);
                }
            }
        }
        let mut n_controls: Vec<usize> = program.nodes.iter().map(|n| n.controls.len()).collect();
        for reader in readers.iter().flat_map(|r| &r.afterwards) {
            n_controls[*reader as usize] += 1;
        }
        let waits =
            readers.iter().enumerate().flat_map(|(n, r)| r.afterwards.iter().map(move |&l| (n as Index, l)));
        let probes = Probes::new(&program, options.watch_all, &waits.collect::<Vec<_>>());
        for (k, source) in probes.iter().flat_map(|p| p.sources()).enumerate() {
            readers[source.node as usize].probes.push((source.index, k));
        }
        Ok(Reference { program, kernels, readers, loops, n_controls, probes })
    }

    /// Runs the program once.
    pub fn run(&self, feeds: Vec<Tensor>, env: &StepEnv, options: &RunOptions) -> Result<Outcome> {
        let _at_work = AtWork::begin(&env.activity);
        let _budget = budget::enter(options.budget.as_ref());
        let mut run = Run {
            reference: self,
            env,
            tokens: VecDeque::new(),
            iterations: HashMap::from([(Tag::new(), Iteration::default())]),
            instances: HashMap::new(),
            results: vec![None; self.program.fetches.len()],
            waiting: 0,
            wrong: None,
            mail: channel(),
            observer: self.probes.as_ref().map(|p| Observer::new(p, options.watches.clone())),
        };
        run.start(feeds);
        let went = run.go(options);
        if let Err(error) = &went {
            // Kernels that still wait are called off: what they wait for is for others.
            env.cancel.cancel(error.clone());
        }
        if let Some(found) = run.observer.as_mut().and_then(Observer::take_found) {
            return Err(found);
        }
        went?;
        run.outcome(options)
    }
}

impl Run<'_> {
    fn start(&mut self, feeds: Vec<Tensor>) {
        let program = &self.reference.program;
        for (n, node) in program.nodes.iter().enumerate() {
            let n = n as Index;
            if node.inputs.is_empty() && self.reference.n_controls[n as usize] == 0 {
                match node.kind {
                    ProgramKind::Feed(i, ..) => {
                        // Feeds that a node needs are nodes like any other, and give what was fed.
                        let value = feeds.get(i).cloned();
                        self.give(n, &Tag::new(), &[value]);
                    }
                    ProgramKind::Node(_) => self.send(n, &Tag::new(), Place::Start, None),
                }
            }
        }
    }

    fn go(&mut self, options: &RunOptions) -> Result<()> {
        let mut turns = 0u64;
        loop {
            while let Some(token) = self.tokens.pop_front() {
                turns += 1;
                if turns.is_multiple_of(256) {
                    crate::step::check(self.env, options.deadline, options.poll.as_ref())?;
                }
                let (node, tag) = (token.node, token.tag.clone());
                if self.is_late(node, &tag) {
                    continue;
                }
                self.arrive(token).or_else(|e| self.fail(e, node, &tag))?;
                self.settled(tag);
            }
            if self.waiting == 0 || self.observer.as_ref().is_some_and(Observer::has_found) {
                // A node that did not like the shape has said so itself, and better.
                return self.wrong.take().map_or(Ok(()), Err);
            }
            let (node, tag, rest) = self.receive(options)?;
            self.waiting -= 1;
            let outputs = match rest() {
                Ok(outputs) => outputs,
                Err(error) => {
                    self.fail(error, node, &tag)?;
                    continue;
                }
            };
            let outputs: Vec<Value> = outputs.into_iter().map(Some).collect();
            self.give(node, &tag, &outputs);
            self.ran(node, &tag);
            self.settled(tag);
        }
    }

    /// What a waiting kernel waited for.
    fn receive(&self, options: &RunOptions) -> Result<Delivery> {
        let mut received: Option<Result<Delivery>> = None;
        let mut receive = |until: Option<Instant>| {
            while received.is_none() && until.is_none_or(|until| Instant::now() < until) {
                received = match self.mail.1.recv_timeout(Duration::from_millis(5)) {
                    Ok(delivery) => Some(Ok(delivery)),
                    Err(RecvTimeoutError::Timeout) => {
                        crate::step::check(self.env, options.deadline, options.poll.as_ref()).err().map(Err)
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        Some(Err(Error::internal("a waiting kernel went away")))
                    }
                };
            }
            received.is_some()
        };
        // A run that may take so long comes to its end by itself.
        let stalled = match options.deadline {
            Some(_) => {
                receive(None);
                None
            }
            None => sleep_for_waits(self.env, self.waiting, receive),
        };
        stalled.map(Err).or(received).unwrap_or_else(|| Err(Error::internal("nothing was received")))
    }

    /// A node has failed: in a watched run an end, unless there is an earlier one.
    fn fail(&mut self, error: Error, n: Index, tag: &Tag) -> Result<()> {
        let error = self.located(error, n, tag);
        match (&self.reference.probes, &mut self.observer) {
            (Some(probes), Some(observer)) if probes.is_watched() => {
                observer.found(probes.moment(tag, n), error);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// Whether what arrives at a node is later than what a watch found.
    fn is_late(&self, n: Index, tag: &Tag) -> bool {
        match (&self.reference.probes, &self.observer) {
            (Some(probes), Some(observer)) => observer.is_late(|| probes.moment(tag, n)),
            _ => false,
        }
    }

    fn located(&self, error: Error, n: Index, tag: &Tag) -> Error {
        let node = &self.reference.program.nodes[n as usize];
        let mut error = error.at_node(node.name(), node.op()).at_line(node.at);
        if let Some(&(frame, iteration)) = tag.last() {
            let name = &self.reference.program.frames[frame as usize].name;
            error = error.note(format!("in iteration {iteration} of loop `{name}`"));
        }
        error
    }

    fn outcome(mut self, options: &RunOptions) -> Result<Outcome> {
        let program = &self.reference.program;
        let name = |k: usize| {
            let source = program.fetches[k];
            format!("{}:{}", program.nodes[source.node as usize].name(), source.index)
        };
        if self.instances.keys().any(|tag| tag.len() == 1) || self.results.iter().any(Option::is_none) {
            let mut error = invalid!("the run cannot go on: no token is on its way, and not all is done");
            for k in (0..self.results.len()).filter(|&k| self.results[k].is_none()) {
                error = error.note(format!("`{}` was fetched and never computed", name(k)));
            }
            return Err(error);
        }
        let values = std::mem::take(&mut self.results).into_iter().enumerate().map(|(k, value)| {
            let value = value.flatten().ok_or_else(|| dead_fetch(k, &name(k)))?;
            let source = program.fetches[k];
            match program.nodes[source.node as usize].output_is_ref(source.index) {
                true => fetched_reference(&value, &name(k)),
                false => Ok(value),
            }
        });
        let values = values.collect::<Result<_>>()?;
        let every = self.observer.map(|o| o.collected(options.budget.as_ref())).transpose()?;
        Ok(Outcome { values, every: every.unwrap_or_default(), trace: None })
    }

    // Tokens.

    fn send(&mut self, node: Index, tag: &Tag, place: Place, value: Value) {
        if let Some(iteration) = self.iterations.get_mut(tag) {
            iteration.outstanding += 1;
        }
        self.tokens.push_back(Token { node, tag: tag.clone(), place, value });
    }

    /// A node has these outputs, under this tag (where its readers are). All dead: the node is.
    fn give(&mut self, n: Index, tag: &Tag, outputs: &[Value]) {
        self.check_shapes(n, tag, outputs);
        let dead = !outputs.is_empty() && outputs.iter().all(Option::is_none);
        self.pass_on(n, tag, outputs, dead);
    }

    /// What a graph says of the shapes of its values has to be so in every iteration.
    fn check_shapes(&mut self, n: Index, tag: &Tag, outputs: &[Value]) {
        let node = &self.reference.program.nodes[n as usize];
        for (i, (value, shape)) in outputs.iter().zip(&node.shapes).enumerate() {
            let Some(value) = value.as_ref().filter(|_| !node.output_is_ref(i as u32)) else { continue };
            if !shape.contains(&PartialShape::from(value.shape())) {
                let error = Error::internal(format!(
                    "output {i} of `{}` has shape {}, and shape {shape} was inferred or declared",
                    node.name(),
                    value.shape()
                ));
                let error = self.located(error, n, tag);
                self.wrong.get_or_insert(error);
            }
        }
    }

    /// A node has run, dead or alive, under this tag.
    fn ran(&mut self, n: Index, tag: &Tag) {
        let reference = self.reference;
        for &later in &reference.readers[n as usize].afterwards {
            self.send(later, tag, Place::Afterwards, None);
        }
    }

    fn pass_on(&mut self, n: Index, tag: &Tag, outputs: &[Value], dead: bool) {
        let reference = self.reference;
        let readers = &reference.readers[n as usize];
        let value = |port: u32| outputs.get(port as usize).cloned().flatten();
        for &(port, reader, input) in &readers.data {
            self.send(reader, tag, Place::Input(input), value(port));
        }
        for &(port, fetch) in &readers.fetches {
            self.results[fetch] = Some(value(port));
        }
        for &(port, probe) in &readers.probes {
            self.show(n, port, probe, tag, value(port));
        }
        for &reader in &readers.controls {
            // A control token is a value that nobody reads.
            self.send(reader, tag, Place::Control, (!dead).then(|| Tensor::scalar(true)));
        }
    }

    /// A probe shows a value to the observer.
    fn show(&mut self, n: Index, port: u32, probe: usize, tag: &Tag, value: Value) {
        let Some(value) = value else { return };
        let value = match self.reference.program.nodes[n as usize].output_is_ref(port) {
            true => read_reference(&value),
            false => Ok(value),
        };
        let (Some(probes), Some(observer)) = (&self.reference.probes, &mut self.observer) else { return };
        let path = tag.iter().copied().collect();
        if let Err(error) = value.and_then(|value| observer.see(probes, probe, &path, value)) {
            let error = self.located(error, n, tag);
            if let Some(observer) = &mut self.observer {
                observer.found(probes.moment_of_probe(&path, probe), error);
            }
        }
    }

    /// A node is dead: every output is, or with none its control edges are.
    fn give_dead(&mut self, n: Index, tag: &Tag) {
        let n_outputs = self.reference.program.nodes[n as usize].n_outputs();
        self.pass_on(n, tag, &vec![None; n_outputs], true);
    }

    fn arrive(&mut self, token: Token) -> Result<()> {
        let Token { node: n, tag, place, value } = token;
        let reference = self.reference;
        let node = &reference.program.nodes[n as usize];
        let (role, n_inputs) = (node.role(), node.inputs.len());
        let n_controls = reference.n_controls[n as usize];
        let is_loop = || {
            node.inputs.iter().any(|s| reference.program.nodes[s.node as usize].role() == Role::NextIteration)
        };
        let Some(iteration) = self.iterations.get_mut(&tag) else {
            return Err(Error::internal("a token for an iteration that is over"));
        };
        let arrived = iteration.arrived.entry(n).or_default();
        match place {
            Place::Start => {}
            Place::Control | Place::Afterwards => {
                arrived.n_controls += 1;
                arrived.dead_control |= place == Place::Control && value.is_none();
            }
            Place::Input(i) => {
                if role == Role::Merge && arrived.chosen.is_none() {
                    let all_dead = value.is_none()
                        && (is_loop()
                            || arrived.inputs.values().filter(|v| v.is_none()).count() + 1 == n_inputs);
                    if value.is_some() || all_dead {
                        arrived.chosen = Some((i, value.clone()));
                    }
                }
                arrived.inputs.insert(i, value);
            }
        }
        let ready = !arrived.ran
            && arrived.n_controls == n_controls
            && match role {
                Role::Merge => arrived.chosen.is_some(),
                _ => arrived.inputs.len() == n_inputs,
            };
        if !ready {
            return Ok(());
        }
        arrived.ran = true;
        if role == Role::Merge {
            // Kept, so that inputs that come later are seen to be late.
            match arrived.chosen.clone() {
                Some((i, Some(value))) => {
                    let value = match reference.program.reads_reference(n, i) {
                        true => read_reference(&value)?,
                        false => value,
                    };
                    self.give(n, &tag, &[Some(value), Some(Tensor::scalar(i as i32))]);
                }
                _ => self.give_dead(n, &tag),
            }
            self.ran(n, &tag);
            return Ok(());
        }
        let arrived = iteration.arrived.remove(&n).unwrap_or_default();
        let dead_input = arrived.inputs.values().any(Option::is_none);
        let inputs: Vec<Tensor> = arrived.inputs.into_values().flatten().collect();
        match (dead_input || arrived.dead_control) && role != Role::ControlTrigger {
            true => self.run_dead(n, &tag),
            false => self.run_live(n, &tag, inputs)?,
        }
        if !self.waits(n) {
            self.ran(n, &tag);
        }
        Ok(())
    }

    // Nodes.

    fn waits(&self, n: Index) -> bool {
        self.reference.kernels[n as usize].as_ref().is_some_and(|k| matches!(k.body, Body::Waits(_)))
    }

    fn run_dead(&mut self, n: Index, tag: &Tag) {
        match self.reference.program.nodes[n as usize].role() {
            Role::Enter => self.enter(n, tag, None),
            // The loop speaks for its Exits when it is over; a silent NextIteration is what ends it.
            Role::Exit | Role::NextIteration => {}
            _ => self.give_dead(n, tag),
        }
        if self.waits(n) {
            self.ran(n, tag);
        }
    }

    fn run_live(&mut self, n: Index, tag: &Tag, mut inputs: Vec<Tensor>) -> Result<()> {
        let reference = self.reference;
        let node = &reference.program.nodes[n as usize];
        for (i, input) in inputs.iter_mut().enumerate() {
            if reference.program.reads_reference(n, i) {
                *input = read_reference(input)?;
            }
        }
        match node.role() {
            Role::Const => {
                let Some(info) = node.info() else { return Ok(()) };
                let value = info.attrs.tensor("value")?.clone();
                self.give(n, tag, &[Some(value)]);
            }
            Role::Identity | Role::LoopCond => self.give(n, tag, &[inputs.pop()]),
            Role::NoOp | Role::ControlTrigger | Role::Placeholder | Role::Merge => self.give(n, tag, &[]),
            Role::Switch => {
                let pred = inputs.pop().ok_or_else(|| Error::internal("a Switch without inputs"))?;
                if pred.shape().rank() != 0 {
                    return Err(invalid!(
                        "The second input must be a scalar, but it has shape {}",
                        pred.shape()
                    )
                    .with_help("the predicate of a Switch is a single bool"));
                }
                let taken = pred.to_scalar::<bool>().map_err(|e| {
                    invalid!(
                        "The second input must be a scalar, but it has shape {}", pred.shape();
                        "the predicate of a Switch must be a scalar bool: {}", e.message()
                    )
                })?;
                let data = inputs.pop();
                let outputs = if taken { [None, data] } else { [data, None] };
                self.give(n, tag, &outputs);
            }
            Role::Enter => self.enter(n, tag, inputs.pop()),
            Role::NextIteration => {
                if let Some(value) = inputs.pop() {
                    self.next_iteration(n, tag, value);
                }
            }
            Role::Exit => self.exit(n, tag, inputs.pop())?,
            Role::Compute => self.compute(n, tag, inputs)?,
        }
        Ok(())
    }

    fn compute(&mut self, n: Index, tag: &Tag, mut inputs: Vec<Tensor>) -> Result<()> {
        let reference = self.reference;
        let kernel = reference.kernels[n as usize]
            .as_ref()
            .ok_or_else(|| Error::internal("a node that computes has no kernel"))?;
        let mut outputs = vec![None; kernel.info.output_types.len()];
        let mut cx = KernelCx::new(&kernel.info, self.env, &mut inputs, &mut outputs);
        if !kernel.run(&mut cx)? {
            let Body::Waits(waits) = kernel.body else {
                return Err(Error::internal("a kernel that never waits did not compute"));
            };
            self.waiting += 1;
            if let Some(iteration) = self.iterations.get_mut(tag) {
                iteration.outstanding += 1;
            }
            let (sender, tag) = (self.mail.0.clone(), tag.clone());
            let completion = Completion::new(move |rest| {
                // Nobody listens any more once the run has failed.
                let _ = sender.send((n, tag, rest));
            });
            (waits.start)(&mut cx, completion);
            return Ok(());
        }
        let readers = &reference.readers[n as usize];
        for (i, output) in outputs.iter().enumerate() {
            if output.is_none() && readers.data.iter().any(|(port, ..)| *port as usize == i) {
                return Err(Error::internal(format!("the kernel gave no output {i}")));
            }
        }
        // Not `give`: it did compute, whichever outputs it left out.
        self.pass_on(n, tag, &outputs, false);
        Ok(())
    }

    // Loops.

    fn enter(&mut self, n: Index, tag: &Tag, value: Value) {
        let reference = self.reference;
        let node = &reference.program.nodes[n as usize];
        let mut key = tag.clone();
        key.push((node.frame, 0));
        if !self.instances.contains_key(&key) {
            let instance = Instance {
                oldest: 0,
                next: 0,
                enters_missing: reference.loops[node.frame as usize].n_enters,
                constants: Vec::new(),
                parked: Vec::new(),
                exited: BTreeSet::new(),
            };
            self.instances.insert(key.clone(), instance);
            if let Some(around) = self.iterations.get_mut(tag) {
                around.inside += 1;
            }
            self.start_iteration(&key);
        }
        let Some(instance) = self.instances.get_mut(&key) else { return };
        instance.enters_missing -= 1;
        let alive = match node.is_constant_enter() {
            true => {
                instance.constants.push((n, value.clone()));
                instance.oldest..instance.next
            }
            false => 0..1,
        };
        for number in alive {
            self.speak_inside(n, &key, number, value.clone());
        }
        let first = self.instances.get(&key).map_or(0, |i| i.oldest);
        self.settle(at(&key, first));
    }

    /// An Enter's or NextIteration's readers in an iteration hear of its value.
    fn speak_inside(&mut self, n: Index, key: &Tag, number: u64, value: Value) {
        let tag = at(key, number);
        match value {
            Some(value) => self.give(n, &tag, &[Some(value)]),
            None => self.give_dead(n, &tag),
        }
    }

    fn start_iteration(&mut self, key: &Tag) {
        let Some(instance) = self.instances.get_mut(key) else { return };
        let number = instance.next;
        instance.next += 1;
        let constants = instance.constants.clone();
        self.iterations.insert(at(key, number), Iteration::default());
        for (n, value) in constants {
            self.speak_inside(n, key, number, value);
        }
    }

    fn next_iteration(&mut self, n: Index, tag: &Tag, value: Tensor) {
        let Some(&(frame, number)) = tag.last() else { return };
        let key = at(tag, 0);
        let Some(instance) = self.instances.get_mut(&key) else { return };
        if instance.next == number + 1 {
            if self.reference.loops[frame as usize].parallel <= instance.next - instance.oldest {
                instance.parked.push((n, value));
                return;
            }
            self.start_iteration(&key);
        }
        self.speak_inside(n, &key, number + 1, Some(value));
    }

    fn exit(&mut self, n: Index, tag: &Tag, value: Value) -> Result<()> {
        if let Some(instance) = self.instances.get_mut(&at(tag, 0))
            && !instance.exited.insert(n)
        {
            return Err(invalid!(
                "the loop has given this result before: its condition must be false once, at the end"
            ));
        }
        let around = tag[..tag.len().saturating_sub(1)].to_vec();
        self.give(n, &around, &[value]);
        Ok(())
    }

    // Ends.

    /// A token of this iteration was dealt with.
    fn settled(&mut self, tag: Tag) {
        if let Some(iteration) = self.iterations.get_mut(&tag) {
            iteration.outstanding -= 1;
        }
        self.settle(tag);
    }

    /// Ends the iteration if it is over, and what ends with it.
    fn settle(&mut self, tag: Tag) {
        let mut work = vec![tag];
        while let Some(tag) = work.pop() {
            let Some(&(frame, number)) = tag.last() else { continue };
            let key = at(&tag, 0);
            let (Some(iteration), Some(instance)) = (self.iterations.get(&tag), self.instances.get_mut(&key))
            else {
                continue;
            };
            let over = iteration.outstanding == 0
                && iteration.inside == 0
                && instance.enters_missing == 0
                && instance.oldest == number;
            if !over {
                continue;
            }
            instance.oldest += 1;
            self.iterations.remove(&tag);
            let parked = std::mem::take(&mut instance.parked);
            let next = instance.next;
            if !parked.is_empty() {
                self.start_iteration(&key);
                for (n, value) in parked {
                    self.speak_inside(n, &key, next, Some(value));
                }
            }
            if self.iterations.contains_key(&at(&key, number + 1)) {
                work.push(at(&key, number + 1));
                continue;
            }
            let Some(instance) = self.instances.remove(&key) else { continue };
            let around = tag[..tag.len() - 1].to_vec();
            let reference = self.reference;
            for exit in reference.loops[frame as usize].exits.iter().filter(|e| !instance.exited.contains(e))
            {
                self.give_dead(*exit, &around);
            }
            if let Some(outside) = self.iterations.get_mut(&around) {
                outside.inside -= 1;
            }
            work.push(around);
        }
    }
}

/// The tag of another iteration of the same loop.
fn at(tag: &Tag, number: u64) -> Tag {
    let mut tag = tag.clone();
    if let Some(last) = tag.last_mut() {
        last.1 = number;
    }
    tag
}
