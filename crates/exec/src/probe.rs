//! [`Probes`]: the values of a program that are looked at, wherever in the nest of loops they are: collected
//! in every iteration, or watched. A run's [`Observer`] keeps what it sees of them, in whatever tier it runs.
//!
//! # Which is first
//!
//! Iterations overlap and threads race, but what a watch finds does not depend on it. Every [`Moment`] of a
//! run has its place in the order in which it would run one node at a time, and a node's dependencies are
//! earlier than the node. When a watch finds something, all that is *late*, of a later moment, is not run any
//! more. All that is earlier runs to the end, and may find something earlier. When nothing is left, the
//! finding that remains is the first in the run. Errors of kernels in a watched run are found in the same
//! way. Only kernels that wait for something outside of the run are not waited for once something is found:
//! it might never come.

use crate::errors::in_iteration;
use crate::ids::ProbeId;
use crate::iterations::{Iterations, Place};
use crate::order::{Moment, Order, Path, run_frame};
use millstream_graph::op::Role;
use millstream_graph::{Dense, Entity, FrameId, Index, Program, ProgramKind, Source};
use millstream_tensor::budget::Budget;
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, invalid};
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;

/// The conditions that stop a watched run.
#[derive(Default, Debug)]
pub struct Watches {
    /// One condition for each watched value of the program.
    pub on: Vec<Condition>,
    /// Conditions for all floats that nodes compute or that are fed.
    pub all: Vec<Condition>,
}

/// A condition that stops a run.
#[derive(Clone)]
pub struct Condition {
    /// The condition in words: `has NaN`.
    pub what: String,
    /// Whether a value in an iteration meets the condition.
    pub holds: Test,
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Condition").field("what", &self.what).finish_non_exhaustive()
    }
}

/// A predicate on a value and its iteration of each loop around, outermost first.
pub type Test = Arc<dyn Fn(&Tensor, &[u64]) -> bool + Send + Sync>;

/// What a watch found, and where. The error that ends the run carries it: [`Sighting::of`].
#[derive(Clone, Debug)]
pub struct Sighting {
    /// The node that computed the value.
    pub node: String,
    /// Which of its outputs.
    pub output: u32,
    /// The node's op type.
    pub op: String,
    /// The loops around with their iterations, outermost first.
    pub loops: Vec<(String, u64)>,
    /// The value.
    pub value: Tensor,
    /// The outputs that the node's inputs are: `while/Sub:0`.
    pub inputs: Vec<String>,
}

impl Sighting {
    /// What a watch found, if the error comes from one.
    pub fn of(error: &Error) -> Option<&Sighting> {
        error.detail()
    }
}

/// The values that the runs of a program look at.
pub(crate) struct Probes {
    list: Dense<ProbeId, Probe>,
    n_every: usize,
    n_watched: usize,
    /// The frames' names.
    frames: Dense<FrameId, String>,
    /// There if anything is watched.
    order: Option<Order>,
}

/// One value that is looked at.
struct Probe {
    source: Source,
    node: String,
    /// Which of the node's outputs; a feed may replace any.
    index: u32,
    op: String,
    built_at: &'static Location<'static>,
    inputs: Vec<String>,
    role: Role,
    /// The frame that the node runs in.
    runs_in: FrameId,
    /// The loops around the value.
    loops: Vec<FrameId>,
    dtype: DType,
    shape: PartialShape,
}

impl Probes {
    /// The values that a program asks to be looked at, and with `all` every float that a node computes or
    /// that is fed. `None` if there are none. Of each pair of `afterwards` the second node waits for the
    /// first.
    pub(crate) fn new(program: &Program, all: bool, afterwards: &[(Index, Index)]) -> Option<Probes> {
        let floats = if all { floats(program) } else { Vec::new() };
        let sources: Vec<Source> =
            program.every().iter().chain(program.watched()).copied().chain(floats).collect();
        if sources.is_empty() {
            return None;
        }
        let is_watched = program.every().len() < sources.len();
        Some(Probes {
            list: sources.into_iter().map(|s| Probe::new(program, s)).collect(),
            n_every: program.every().len(),
            n_watched: program.watched().len(),
            frames: program.frames().iter().map(|f| f.name.clone()).collect(),
            order: is_watched.then(|| Order::new(program, afterwards)),
        })
    }

    /// The values, in the order of the probes.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Source> {
        self.list.iter().map(|p| p.source)
    }

    /// Whether anything is watched, so that a run may be stopped.
    pub(crate) fn is_watched(&self) -> bool {
        self.order.is_some()
    }

    /// The moment at which a probe sees its value.
    pub(crate) fn moment_of_probe(&self, path: &[(FrameId, u64)], id: ProbeId) -> Moment {
        let probe = &self.list[id];
        let mut moment = match (&self.order, probe.role) {
            (None, _) => Moment::new(),
            // A value that enters an iteration is there at its start.
            (Some(order), Role::Enter | Role::NextIteration) => order.start(path),
            (Some(order), Role::Exit) => order.end(path, probe.runs_in),
            (Some(order), _) => order.moment(path, probe.source.node),
        };
        moment.push(id.index() as u64);
        moment
    }

    /// The moment at which a node runs.
    pub(crate) fn moment(&self, path: &[(FrameId, u64)], node: Index) -> Moment {
        self.order.as_ref().map(|o| o.moment(path, node)).unwrap_or_default()
    }

    fn sighting(&self, id: ProbeId, path: &[(FrameId, u64)], value: Tensor, what: &str) -> Error {
        let probe = &self.list[id];
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
            loops: path.iter().map(|&(f, i)| (self.frames[f].clone(), i)).collect(),
            value,
            inputs: probe.inputs.clone(),
        })
    }

    fn place(&self, path: &[(FrameId, u64)]) -> String {
        let places = path.iter().rev().map(|&(frame, number)| in_iteration(number, &self.frames[frame]));
        places.collect::<Vec<_>>().join(", in ")
    }
}

impl Probe {
    fn new(program: &Program, source: Source) -> Probe {
        let node = program.node(source.node);
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

/// The name of an output: its node's, and which it is. A feed has the name of the output that it replaces.
fn output_name(program: &Program, source: Source) -> (&str, u32) {
    let name = program.node(source.node).name();
    match program.node(source.node).kind {
        ProgramKind::Node(_) => (name, source.index),
        ProgramKind::Feed(..) => {
            name.rsplit_once(':').and_then(|(n, k)| Some((n, k.parse().ok()?))).unwrap_or((name, 0))
        }
    }
}

/// Every float that a node computes or that is fed. Values that nodes only pass on are seen where they were
/// made.
fn floats(program: &Program) -> Vec<Source> {
    let mut found = Vec::new();
    for (node, it) in program.nodes().entries() {
        let is_float = |d: DType| d.is_float() || d.is_complex();
        let mut add = |index| found.push(Source { node, index });
        match &it.kind {
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

/// What one run has seen of the values that it looks at.
pub(crate) struct Observer {
    collected: Vec<Iterations>,
    watches: Arc<Watches>,
    /// The earliest finding so far, with its moment.
    first: Option<(Moment, Error)>,
}

impl Observer {
    pub(crate) fn new(probes: &Probes, watches: Option<Arc<Watches>>) -> Observer {
        let collected = probes.list.iter().take(probes.n_every).map(|p| {
            let loops = p.loops.iter().map(|&f| probes.frames[f].clone()).collect();
            Iterations::new(format!("{}:{}", p.node, p.index), p.dtype, p.shape.clone(), loops)
        });
        Observer { collected: collected.collect(), watches: watches.unwrap_or_default(), first: None }
    }

    /// A probe sees a value.
    pub(crate) fn see(&mut self, probes: &Probes, probe: ProbeId, path: &Path, value: Tensor) -> Result<()> {
        let at: SmallVec<[u64; 4]> = path.iter().map(|(_, iteration)| *iteration).collect();
        if let Some(collected) = self.collected.get_mut(probe.index()) {
            return collected.push(&at, value);
        }
        let watch = probe.index() - probes.n_every;
        let conditions = match watch < probes.n_watched {
            true => self.watches.on.get(watch..watch + 1).unwrap_or_default(),
            false => &self.watches.all,
        };
        for condition in conditions {
            let holds = catch_unwind(AssertUnwindSafe(|| (condition.holds)(&value, &at)))
                .map_err(|_| Error::internal("the condition of a watch panicked"))?;
            if holds {
                let error = probes.sighting(probe, path, value, &condition.what);
                self.found(probes.moment_of_probe(path, probe), error);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Something is found that ends the run, unless something earlier does.
    pub(crate) fn found(&mut self, moment: Moment, error: Error) {
        if !self.is_late(|| moment.clone()) {
            self.first = Some((moment, error));
        }
    }

    /// Whether a moment is later than the earliest finding.
    #[inline]
    pub(crate) fn is_late(&self, moment: impl FnOnce() -> Moment) -> bool {
        self.first.as_ref().is_some_and(|(first, _)| *first < moment())
    }

    pub(crate) fn has_found(&self) -> bool {
        self.first.is_some()
    }

    /// The error that ends the run.
    pub(crate) fn take_found(&mut self) -> Option<Error> {
        self.first.take().map(|(_, error)| error)
    }

    /// The collected values, in the order of the fetches.
    pub(crate) fn collected(self, budget: Option<&Arc<Budget>>) -> Result<Vec<Iterations>> {
        let mut collected = self.collected;
        collected.iter_mut().try_for_each(|c| c.sort(budget.cloned()))?;
        Ok(collected)
    }
}
