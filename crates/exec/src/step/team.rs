//! [`Team`]: what the threads of one run share, and the caller's part.

use super::host::OneThread;
use super::options::RunOptions;
use super::workers::{Offers, Work};
use super::{PANICKED, check};
use crate::machine::{Done, Machine, Mailbox};
use crate::plan::Plan;
use crate::poll::Poll;
use crate::progress::Progress;
use crate::sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering::*};
use millstream_graph::op::{StepEnv, caught};
use millstream_tensor::{Error, Result, budget};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What the threads of one run share.
pub(super) struct Team {
    pub(super) plan: Arc<Plan>,
    pub(super) env: StepEnv,
    /// The environment of tasks that run beside others, each with one thread, if there were any.
    narrow: OnceLock<StepEnv>,
    one_thread_per_kernel: bool,
    pub(super) budget: Option<Arc<budget::Budget>>,
    pub(super) machine: Mutex<Machine>,
    /// Results on their way to the machine.
    pub(super) mail: Mutex<Vec<Done>>,
    pub(super) has_mail: AtomicBool,
    /// Tasks for the threads that linger.
    pub(super) offers: Mutex<Offers>,
    /// Whether there may be tasks on offer: all that a lingering thread looks at.
    pub(super) has_offers: AtomicBool,
    /// Whether the caller should look.
    pub(super) roused: AtomicBool,
    /// Held from the caller's last look at `roused` until it sleeps, and while it is roused.
    pub(super) sleep: Mutex<()>,
    pub(super) woken: Condvar,
    pub(super) over: AtomicBool,
    pub(super) threads: usize,
    pub(super) deadline: Option<Instant>,
    pub(super) poll: Option<Poll>,
    pub(super) progress: Option<Progress>,
}

/// What the caller found when it looked.
enum Next {
    /// The run is over.
    Over(Result<()>),
    /// Something changed: look again.
    Again,
    /// A task to do.
    Do(Work),
    /// Other threads run tasks.
    Linger,
    /// Nothing runs; this many kernels wait.
    Wait(usize),
}

impl Mailbox for Team {
    fn deliver(&self, done: Done) {
        self.post(done);
        self.rouse();
    }
}

impl Team {
    /// A team without a machine.
    pub(super) fn new(plan: &Arc<Plan>, env: &StepEnv, options: &RunOptions, threads: usize) -> Team {
        Team {
            plan: plan.clone(),
            env: env.clone(),
            narrow: OnceLock::new(),
            one_thread_per_kernel: options.one_thread_per_kernel,
            budget: options.budget.clone(),
            machine: Mutex::new(Machine::empty()),
            mail: Mutex::new(Vec::new()),
            has_mail: AtomicBool::new(false),
            offers: Mutex::default(),
            has_offers: AtomicBool::new(false),
            roused: AtomicBool::new(false),
            sleep: Mutex::new(()),
            woken: Condvar::new(),
            over: AtomicBool::new(false),
            threads,
            deadline: options.deadline,
            poll: options.poll.clone(),
            progress: options.progress.clone(),
        }
    }

    /// The environment of a task. `alone`: the kernel may use all threads. The other environment is made when
    /// it is needed: most runs that wait have no tasks.
    pub(super) fn env_of(&self, alone: bool) -> &StepEnv {
        match alone && !self.one_thread_per_kernel {
            true => &self.env,
            false => self.narrow.get_or_init(|| OneThread::of(&self.env)),
        }
    }

    pub(super) fn post(&self, done: Done) {
        self.mail.lock().push(done);
        self.has_mail.store(true, Release);
    }

    /// As [`check`], of this run.
    pub(super) fn check(&self, machine: &Machine) -> Result<()> {
        check(&self.env, self.deadline, self.poll.as_ref()).map_err(|e| machine.called_off(&self.plan, e))
    }

    /// The caller's part: drives, works, sleeps, until everything is done.
    pub(super) fn run(self: &Arc<Self>) -> Result<()> {
        let listener = self.clone();
        let _listening = self.env.cancel.on_cancel(move |_| listener.rouse());
        let (mut stopped, mut panicked) = (false, false);
        loop {
            // Whatever comes from here on is seen in this round, or rouses the caller again.
            self.roused.swap(false, AcqRel);
            let next = caught(|| Ok(self.look(&mut stopped)), PANICKED).unwrap_or_else(|error| {
                // Threads that run tasks are waited for, as after any other error.
                self.machine.lock().stop(error.clone());
                if std::mem::replace(&mut panicked, true) { Next::Over(Err(error)) } else { Next::Again }
            });
            match next {
                Next::Over(result) => {
                    self.over.store(true, Release);
                    return result;
                }
                Next::Again => {}
                Next::Do((task, alone)) => self.work(task, alone),
                Next::Linger => match self.linger(|| self.roused.load(Acquire), |_| ()) {
                    Some(task) => self.work(task, false),
                    None => self.sleep_for_workers(),
                },
                // Nothing comes soon, and whatever is waited for may need the core.
                Next::Wait(n_waits) => {
                    if let Some(error) = self.sleep_for_waits(n_waits) {
                        self.machine.lock().stop(error);
                    }
                }
            }
        }
    }

    /// Drives the machine, and finds what the caller has to do next. `stopped`: the run has been cancelled.
    fn look(self: &Arc<Self>, stopped: &mut bool) -> Next {
        let mut machine = self.lock_machine();
        let task = self.turn(&mut machine);
        if let Err(error) = self.check(&machine)
            && !*stopped
        {
            if task.is_some() {
                // It will not run.
                machine.running -= 1;
            }
            // Waiting kernels come back at once when they are cancelled; those that run are waited for.
            self.env.cancel.cancel(error.clone());
            machine.stop(error);
            *stopped = true;
            return Next::Again;
        }
        if let Some(error) = machine.error.clone()
            && !self.env.cancel.is_cancelled()
        {
            drop(machine);
            self.env.cancel.cancel(error);
            return Next::Again;
        }
        if let Some(work) = task {
            return Next::Do(work);
        }
        let idle = machine.running == 0 && machine.is_idle() && !self.has_mail.load(Acquire);
        if idle && machine.n_waiting() == 0 {
            return Next::Over(machine.error.take().map_or(Ok(()), Err));
        }
        if idle && machine.has_found() {
            // What still waits may wait for ever, for something that is late.
            machine.stop(Error::internal("what was found is gone"));
            return Next::Again;
        }
        match machine.running > 0 {
            true => Next::Linger,
            false => Next::Wait(machine.n_waiting()),
        }
    }

    /// The machine, for the caller. Another thread may drive it for as long as the run lasts, and meanwhile
    /// the caller has to poll and to show progress.
    fn lock_machine(&self) -> MutexGuard<'_, Machine> {
        if self.poll.is_none() && self.progress.is_none() {
            return self.machine.lock();
        }
        loop {
            if let Some(machine) = self.machine.try_lock_for(Poll::EVERY.min(Progress::EVERY)) {
                return machine;
            }
            if let Some(progress) = &self.progress {
                progress.tick();
            }
            if let Some(Err(error)) = self.poll.as_ref().map(|poll| poll.ask(&self.env.loans)) {
                // The thread that drives looks at this.
                self.env.cancel.cancel(error);
                return self.machine.lock();
            }
        }
    }
}
