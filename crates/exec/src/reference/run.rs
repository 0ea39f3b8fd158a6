//! One run of the reference tier: its state, the list of tokens, and its end.

use super::{Reference, Tag, Value};
use crate::errors::{dead_fetch, in_iteration, never_computed, of_node, stuck};
use crate::ids::FetchId;
use crate::probe::Observer;
use crate::step::{Outcome, RunOptions, check, sleep_for_waits};
use crate::variable::fetched_reference;
use millstream_graph::op::{Rest, StepEnv};
use millstream_graph::{Dense, Entity, Index, ProgramKind};
use millstream_tensor::{Error, Result, Tensor};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// A value, or the news that there is none, on its way to a node.
pub(super) struct Token {
    pub(super) node: Index,
    pub(super) tag: Tag,
    pub(super) place: Place,
    pub(super) value: Value,
}

/// Where a token arrives.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    Input(usize),
    Control,
    /// A control input whose deadness does not count.
    Afterwards,
    /// The node waits for nothing.
    Start,
}

/// The tokens that have arrived at a node under one tag.
#[derive(Default)]
pub(super) struct Arrived {
    pub(super) inputs: BTreeMap<usize, Value>,
    pub(super) n_controls: usize,
    pub(super) dead_control: bool,
    /// The input that a merge took.
    pub(super) chosen: Option<(usize, Value)>,
    pub(super) ran: bool,
}

/// One iteration of one execution of a loop.
#[derive(Default)]
pub(super) struct Iteration {
    pub(super) arrived: HashMap<Index, Arrived>,
    /// The number of tokens on their way and of waiting kernels.
    pub(super) outstanding: usize,
    /// The number of loops that go on inside.
    pub(super) inside: usize,
}

/// One execution of a loop.
pub(super) struct Instance {
    /// The number of the oldest iteration alive.
    pub(super) oldest: u64,
    /// The number of the next iteration.
    pub(super) next: u64,
    pub(super) enters_missing: usize,
    pub(super) constants: Vec<(Index, Value)>,
    pub(super) parked: Vec<(Index, Tensor)>,
    pub(super) exited: BTreeSet<Index>,
}

/// The end of a kernel's wait.
type Delivery = (Index, Tag, Rest);

/// One run.
pub(super) struct Run<'a> {
    pub(super) reference: &'a Reference,
    pub(super) env: &'a StepEnv,
    pub(super) tokens: VecDeque<Token>,
    pub(super) iterations: HashMap<Tag, Iteration>,
    /// By the tag of the iteration around them with (frame, 0) at its end.
    pub(super) instances: HashMap<Tag, Instance>,
    pub(super) results: Dense<FetchId, Option<Value>>,
    pub(super) waiting: usize,
    /// The first value whose shape is not as inferred.
    pub(super) wrong: Option<Error>,
    pub(super) mail: (Sender<Delivery>, Receiver<Delivery>),
    pub(super) observer: Option<Observer>,
}

impl<'a> Run<'a> {
    pub(super) fn new(reference: &'a Reference, env: &'a StepEnv, observer: Option<Observer>) -> Run<'a> {
        Run {
            reference,
            env,
            tokens: VecDeque::new(),
            iterations: HashMap::from([(Tag::new(), Iteration::default())]),
            instances: HashMap::new(),
            results: Dense::filled(None, reference.program.fetches().len()),
            waiting: 0,
            wrong: None,
            mail: channel(),
            observer,
        }
    }

    pub(super) fn start(&mut self, feeds: Vec<Tensor>, dead: &[usize]) {
        let program = &self.reference.program;
        for (n, node) in program.nodes().entries() {
            if node.inputs.is_empty() && self.reference.n_controls[n] == 0 {
                match node.kind {
                    ProgramKind::Feed(i, ..) => {
                        // Feeds that a node needs are nodes like any other, and give what was fed.
                        let value = feeds.get(i).filter(|_| !dead.contains(&i)).cloned();
                        self.give(n, &Tag::new(), &[value]);
                    }
                    ProgramKind::Node(_) => self.send(n, &Tag::new(), Place::Start, None),
                }
            }
        }
    }

    /// Runs until no token is left and nothing waits.
    pub(super) fn go(&mut self, options: &RunOptions) -> Result<()> {
        let mut turns = 0u64;
        loop {
            while let Some(token) = self.tokens.pop_front() {
                turns += 1;
                if turns.is_multiple_of(256) {
                    check(self.env, options.deadline, options.poll.as_ref())?;
                }
                let (node, tag) = (token.node, token.tag.clone());
                if self.is_late(node, &tag) {
                    continue;
                }
                self.arrive(token).or_else(|e| self.fail(e, node, &tag))?;
                self.settled(tag);
            }
            if self.waiting == 0 || self.observer.as_ref().is_some_and(Observer::has_found) {
                // Where the wrong shape made a node fail, that error was returned above, and says more.
                return self.wrong.take().map_or(Ok(()), Err);
            }
            let (node, tag, rest) = self.receive(options)?;
            self.waiting -= 1;
            let outputs = match rest.finish() {
                Ok(outputs) => {
                    self.env.loans.used();
                    outputs
                }
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

    /// The end of a kernel's wait.
    fn receive(&self, options: &RunOptions) -> Result<Delivery> {
        let mut received: Option<Result<Delivery>> = None;
        let mut receive = |until: Option<Instant>| {
            while received.is_none() && until.is_none_or(|until| Instant::now() < until) {
                received = match self.mail.1.recv_timeout(Duration::from_millis(5)) {
                    Ok(delivery) => Some(Ok(delivery)),
                    Err(RecvTimeoutError::Timeout) => {
                        check(self.env, options.deadline, options.poll.as_ref()).err().map(Err)
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        Some(Err(Error::internal("a waiting kernel went away")))
                    }
                };
            }
            received.is_some()
        };
        // A run with a deadline ends by itself.
        let stalled = match options.deadline {
            Some(_) => {
                receive(None);
                None
            }
            None => sleep_for_waits(self.env, self.waiting, self.env.activity.sleep(), receive),
        };
        stalled.map(Err).or(received).unwrap_or_else(|| Err(Error::internal("nothing was received")))
    }

    /// A node has failed. In a watched run that is an end, unless there is an earlier one.
    pub(super) fn fail(&mut self, error: Error, n: Index, tag: &Tag) -> Result<()> {
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

    /// The error with its node and iteration.
    pub(super) fn located(&self, error: Error, n: Index, tag: &Tag) -> Error {
        let program = &self.reference.program;
        let error = of_node(error, program.node(n));
        match tag.last() {
            None => error,
            Some(&(frame, number)) => {
                error.note(format!("in {}", in_iteration(number, &program.frames()[frame].name)))
            }
        }
    }

    pub(super) fn outcome(mut self, options: &RunOptions) -> Result<Outcome> {
        let program = &self.reference.program;
        let name = |k: FetchId| {
            let source = program.fetches()[k.index()];
            format!("{}:{}", program.node(source.node).name(), source.index)
        };
        if self.instances.keys().any(|tag| tag.len() == 1) || self.results.iter().any(Option::is_none) {
            let missing = self.results.ids().filter(|&k| self.results[k].is_none());
            return Err(missing.fold(stuck(), |error, k| error.note(never_computed(&name(k)))));
        }
        let mut dead = Vec::new();
        let values = std::mem::take(&mut self.results).into_iter().enumerate().map(|(k, value)| {
            let fetch = FetchId::new(k);
            let value = match value.flatten() {
                Some(value) => value,
                None if options.dead_fetches => {
                    dead.push(k);
                    return Ok(Tensor::scalar(false));
                }
                None => return Err(dead_fetch(k, &name(fetch))),
            };
            let source = program.fetches()[k];
            match program.node(source.node).output_is_ref(source.index) {
                true => fetched_reference(&value, &name(fetch)),
                false => Ok(value),
            }
        });
        let values = values.collect::<Result<_>>()?;
        let every = self.observer.map(|o| o.collected(options.budget.as_ref())).transpose()?;
        Ok(Outcome { values, dead, every: every.unwrap_or_default(), trace: None })
    }
}
