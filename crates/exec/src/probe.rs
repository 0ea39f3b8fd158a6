//! [`Probes`]: the values that are looked at on their way, wherever in the nest of loops they are: collected in every iteration, or
//! watched. What a run sees of them is kept by its [`Observer`], in whatever tier it runs.
//!
//! # Which is first
//!
//! Iterations overlap and threads race, but what a watch finds does not depend on it. Every [`Moment`] of a run has its place in the
//! order in which it would run one node at a time, and what a node depends on is earlier. When a watch finds something, all that is *late*,
//! of a later moment, is not run any more; all that is earlier is run to the end, and may find something earlier. What
//! was found when nothing is left is the first in the run. Errors of kernels in a watched run are found in the same way. Only kernels that
//! wait for something outside of the run are not waited for once something is found: that might never come.

use crate::iterations::{Iterations, Place};
use crate::order::{Moment, Order, Path, run_frame};
use millstream_graph::op::Role;
use millstream_graph::{Index, Program, ProgramKind, Source};
use millstream_tensor::budget::Budget;
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, invalid};
use smallvec::SmallVec;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;

/// What a run is watched for.
#[derive(Default)]
pub struct Watches {
    /// One for each watched value of the program.
    pub on: Vec<Condition>,
    /// For all floats that nodes compute or that are fed.
    pub all: Vec<Condition>,
}

/// What stops a run.
#[derive(Clone)]
pub struct Condition {
    /// In words: `has NaN`.
    pub what: String,
    /// Whether this value in this iteration, of each loop around, outermost first, does.
    pub holds: Test,
}

/// A question about a value and its iteration.
pub type Test = Arc<dyn Fn(&Tensor, &[u64]) -> bool + Send + Sync>;

/// What a watch found, and where. Kept with the error that ends the run: [`Sighting::of`].
#[derive(Clone, Debug)]
pub struct Sighting {
    /// The node that gave the value.
    pub node: String,
    /// Which of its outputs.
    pub output: u32,
    /// Its op type.
    pub op: String,
    /// The loops around with their iterations, outermost first.
    pub loops: Vec<(String, u64)>,
    /// The value.
    pub value: Tensor,
    /// Where the node's inputs come from: `while/Sub:0`.
    pub inputs: Vec<String>,
}

impl Sighting {
    /// What a watch found, if the error comes of one.
    pub fn of(error: &Error) -> Option<&Sighting> {
        error.detail()
    }
}

/// What a program's runs look at.
pub(crate) struct Probes {
    list: Vec<Probe>,
    n_every: usize,
    n_watched: usize,
    /// The frames' names.
    frames: Vec<String>,
    /// There if anything is watched.
    order: Option<Order>,
}

/// One value that is looked at.
struct Probe {
    source: Source,
    node: String,
    /// Which of the node's outputs; a feed may stand for any.
    index: u32,
    op: String,
    built_at: &'static Location<'static>,
    inputs: Vec<String>,
    role: Role,
    /// The frame that it runs in.
    runs_in: u32,
    /// The loops around the value.
    loops: Vec<u32>,
    dtype: DType,
    shape: PartialShape,
}

impl Probes {
    /// What a program asks to be looked at, and with `all` every float that a node computes or that is fed. None if that is nothing.
    /// Of each pair of `afterwards` the second node waits for the first.
    pub(crate) fn new(program: &Program, all: bool, afterwards: &[(Index, Index)]) -> Option<Probes> {
        let floats = if all { floats(program) } else { Vec::new() };
        let sources: Vec<Source> =
            program.every.iter().chain(&program.watched).copied().chain(floats).collect();
        if sources.is_empty() {
            return None;
        }
        let is_watched = program.every.len() < sources.len();
        Some(Probes {
            list: sources.into_iter().map(|s| Probe::new(program, s)).collect(),
            n_every: program.every.len(),
            n_watched: program.watched.len(),
            frames: program.frames.iter().map(|f| f.name.clone()).collect(),
            order: is_watched.then(|| Order::new(program, afterwards)),
        })
    }

    /// What is looked at, by number.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Source> {
        self.list.iter().map(|p| p.source)
    }

    /// Whether anything is watched, so that a run may be stopped.
    pub(crate) fn is_watched(&self) -> bool {
        self.order.is_some()
    }

    /// When probe `k` sees what is there.
    pub(crate) fn moment_of_probe(&self, path: &[(u32, u64)], k: usize) -> Moment {
        let probe = &self.list[k];
        let mut moment = match (&self.order, probe.role) {
            (None, _) => Moment::new(),
            // What comes into an iteration is there at its start.
            (Some(order), Role::Enter | Role::NextIteration) => order.start(path),
            (Some(order), Role::Exit) => order.end(path, probe.runs_in),
            (Some(order), _) => order.moment(path, probe.source.node),
        };
        moment.push(k as u64);
        moment
    }

    /// When a node runs there.
    pub(crate) fn moment(&self, path: &[(u32, u64)], node: Index) -> Moment {
        self.order.as_ref().map(|o| o.moment(path, node)).unwrap_or_default()
    }

    fn sighting(&self, k: usize, path: &[(u32, u64)], value: Tensor, what: &str) -> Error {
        let probe = &self.list[k];
        let mut error = invalid!("a watch stopped the run: `{}:{}` {what}: {value}", probe.node, probe.index)
            .at_node(&probe.node, &probe.op)
            .at_line(probe.built_at);
        if !path.is_empty() {
            error = error.note(format!("in {}", self.place(path)));
        }
        if let Some(found) = value.not_finite().filter(|_| value.elements() > 1) {
            let at = position(value.shape(), found.first);
            error = error.note(format!(
                "of {} elements {} are NaN and {} infinite; the first of them is at {}",
                value.elements(),
                found.nan,
                found.infinite,
                Place(&at)
            ));
        }
        if !probe.inputs.is_empty() {
            let names: Vec<String> = probe.inputs.iter().map(|i| format!("`{i}`")).collect();
            error = error.note(format!("computed from {}", names.join(", ")));
        }
        error.with_detail(Sighting {
            node: probe.node.clone(),
            output: probe.index,
            op: probe.op.clone(),
            loops: path.iter().map(|&(f, i)| (self.frames[f as usize].clone(), i)).collect(),
            value,
            inputs: probe.inputs.clone(),
        })
    }

    fn place(&self, path: &[(u32, u64)]) -> String {
        let mut text = String::new();
        for &(frame, iteration) in path.iter().rev() {
            let comma = if text.is_empty() { "" } else { ", in " };
            let _ = write!(text, "{comma}iteration {iteration} of loop `{}`", self.frames[frame as usize]);
        }
        text
    }
}

impl Probe {
    fn new(program: &Program, source: Source) -> Probe {
        let node = &program.nodes[source.node as usize];
        let dtype = match &node.kind {
            ProgramKind::Node(info) => info.output_types[source.index as usize].dtype,
            ProgramKind::Feed(_, _, dtype) => *dtype,
        };
        let (name, index) = output_name(program, source);
        Probe {
            source,
            node: name.to_owned(),
            index,
            op: node.op().to_owned(),
            built_at: node.at,
            inputs: node
                .inputs
                .iter()
                .map(|s| output_name(program, *s))
                .map(|(n, k)| format!("{n}:{k}"))
                .collect(),
            role: node.role(),
            runs_in: run_frame(program, source.node),
            loops: program.loops_around(node.frame),
            dtype,
            shape: node.shapes[source.index as usize].clone(),
        }
    }
}

/// The name of an output: of its node and which it is. A feed has the name of the output that it stands for.
fn output_name(program: &Program, source: Source) -> (&str, u32) {
    let name = program.nodes[source.node as usize].name();
    match program.nodes[source.node as usize].kind {
        ProgramKind::Node(_) => (name, source.index),
        ProgramKind::Feed(..) => {
            name.rsplit_once(':').and_then(|(n, k)| Some((n, k.parse().ok()?))).unwrap_or((name, 0))
        }
    }
}

/// Every float that a node computes or that is fed. What others pass on is seen where it was made.
fn floats(program: &Program) -> Vec<Source> {
    let mut found = Vec::new();
    for (n, node) in program.nodes.iter().enumerate() {
        let is_float = |d: DType| d.is_float() || d.is_complex();
        let mut add = |index| found.push(Source { node: n as Index, index });
        match &node.kind {
            ProgramKind::Feed(_, _, dtype) if is_float(*dtype) => add(0),
            ProgramKind::Node(info) if info.op.role == Role::Compute => {
                for (i, ty) in info.output_types.iter().enumerate() {
                    if is_float(ty.dtype) && !ty.is_ref {
                        add(i as u32);
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// The indices of an element.
fn position(shape: &[usize], mut element: usize) -> SmallVec<[u64; 4]> {
    let mut at: SmallVec<[u64; 4]> = shape
        .iter()
        .rev()
        .map(|&dim| {
            let i = element % dim.max(1);
            element /= dim.max(1);
            i as u64
        })
        .collect();
    at.reverse();
    at
}

/// What one run has seen.
pub(crate) struct Observer {
    collected: Vec<Iterations>,
    watches: Arc<Watches>,
    /// The first that was found yet, and when.
    first: Option<(Moment, Error)>,
}

impl Observer {
    pub(crate) fn new(probes: &Probes, watches: Option<Arc<Watches>>) -> Observer {
        let collected = probes.list[..probes.n_every].iter().map(|p| {
            let loops = p.loops.iter().map(|&f| probes.frames[f as usize].clone()).collect();
            Iterations::new(format!("{}:{}", p.node, p.index), p.dtype, p.shape.clone(), loops)
        });
        Observer { collected: collected.collect(), watches: watches.unwrap_or_default(), first: None }
    }

    /// Probe `k` sees a value.
    pub(crate) fn see(&mut self, probes: &Probes, k: usize, path: &Path, value: Tensor) -> Result<()> {
        let at: SmallVec<[u64; 4]> = path.iter().map(|(_, iteration)| *iteration).collect();
        if let Some(collected) = self.collected.get_mut(k) {
            return collected.push(&at, value);
        }
        let watch = k - probes.n_every;
        let conditions = match watch < probes.n_watched {
            true => self.watches.on.get(watch..watch + 1).unwrap_or_default(),
            false => &self.watches.all,
        };
        for condition in conditions {
            let holds = catch_unwind(AssertUnwindSafe(|| (condition.holds)(&value, &at)))
                .map_err(|_| Error::internal("the condition of a watch panicked"))?;
            if holds {
                let error = probes.sighting(k, path, value, &condition.what);
                self.found(probes.moment_of_probe(path, k), error);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Something is found that ends the run, unless something earlier is.
    pub(crate) fn found(&mut self, moment: Moment, error: Error) {
        if !self.is_late(|| moment.clone()) {
            self.first = Some((moment, error));
        }
    }

    /// Whether what happens at a moment is later than what was found.
    #[inline]
    pub(crate) fn is_late(&self, moment: impl FnOnce() -> Moment) -> bool {
        self.first.as_ref().is_some_and(|(first, _)| *first < moment())
    }

    pub(crate) fn has_found(&self) -> bool {
        self.first.is_some()
    }

    /// What ends the run.
    pub(crate) fn take_found(&mut self) -> Option<Error> {
        self.first.take().map(|(_, error)| error)
    }

    /// What was collected, in order.
    pub(crate) fn collected(self, budget: Option<&Arc<Budget>>) -> Result<Vec<Iterations>> {
        let mut collected = self.collected;
        collected.iter_mut().try_for_each(|c| c.sort(budget.cloned()))?;
        Ok(collected)
    }
}
