//! The reference tier: what a program means, evaluated slowly and obviously. It is the definition that the
//! other tiers are tested against: nothing is laid out, left out or folded, and nothing runs at the same
//! time.
//!
//! Everything that happens is a [`Token`] taken from a first-in-first-out list: a value, or the news that
//! there is none (*dead*), for one place of one node under one *tag*. The tag is the place in the nest of
//! loops: the path of (loop, iteration) from the root. Values are held by the tokens that carry them.
//!
//! - An ordinary node waits for all its tokens. Then it computes, or is dead if one of them was.
//! - A `Merge` goes on with the first live value, or is dead when all inputs are (a loop's: when one is). Its
//!   control inputs only delay it.
//! - `Enter` starts a loop within the current iteration; a constant one gives its value in every iteration.
//! - A live `NextIteration` gives its value in the next iteration, which starts if there is room; otherwise
//!   its token is parked. A dead one gives nothing.
//! - A live `Exit` gives its value in the iteration around the loop. Exits that never were live are dead when
//!   the loop is over.
//! - An iteration is over when no token of it is left, no loop in it goes on, all Enters of its loop are in
//!   and the iteration before is over. A loop is over when its last iteration is.
//!
//! Every value is checked against the shape that was inferred for it.
//!
//! Accesses to a variable that is written happen in the order of the program, and loops with such accesses
//! run one iteration at a time.
//!
//! Nothing recurses: programs may be chains of millions of nodes, and loops long.
//!
//! `run`: one run. `tokens`: what arrives, and where it goes. `nodes`: what a node does. `loops`: how they
//! begin and end.

mod loops;
mod nodes;
mod run;
mod tokens;

use crate::errors::{not_fed, of_node};
use crate::ids::{FetchId, ProbeId};
use crate::order::run_frame;
use crate::plan::{KernelPlan, MAX_LIVE_ITERATIONS, PlanOptions, prepare};
use crate::probe::{Observer, Probes};
use crate::step::{AtWork, Outcome, RunOptions, until};
use millstream_graph::op::{Role, StepEnv};
use millstream_graph::{Access, Dense, Entity, FrameId, Index, Program, ProgramKind, ProgramNode};
use millstream_state::Resources;
use millstream_tensor::{Result, Tensor};
use run::Run;

/// A program prepared for the reference tier.
pub struct Reference {
    program: Program,
    /// The kernels of the nodes that compute.
    kernels: Dense<Index, Option<KernelPlan>>,
    /// The readers of each node.
    readers: Dense<Index, Readers>,
    loops: Dense<FrameId, LoopInfo>,
    /// For each node, how many of the tokens that it waits for come from control inputs and from the order of
    /// variable accesses.
    n_controls: Dense<Index, usize>,
    /// The values that are looked at.
    probes: Option<Probes>,
}

/// What takes the outputs of a node.
#[derive(Clone, Default)]
struct Readers {
    /// Output, reader, which of the reader's inputs.
    data: Vec<(u32, Index, usize)>,
    /// Output, which fetch.
    fetches: Vec<(u32, FetchId)>,
    /// Output, which probe.
    probes: Vec<(u32, ProbeId)>,
    controls: Vec<Index>,
    /// Nodes that wait until this one has run, dead or alive.
    afterwards: Vec<Index>,
}

/// A frame.
struct LoopInfo {
    /// How many iterations may be alive at a time.
    parallel: u64,
    /// How many Enters lead into it.
    n_enters: usize,
    exits: Vec<Index>,
}

/// A place in the nest of loops: frame and iteration of each loop, outermost first. Empty for the root.
type Tag = Vec<(FrameId, u64)>;

/// `None` is dead.
type Value = Option<Tensor>;

impl std::fmt::Debug for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reference").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Reference {
    /// Prepares a program. Of the options only `parallel_iterations` (without it there is no limit) and
    /// `watch_all` have a meaning here.
    pub fn new(program: Program, kernel_state: &Resources, options: &PlanOptions) -> Result<Reference> {
        let n_controls = program.nodes().iter().map(|n| n.controls.len()).collect();
        let mut reference = Reference {
            kernels: kernels(&program, kernel_state)?,
            readers: readers(&program),
            loops: loops(&program, options),
            n_controls,
            probes: None,
            program,
        };
        let afterwards = reference.order_accesses();
        reference.probes = Probes::new(&reference.program, options.watch_all, &afterwards);
        for (k, source) in reference.probes.iter().flat_map(|p| p.sources()).enumerate() {
            reference.readers[source.node].probes.push((source.index, ProbeId::new(k)));
        }
        Ok(reference)
    }

    /// Orders accesses to variables that are written. Returns the pairs of nodes of which the second waits
    /// for the first.
    fn order_accesses(&mut self) -> Vec<(Index, Index)> {
        let program = &self.program;
        for accesses in program.accesses().values().filter(|l| l.iter().any(|access| access.writes)) {
            for (i, later) in accesses.iter().enumerate() {
                let same = |a: &&Access| run_frame(program, a.node) == run_frame(program, later.node);
                if let Some(before) = accesses[..i].iter().rev().find(same) {
                    self.readers[before.node].afterwards.push(later.node);
                    self.n_controls[later.node] += 1;
                }
            }
        }
        let pairs = |(n, r): (Index, &Readers)| r.afterwards.iter().map(move |&later| (n, later)).collect();
        self.readers.entries().flat_map(|entry| -> Vec<_> { pairs(entry) }).collect()
    }

    /// Runs the program once.
    pub fn run(&self, feeds: Vec<Tensor>, env: &StepEnv, options: &RunOptions) -> Result<Outcome> {
        let result = self.run_to_end(feeds, env, options);
        env.loans.end(result.as_ref().err());
        result
    }

    fn run_to_end(&self, feeds: Vec<Tensor>, env: &StepEnv, options: &RunOptions) -> Result<Outcome> {
        let _at_work = AtWork::begin(&env.activity);
        let _budget = options.enter(env);
        let observer = self.probes.as_ref().map(|p| Observer::new(p, options.watches.clone()));
        let env = &StepEnv { files: until(&env.files, options.deadline), ..env.clone() };
        let mut run = Run::new(self, env, observer);
        run.start(feeds, &options.dead_feeds);
        let went = run.go(options);
        if let Err(error) = &went {
            // Kernels that still wait are cancelled: what they wait for belongs to other runs.
            env.cancel.cancel(error.clone());
        }
        if let Some(found) = run.observer.as_mut().and_then(Observer::take_found) {
            return Err(found);
        }
        went?;
        run.outcome(options)
    }
}

/// The kernels of the nodes that compute.
fn kernels(program: &Program, kernel_state: &Resources) -> Result<Dense<Index, Option<KernelPlan>>> {
    let kernel = |node: &ProgramNode| match (&node.kind, node.role()) {
        (ProgramKind::Node(info), Role::Compute) => {
            prepare(info, kernel_state).map(Some).map_err(|e| of_node(e, node))
        }
        (ProgramKind::Node(info), Role::Placeholder) => Err(not_fed(info, node)),
        _ => Ok(None),
    };
    program.nodes().iter().map(kernel).collect()
}

fn readers(program: &Program) -> Dense<Index, Readers> {
    let mut readers = Dense::filled(Readers::default(), program.nodes().len());
    for (n, node) in program.nodes().entries() {
        for (i, source) in node.inputs.iter().enumerate() {
            readers[source.node].data.push((source.index, n, i));
        }
        for &control in &node.controls {
            readers[control].controls.push(n);
        }
    }
    for (k, source) in program.fetches().iter().enumerate() {
        readers[source.node].fetches.push((source.index, FetchId::new(k)));
    }
    readers
}

fn loops(program: &Program, options: &PlanOptions) -> Dense<FrameId, LoopInfo> {
    let parallel = options.parallel_iterations.unwrap_or(u32::MAX).clamp(1, MAX_LIVE_ITERATIONS);
    let info = |_| LoopInfo { parallel: parallel.into(), n_enters: 0, exits: Vec::new() };
    let mut loops: Dense<FrameId, LoopInfo> = program.frames().iter().map(info).collect();
    for (n, node) in program.nodes().entries() {
        match node.role() {
            Role::Enter => loops[node.frame].n_enters += 1,
            Role::Exit => loops[run_frame(program, n)].exits.push(n),
            _ => {}
        }
    }
    for frame in program.writing_loops() {
        loops[frame].parallel = 1;
    }
    loops
}
