//! [`Runner`]: runs of a plan. A *step* is what one run changes: a machine, and the environment of its
//! kernels. It is used again by later runs.
//!
//! # Threads
//!
//! The machine belongs to the thread that holds its lock. The caller of [`Runner::run`] drives it first.
//! Where a kernel will take long and there is more than one thread, the kernel run becomes a task: the driver
//! gives all tasks but one to the pool and does the last itself, without the lock. A worker that is through
//! leaves the result in the mailbox and *tries* for the lock. If it gets the lock it drives on; otherwise the
//! holder looks into the mailbox before it unlocks, and once more after. So no result is ever left lying:
//!
//! ```text
//!   worker   result -> mailbox ── try_lock ──► drive ── unlock ── mailbox empty? ──► done
//!                                     │ taken                        │ no
//!                                     └► done (the driver looks)     └► try_lock again
//! ```
//!
//! Never more tasks run at a time than there are threads, and never more threads take part than that, the
//! caller included: one more that lingers would keep one that works from its core. A thread that has nothing
//! to do *lingers* for a moment before it leaves, because waking one takes as long as a small matrix product.
//! A task is put on offer where a thread lingers or all threads already take part; otherwise it brings a new
//! thread from the pool. A thread that stops lingering takes a task with it if there is one, under the same
//! lock under which it counts itself out. Where all threads take part while a task is on offer, either one of
//! them has yet to come and linger, or the caller is asleep and is woken. So no task is left lying.
//!
//! The caller sleeps only while others have work, and is woken when everything is done, when a waiting kernel
//! completes, or for a task on offer.
//!
//! Lock order: machine, then mailbox, offers, or the sleeper's. No kernel runs under any of these locks but
//! the short ones, which the driver runs under the machine's.
//!
//! # The files
//!
//! `options`: what a run is given and gives back. `team`: what the threads of a run share, and the caller's
//! part. `workers`: the other threads, and how tasks reach them. `sleep`: how the caller waits. `host`: what
//! kernels of a run see of the session.

mod host;
mod options;
mod sleep;
mod team;
mod workers;

pub(crate) use host::AtWork;
pub use options::{Outcome, RunOptions};
pub(crate) use sleep::sleep_for_waits;

use crate::errors::timed_out;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::poll::Poll;
use crate::probe::Observer;
use crate::trace::Trace;
use host::OneThread;
use millstream_files::Files;
use millstream_graph::op::{StepEnv, caught};
use millstream_state::in_host_function;
use millstream_tensor::{Result, Tensor};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Instant;
use team::Team;

/// How many nodes run between looks at the mailbox, the clock and the cancellation.
const TURN: usize = 256;

/// The error of a run on one of whose threads something other than a kernel panicked.
const PANICKED: &str = "the run panicked";

/// How many steps a runner keeps for later runs.
const MAX_SPARE: usize = 64;

/// Runs a plan, as often as asked. Keeps the steps of runs that ended well.
pub struct Runner {
    plan: Arc<Plan>,
    #[expect(clippy::vec_box, reason = "runs take them out and put them back, half a kilobyte each")]
    spare: Mutex<Vec<Box<Step>>>,
}

/// What one run changes.
struct Step {
    machine: Machine,
    env: StepEnv,
    /// The files of `env`, without the deadline of a run.
    files: Files,
    /// Whether the files of `env` have the deadline of a run.
    bounded: bool,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("n_nodes", &self.plan.len()).finish_non_exhaustive()
    }
}

impl Runner {
    /// A runner of this plan.
    pub fn new(plan: Arc<Plan>) -> Runner {
        Runner { plan, spare: Mutex::new(Vec::new()) }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs the plan once. `feeds` are in the plan's order, with dtypes and shapes that were checked.
    /// `make_env` makes an environment where no earlier run has left one.
    pub fn run(
        &self,
        feeds: impl IntoIterator<Item = Tensor>,
        make_env: impl FnOnce() -> StepEnv,
        options: &RunOptions,
    ) -> Result<Outcome> {
        let mut step = self.begin_step(make_env);
        let outcome = self.run_step(&mut step, feeds, options)?;
        self.keep(step);
        Ok(outcome)
    }

    /// Runs a plan without feeds and fetches again and again: until a run fails, or until `go_on`, which is
    /// asked before each run, says no. Each run is one of its own, as by [`Runner::run`]. The step stays in
    /// hand between them, so threads that repeat the same plan share nothing but what its nodes share.
    pub fn repeat(
        &self,
        make_env: impl Fn() -> StepEnv,
        options: &RunOptions,
        mut go_on: impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        let mut step = self.begin_step(&make_env);
        let mut used = false;
        while go_on()? {
            if std::mem::replace(&mut used, true) {
                match step.env.cancel.is_cancelled() {
                    false => step.machine.reset(&self.plan),
                    true => step = self.begin_step(&make_env),
                }
            }
            drop(self.run_step(&mut step, [], options)?);
        }
        self.keep(step);
        Ok(())
    }

    /// Runs the plan in a step that is as good as new. A step whose run fails is of no more use.
    fn run_step(
        &self,
        step: &mut Step,
        feeds: impl IntoIterator<Item = Tensor>,
        options: &RunOptions,
    ) -> Result<Outcome> {
        let result = self.run_to_end(step, feeds, options);
        step.env.loans.end(result.as_ref().err());
        result
    }

    fn run_to_end(
        &self,
        step: &mut Step,
        feeds: impl IntoIterator<Item = Tensor>,
        options: &RunOptions,
    ) -> Result<Outcome> {
        let Step { machine, env, files, bounded } = step;
        env.why.clone_from(&options.why);
        // Threads that run steps at the same time would contend for the files' reference count.
        if *bounded || options.deadline.is_some() {
            env.files = until(files, options.deadline);
            *bounded = options.deadline.is_some();
        }
        if options.trace {
            machine.trace = Some(Box::new(Trace::new()));
        }
        if let Some(probes) = &self.plan.probes {
            machine.observer = Some(Box::new(Observer::new(probes, options.watches.clone())));
        }
        let _budget = options.enter(env);
        if options.dead_feeds.is_empty() {
            machine.start_with(&self.plan, env, feeds);
        } else {
            machine.start(&self.plan, env);
            for (i, value) in feeds.into_iter().enumerate() {
                match options.dead_feeds.contains(&i) {
                    false => machine.feed(&self.plan, i, value),
                    true => machine.feed_dead(&self.plan, i),
                }
            }
        }
        if in_host_function() {
            // The pool's threads may all be in functions that wait for runs like this one: it uses its
            // caller's thread only.
            self.drive(machine, &OneThread::of(env), options, 1)?;
        } else {
            let threads = env.host.threads();
            self.drive(machine, env, options, threads)?;
        }
        if let Some(error) = machine.observer.as_mut().and_then(|o| o.take_found()) {
            return Err(error);
        }
        if let Some(error) = machine.stuck(&self.plan) {
            return Err(error);
        }
        let outcome = Outcome::of(machine, &self.plan, options);
        machine.drop_values();
        env.step_resources.clear_all();
        outcome
    }

    /// Keeps the step of a run that ended well for a later one.
    fn keep(&self, step: Box<Step>) {
        if !step.env.cancel.is_cancelled() {
            let mut spare = self.spare.lock();
            if spare.len() < MAX_SPARE {
                spare.push(step);
            }
        }
    }

    /// Runs the plan within the step of a node that calls it, on this thread. The machine is taken from
    /// `spare` and put back there: unlike the steps of [`Runner::run`], it refers to no session.
    pub(crate) fn run_within(
        &self,
        feeds: Vec<Tensor>,
        env: &StepEnv,
        options: &RunOptions,
        spare: &Mutex<Vec<Machine>>,
    ) -> Result<Vec<Tensor>> {
        let mut machine = match spare.lock().pop() {
            Some(mut machine) => {
                machine.reset(&self.plan);
                machine
            }
            None => Machine::new(&self.plan),
        };
        machine.start_with(&self.plan, env, feeds);
        self.drive(&mut machine, &OneThread::of(env), options, 1)?;
        if let Some(error) = machine.stuck(&self.plan) {
            return Err(error);
        }
        let outcome = Outcome::of(&mut machine, &self.plan, options)?;
        machine.drop_values();
        let mut spare = spare.lock();
        if spare.len() < MAX_SPARE {
            spare.push(machine);
        }
        Ok(outcome.values)
    }

    /// The step of an earlier run, or a new one.
    fn begin_step(&self, make_env: impl FnOnce() -> StepEnv) -> Box<Step> {
        let spare = self.spare.lock().pop();
        match spare {
            Some(mut step) => {
                step.machine.reset(&self.plan);
                step
            }
            None => {
                let env = make_env();
                let (machine, files) = (Machine::new(&self.plan), env.files.clone());
                Box::new(Step { machine, files, env, bounded: false })
            }
        }
    }

    /// Runs what is ready and all that follows, until nothing runs or waits any more. A panic is an error:
    /// that of a kernel names its node, and here end those of everything else.
    pub(crate) fn drive(
        &self,
        machine: &mut Machine,
        env: &StepEnv,
        options: &RunOptions,
        threads: usize,
    ) -> Result<()> {
        caught(|| self.drive_on(machine, env, options, threads), PANICKED)
    }

    fn drive_on(
        &self,
        machine: &mut Machine,
        env: &StepEnv,
        options: &RunOptions,
        threads: usize,
    ) -> Result<()> {
        let _at_work = AtWork::begin(&env.activity);
        // The short way, with nothing shared: all of many small runs, and the beginning of every run.
        let plan = &self.plan;
        machine.may_hand_out = threads > 1;
        loop {
            let more = machine.drive(plan, env, TURN);
            if let Some(error) = machine.error.take() {
                return Err(error);
            }
            if !machine.tasks.is_empty() || machine.has_waits() {
                break;
            }
            if !more {
                return Ok(());
            }
            check(env, options.deadline, options.poll.as_ref()).map_err(|e| machine.called_off(plan, e))?;
            if let Some(progress) = &options.progress {
                progress.look(machine, plan);
            }
        }
        let team = Arc::new(Team::new(plan, env, options, threads));
        std::mem::swap(machine, &mut team.machine.lock());
        let result = team.run();
        std::mem::swap(machine, &mut team.machine.lock());
        result
    }
}

/// The files, which kernels wait for no longer than until the deadline. A kernel that waits for a file keeps
/// its thread, which may be the one that watches the deadline.
pub(crate) fn until(files: &Files, deadline: Option<Instant>) -> Files {
    let Some(deadline) = deadline else { return files.clone() };
    files.checked_by(move || if Instant::now() < deadline { Ok(()) } else { Err(timed_out()) })
}

/// An error if the run was cancelled, the poll says so, or the deadline has passed. The last two say what the
/// run waited for.
pub(crate) fn check(env: &StepEnv, deadline: Option<Instant>, poll: Option<&Poll>) -> Result<()> {
    env.cancel.raised()?;
    if let Some(poll) = poll {
        poll.ask(&env.loans).map_err(|e| env.host.waited(&env.cancel, e))?;
    }
    match deadline {
        Some(deadline) if Instant::now() >= deadline => Err(env.host.waited(&env.cancel, timed_out())),
        _ => Ok(()),
    }
}
