//! [`RunOptions`] and [`Outcome`]: what a run is given and gives back.

use crate::errors::{dead_fetch, never_computed};
use crate::ids::FetchId;
use crate::iterations::Iterations;
use crate::machine::{Fetched, Machine};
use crate::plan::Plan;
use crate::poll::Poll;
use crate::probe::Watches;
use crate::progress::Progress;
use crate::trace::Trace;
use crate::variable::fetched_reference;
use millstream_graph::Entity;
use millstream_graph::op::StepEnv;
use millstream_state::{Cancellation, Loans};
use millstream_tensor::pace::Stop;
use millstream_tensor::{Error, Result, Tensor, budget};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What one run is given beyond its feeds.
#[derive(Clone, Default, Debug)]
pub struct RunOptions {
    /// Record every execution of a node.
    pub trace: bool,
    /// The caller's reason for the run ([`StepEnv::why`](millstream_graph::op::StepEnv::why)).
    pub why: Option<Arc<str>>,
    /// The deadline.
    pub deadline: Option<Instant>,
    /// The memory that tensors are charged to.
    pub budget: Option<Arc<budget::Budget>>,
    /// Every kernel runs on one thread; threads only serve to run kernels side by side.
    pub one_thread_per_kernel: bool,
    /// The conditions that stop the run, where the plan has watches.
    pub watches: Option<Arc<Watches>>,
    /// A question that the calling thread asks while the run goes on.
    pub poll: Option<Poll>,
    /// The display of the run's progress, called by the calling thread.
    pub progress: Option<Progress>,
    /// The feeds that are dead: their values are ignored. For the second part of a run whose first part found
    /// them so.
    pub dead_feeds: Vec<usize>,
    /// Whether fetches may be dead: [`Outcome::dead`] lists them. Otherwise a dead fetch is an error.
    pub dead_fetches: bool,
}

impl RunOptions {
    /// Puts the run's memory, deadline, cancellation and poll in force on this thread, for its kernels.
    pub(crate) fn enter(&self, env: &StepEnv) -> budget::Entered<'_> {
        let stop = match &self.poll {
            Some(poll) if poll.is_here() => {
                let (cancel, loans, poll) = (env.cancel.clone(), env.loans.clone(), poll.clone());
                Arc::new(Asking { cancel, loans, poll, answer: OnceLock::new() })
            }
            _ => env.cancel.stop(),
        };
        budget::enter_run(self.budget.as_ref(), self.deadline, stop)
    }
}

/// The cancellation of a run whose caller has a question: a long kernel on the caller's thread asks it too.
struct Asking {
    cancel: Cancellation,
    loans: Arc<Loans>,
    poll: Poll,
    /// The caller's error that ended the run, for all later looks: the caller may give it only once.
    answer: OnceLock<Error>,
}

impl Stop for Asking {
    fn reason(&self) -> Option<Error> {
        if self.cancel.is_cancelled() { self.cancel.raised().err() } else { None }
    }

    fn ask(&self) -> Option<Error> {
        self.reason().or_else(|| {
            if let Some(answer) = self.answer.get() {
                return Some(answer.clone());
            }
            let error = self.poll.ask(&self.loans).err()?;
            Some(self.answer.get_or_init(|| error).clone())
        })
    }
}

/// What a run gives back.
#[derive(Debug)]
pub struct Outcome {
    /// The fetched values, in order.
    pub values: Vec<Tensor>,
    /// The fetches that are dead; their entries in `values` mean nothing.
    pub dead: Vec<usize>,
    /// The values fetched in every iteration, in order.
    pub every: Vec<Iterations>,
    /// What ran, if the options asked for it.
    pub trace: Option<Box<Trace>>,
}

impl Outcome {
    /// The outcome of a run that is over.
    pub(super) fn of(machine: &mut Machine, plan: &Plan, options: &RunOptions) -> Result<Outcome> {
        let results = std::mem::take(&mut machine.results);
        let name = |k| plan.fetch_name(k);
        let mut dead = Vec::new();
        let value = |(k, result): (usize, Fetched)| match (FetchId::new(k), result) {
            (fetch, Fetched::Value(reference)) if plan.fetches_ref[fetch] => {
                fetched_reference(&reference, name(fetch))
            }
            (_, Fetched::Value(value)) => Ok(value),
            (_, Fetched::Dead) if options.dead_fetches => {
                dead.push(k);
                Ok(Tensor::scalar(false))
            }
            (fetch, Fetched::Dead) => Err(dead_fetch(k, name(fetch))),
            (fetch, Fetched::Pending) => Err(Error::internal(never_computed(name(fetch)))),
        };
        let values = results.into_iter().enumerate().map(value).collect::<Result<Vec<_>>>()?;
        let every = match machine.observer.take() {
            Some(observer) => observer.collected(options.budget.as_ref())?,
            None => Vec::new(),
        };
        Ok(Outcome { values, dead, every, trace: machine.trace.take() })
    }
}
