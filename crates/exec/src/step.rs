//! One run of a plan: who drives the machine, who does the long work, and who waits.
//!
//! # Threads
//!
//! The machine belongs to whoever holds its lock. The caller of [`Step::run`] drives it first. Where a kernel will
//! take long and there is more than one thread, it becomes a task: the driver gives all but one to the pool and does the last itself,
//! without the lock. A worker that is through leaves the result in the mailbox and *tries* for the lock: if it gets it, it drives on, otherwise
//! the one who has it will look into the mailbox before it lets go, and once more after. So no result is ever left lying:
//!
//! ```text
//!   worker   result -> mailbox ── try_lock ──► drive ── unlock ── mailbox empty? ──► done
//!                                     │ taken                        │ no
//!                                     └► done (the driver looks)     └► try_lock again
//! ```
//!
//! Never more tasks run at a time than there are threads, and never more threads take part than that, the caller among them: one more
//! that lingers would keep one that works from its core. A thread that has nothing to do *lingers* for a moment before it goes: waking
//! one takes as long as a small matrix product. A task is put on offer where a thread lingers or all of them take part already, and else
//! brings a new one from the pool. A thread that stops lingering takes a task with it if there is one, under the same lock under which it
//! counts itself out; and where all take part while a task is on offer, one of them has yet to come and linger, or is the caller, asleep, who
//! is woken. So none is left lying.
//!
//! The caller sleeps only while others have work, and is woken when all is done, when a waiting kernel completes or for a task on offer.
//!
//! Lock order: machine, then mailbox, offers, or the sleeper's. No kernel runs under any of them but the short ones, which the driver runs.

use crate::iterations::Iterations;
use crate::machine::{Done, Fetched, Machine, Mailbox, Task};
use crate::plan::Plan;
use crate::poll::Poll;
use crate::probe::{Observer, Watches};
use crate::progress::Progress;
use crate::trace::Trace;
use millstream_graph::op::{StepEnv, StepHost};
use millstream_state::{Activity, Cancellation, Variable, in_host_function};
use millstream_tensor::{Code, Error, Result, Tensor, budget, invalid};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::{Duration, Instant};

/// How many nodes run between looks at the mailbox, the clock and the cancellation.
const TURN: usize = 256;

/// What one run is given beyond its feeds.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// Record every execution.
    pub trace: bool,
    /// Why the run happens ([`StepEnv::why`]).
    pub why: Option<Arc<str>>,
    /// When to give up.
    pub deadline: Option<Instant>,
    /// What tensors may be alive together.
    pub budget: Option<Arc<budget::Budget>>,
    /// Every kernel runs on one thread; threads only serve kernels side by side.
    pub one_thread_per_kernel: bool,
    /// What stops the run, where the plan has watches.
    pub watches: Option<Arc<Watches>>,
    /// What the calling thread asks while the run goes on.
    pub poll: Option<Poll>,
    /// What the calling thread shows of it.
    pub progress: Option<Progress>,
}

/// What a run gives back.
pub struct Outcome {
    /// The fetched values, in order.
    pub values: Vec<Tensor>,
    /// The values fetched in every iteration, in order.
    pub every: Vec<Iterations>,
    /// What ran, if it was asked for.
    pub trace: Option<Box<Trace>>,
}

/// Plans with machines to reuse: a run takes one and puts it back.
pub struct Runner {
    plan: Arc<Plan>,
    /// What runs that ended well have left, ready for the next.
    #[expect(clippy::vec_box, reason = "runs take them out and put them back, half a kilobyte each")]
    spare: Mutex<Vec<Box<Set>>>,
}

/// What a run takes place in.
struct Set {
    machine: Machine,
    env: StepEnv,
}

/// How many machines a plan keeps for runs to come.
const MAX_SPARE: usize = 64;

/// What the threads of one run share.
struct Step {
    plan: Arc<Plan>,
    env: StepEnv,
    /// The same for tasks that run beside others: each has one thread.
    narrow: StepEnv,
    one_thread_per_kernel: bool,
    budget: Option<Arc<budget::Budget>>,
    machine: Mutex<Machine>,
    /// Results on their way to the machine.
    mail: Mutex<Vec<Done>>,
    has_mail: AtomicBool,
    /// Tasks for the threads that linger.
    offers: Mutex<Offers>,
    /// Whether there may be any: all that a lingering thread looks at.
    has_offers: AtomicBool,
    /// The caller should look.
    roused: AtomicBool,
    /// Held from the caller's last look at `roused` until it sleeps.
    sleep: Mutex<()>,
    woken: Condvar,
    over: AtomicBool,
    threads: usize,
    deadline: Option<Instant>,
    poll: Option<Poll>,
    progress: Option<Progress>,
}

/// Tasks on offer, and who is there to take them.
#[derive(Default)]
struct Offers {
    tasks: VecDeque<Task>,
    n_lingering: usize,
    /// Threads of the pool that take part.
    n_workers: usize,
}

/// How long a thread lingers: about what it costs to wake it.
const LINGER: Duration = Duration::from_micros(50);

/// After what time a run that only waits first asks whether it would do so for ever, and how often at the least.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOK: Duration = Duration::from_secs(1);

impl Runner {
    /// A runner of this plan.
    pub fn new(plan: Arc<Plan>) -> Runner {
        Runner { plan, spare: Mutex::new(Vec::new()) }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs the plan once. `feeds` are in the plan's order; their dtypes and shapes were checked. `make_env` is asked for an
    /// environment when no earlier run has left one.
    pub fn run(
        &self,
        feeds: impl IntoIterator<Item = Tensor>,
        make_env: impl FnOnce() -> StepEnv,
        options: &RunOptions,
    ) -> Result<Outcome> {
        let spare = self.spare.lock().pop();
        let mut set = match spare {
            Some(mut set) => {
                set.machine.reset(&self.plan);
                set
            }
            None => Box::new(Set { machine: Machine::new(&self.plan), env: make_env() }),
        };
        let Set { machine, env } = &mut *set;
        env.why.clone_from(&options.why);
        if options.trace {
            machine.trace = Some(Box::new(Trace::new()));
        }
        if let Some(probes) = &self.plan.probes {
            machine.observer = Some(Box::new(Observer::new(probes, options.watches.clone())));
        }
        let _budget = budget::enter(options.budget.as_ref());
        machine.start(&self.plan, env);
        for (i, value) in feeds.into_iter().enumerate() {
            machine.feed(&self.plan, i, value);
        }
        if in_host_function() {
            // The pool's threads may all be in functions that wait for runs like this one: it makes do with its caller's.
            let narrow = StepEnv { host: Arc::new(OneThread(env.host.clone())), ..env.clone() };
            self.drive(machine, &narrow, options, 1)?;
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
        let outcome = outcome(machine, &self.plan, options);
        machine.drop_values();
        env.step_resources.clear_all();
        if outcome.is_ok() && !env.cancel.is_cancelled() {
            let mut spare = self.spare.lock();
            if spare.len() < MAX_SPARE {
                spare.push(set);
            }
        }
        outcome
    }

    /// Runs what is ready and all that follows, until nothing runs or waits any more.
    pub(crate) fn drive(
        &self,
        machine: &mut Machine,
        env: &StepEnv,
        options: &RunOptions,
        threads: usize,
    ) -> Result<()> {
        let _at_work = AtWork::begin(&env.activity);
        // The short way, without anything shared: all of many small runs, and the beginning of every one.
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
            check(env, options.deadline, options.poll.as_ref())?;
            if let Some(progress) = &options.progress {
                progress.look(machine, plan);
            }
        }
        let step = Arc::new(Step {
            plan: plan.clone(),
            env: env.clone(),
            narrow: StepEnv { host: Arc::new(OneThread(env.host.clone())), ..env.clone() },
            one_thread_per_kernel: options.one_thread_per_kernel,
            budget: options.budget.clone(),
            machine: Mutex::new(std::mem::replace(machine, Machine::empty())),
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
        });
        let result = step.clone().run();
        step.over.store(true, Release);
        std::mem::swap(machine, &mut step.machine.lock());
        result
    }
}

/// Sleeps until there is something to do for a run of which only so many waits are left: as `sleep` does, which says whether there is, until a
/// moment at the most. An error if the waits would last for ever.
pub(crate) fn sleep_for_waits(
    env: &StepEnv,
    n_waits: usize,
    mut sleep: impl FnMut(Option<Instant>) -> bool,
) -> Option<Error> {
    let _asleep = env.activity.sleep();
    let mut look = FIRST_LOOK;
    while !sleep(Instant::now().checked_add(look)) {
        if let Some(error) = env.host.stalled(&env.cancel, n_waits) {
            return Some(error);
        }
        look = (look * 2).min(LAST_LOOK);
    }
    None
}

/// A run is at work until this goes.
pub(crate) struct AtWork<'a>(&'a Activity);

impl AtWork<'_> {
    pub(crate) fn begin(activity: &Activity) -> AtWork<'_> {
        activity.begin();
        AtWork(activity)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A host that grants a kernel one thread.
struct OneThread(Arc<dyn StepHost>);

impl StepHost for OneThread {
    fn print(&self, line: &str) {
        self.0.print(line);
    }
    fn threads(&self) -> usize {
        1
    }
    fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
    fn stalled(&self, cancel: &Cancellation, n_waits: usize) -> Option<Error> {
        self.0.stalled(cancel, n_waits)
    }
    fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        self.0.spawn(work);
    }
}

pub(crate) fn check(env: &StepEnv, deadline: Option<Instant>, poll: Option<&Poll>) -> Result<()> {
    env.cancel.check()?;
    if let Some(poll) = poll {
        poll.ask()?;
    }
    match deadline {
        Some(deadline) if Instant::now() >= deadline => Err(timed_out()),
        _ => Ok(()),
    }
}

fn timed_out() -> Error {
    Error::new(Code::DeadlineExceeded, "the run did not end in the time allowed")
        .led_by("Timed out waiting for notification")
        .with_help("raise the timeout, or see with a trace where the time goes")
}

/// What is said of a fetch that a branch not taken would have computed.
pub(crate) fn dead_fetch(k: usize, name: &str) -> Error {
    invalid!("Retval[{k}] does not have value"; "`{name}` has no value: it lies on a branch that was not taken")
        .with_help("fetch the result of the `cond` (its Merge) instead")
}

/// The value of the variable that a reference leads to.
pub(crate) fn read_reference(reference: &Tensor) -> Result<Tensor> {
    match reference.as_handles() {
        Some([handle]) => match handle.get::<Variable>() {
            Some(variable) => variable.read(),
            None => Err(invalid!("a reference to a {}, not to a variable", handle.kind())),
        },
        _ => Err(Error::internal("a reference edge carries no handle")),
    }
}

/// The value that a fetched variable has at the end of the run.
pub(crate) fn fetched_reference(reference: &Tensor, name: &str) -> Result<Tensor> {
    read_reference(reference).map_err(|e| e.note(format!("`{name}` was fetched")))
}

fn outcome(machine: &mut Machine, plan: &Plan, options: &RunOptions) -> Result<Outcome> {
    let results = std::mem::take(&mut machine.results);
    let values = results
        .into_iter()
        .enumerate()
        .map(|(k, r)| match r {
            Fetched::Value(reference) if plan.fetches_ref[k] => {
                fetched_reference(&reference, plan.fetch_name(k))
            }
            Fetched::Value(value) => Ok(value),
            Fetched::Dead => Err(dead_fetch(k, plan.fetch_name(k))),
            Fetched::Pending => Err(Error::internal(format!("`{}` was never computed", plan.fetch_name(k)))),
        })
        .collect::<Result<Vec<_>>>()?;
    let every = match machine.observer.take() {
        Some(observer) => observer.collected(options.budget.as_ref())?,
        None => Vec::new(),
    };
    Ok(Outcome { values, every, trace: machine.trace.take() })
}

impl Mailbox for Step {
    fn deliver(&self, done: Done) {
        self.post(done);
        self.rouse();
    }
}

impl Step {
    fn post(&self, done: Done) {
        self.mail.lock().push(done);
        self.has_mail.store(true, Release);
    }

    fn rouse(&self) {
        self.roused.store(true, Release);
        drop(self.sleep.lock());
        self.woken.notify_one();
    }

    /// The caller's part: drives, works, sleeps, until all is done.
    fn run(self: Arc<Self>) -> Result<()> {
        let listener = self.clone();
        let _listening = self.env.cancel.on_cancel(move |_| listener.rouse());
        let mut stopped: Option<Error> = None;
        loop {
            // Whatever comes from here on is looked for now, or rouses anew.
            self.roused.swap(false, AcqRel);
            let mut machine = self.lock_machine();
            let task = self.turn(&mut machine);
            if let Err(error) = check(&self.env, self.deadline, self.poll.as_ref())
                && stopped.is_none()
            {
                if task.is_some() {
                    // It will not run.
                    machine.running -= 1;
                }
                // Waiting kernels come back at once when they are cancelled; those that run are waited for.
                self.env.cancel.cancel(error.clone());
                machine.stop(error.clone());
                stopped = Some(error);
                continue;
            }
            if machine.error.is_some() && !self.env.cancel.is_cancelled() {
                let error = machine.error.clone();
                drop(machine);
                if let Some(error) = error {
                    self.env.cancel.cancel(error);
                }
                continue;
            }
            if let Some((task, alone)) = task {
                drop(machine);
                self.work(task, alone);
                continue;
            }
            if machine.running == 0
                && machine.waiting == 0
                && machine.is_idle()
                && !self.has_mail.load(Acquire)
            {
                return machine.error.take().map_or(Ok(()), Err);
            }
            if machine.running == 0
                && machine.is_idle()
                && machine.has_found()
                && !self.has_mail.load(Acquire)
            {
                // What still waits may wait for ever, for what is late.
                machine.stop(Error::internal("what was found is gone"));
                continue;
            }
            let (runs, waits) = (machine.running > 0, machine.waiting);
            drop(machine);
            if !runs {
                // Nothing comes soon, and whoever is waited for may need the core.
                if let Some(error) = self.sleep_for_waits(waits) {
                    self.machine.lock().stop(error);
                }
                continue;
            }
            match self.linger(|| self.roused.load(Acquire), |_| ()) {
                Some(task) => self.work(task, false),
                None => self.sleep_until(self.deadline.filter(|_| !self.env.cancel.is_cancelled())),
            }
        }
    }

    /// The machine for the caller. Another thread may drive it for as long as the run lasts, and meanwhile somebody has to ask and to show.
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
            if let Some(Err(error)) = self.poll.as_ref().map(Poll::ask) {
                // Whoever drives looks at this.
                self.env.cancel.cancel(error);
                return self.machine.lock();
            }
        }
    }

    /// Sleeps until roused, or until then, or until it is time to ask or to show.
    fn sleep_until(&self, until: Option<Instant>) {
        let ask = match (&self.poll, &self.progress) {
            (None, None) => None,
            _ => Instant::now().checked_add(Poll::EVERY.min(Progress::EVERY)),
        };
        let until = until.into_iter().chain(ask).min();
        let mut sleep = self.sleep.lock();
        if !self.roused.load(Acquire) {
            match until {
                Some(until) => drop(self.woken.wait_until(&mut sleep, until)),
                None => self.woken.wait(&mut sleep),
            }
        }
    }

    /// Sleeps until roused, where all that is left of the run is so many waits. An error if they would last for ever.
    fn sleep_for_waits(&self, n_waits: usize) -> Option<Error> {
        if self.deadline.is_some() || self.env.cancel.is_cancelled() {
            self.sleep_until(self.deadline.filter(|_| !self.env.cancel.is_cancelled()));
            return None;
        }
        let mut asked = None;
        let stalled = sleep_for_waits(&self.env, n_waits, |until| {
            loop {
                self.sleep_until(until);
                if self.roused.load(Acquire) {
                    return true;
                }
                if let Some(Err(error)) = self.poll.as_ref().map(Poll::ask) {
                    asked = Some(error);
                    return true;
                }
                if let Some(progress) = &self.progress {
                    progress.tick();
                }
                if until.is_some_and(|until| until <= Instant::now()) {
                    return false;
                }
            }
        });
        asked.or(stalled)
    }

    /// A worker's lingering: without a task it no longer takes part.
    fn linger_as_worker(&self) -> Option<Task> {
        self.linger(|| self.over.load(Acquire), |offers| offers.n_workers -= 1)
    }

    /// Waits a little for a task on offer, or until `enough`; `leave` is done if there is none, before another can come.
    fn linger(&self, enough: impl Fn() -> bool, leave: impl FnOnce(&mut Offers)) -> Option<Task> {
        self.offers.lock().n_lingering += 1;
        let until = Instant::now() + LINGER;
        while !self.has_offers.load(Acquire) && !enough() && Instant::now() < until {
            std::hint::spin_loop();
        }
        let mut offers = self.offers.lock();
        offers.n_lingering -= 1;
        let task = offers.tasks.pop_front();
        self.has_offers.store(!offers.tasks.is_empty(), Release);
        if task.is_none() {
            leave(&mut offers);
        }
        task
    }

    /// Drives until nothing is ready; gives extra tasks to the pool and one, if there is room, back to do.
    fn turn(self: &Arc<Self>, machine: &mut Machine) -> Option<(Task, bool)> {
        let mailbox: Arc<dyn Mailbox> = self.clone();
        loop {
            if self.has_mail.swap(false, AcqRel) {
                let mail = std::mem::take(&mut *self.mail.lock());
                for done in mail {
                    machine.done(&self.plan, done);
                }
            }
            let more = machine.error.is_none() && machine.drive(&self.plan, &self.env, TURN);
            if let Some(progress) = &self.progress {
                progress.look(machine, &self.plan);
            }
            if machine.has_waits() {
                machine.start_waits(&self.plan, &self.env, &mailbox);
            }
            // Let the others start while there is still more to find.
            while machine.tasks.len() > 1 && machine.running + 1 < self.threads {
                self.hand_out(machine);
            }
            if more && machine.tasks.len() == 1 && machine.running < self.threads && self.threads > 1 {
                self.hand_out(machine);
            }
            // A loop may keep this one busy for ever.
            if let Err(error) = check(&self.env, self.deadline, self.poll.as_ref()) {
                machine.stop(error);
                return None;
            }
            if !more && !self.has_mail.load(Acquire) {
                break;
            }
        }
        if machine.running < self.threads
            && let Some(task) = machine.next_task()
        {
            machine.running += 1;
            return Some((task, machine.running == 1));
        }
        None
    }

    fn hand_out(self: &Arc<Self>, machine: &mut Machine) {
        if let Some(task) = machine.next_task() {
            machine.running += 1;
            let mut offers = self.offers.lock();
            let lingers = offers.tasks.len() < offers.n_lingering;
            if lingers || offers.n_workers + 1 >= self.threads {
                offers.tasks.push_back(task);
                self.has_offers.store(true, Release);
                drop(offers);
                if !lingers {
                    self.rouse();
                }
                return;
            }
            offers.n_workers += 1;
            drop(offers);
            let step = self.clone();
            self.env.host.spawn(Box::new(move || step.worker((task, false))));
        }
    }

    /// Runs a task; `alone` if no other ran when it was taken, so that its kernel may use all threads.
    fn work(&self, task: Task, alone: bool) {
        let _budget = budget::enter(self.budget.as_ref());
        let env = if alone && !self.one_thread_per_kernel { &self.env } else { &self.narrow };
        let done = task.run(&self.plan, env);
        self.post(done);
    }

    /// A worker's part: does its task, then drives on as long as nobody else does.
    fn worker(self: Arc<Self>, task: (Task, bool)) {
        let _budget = budget::enter(self.budget.as_ref());
        let mut task = Some(task);
        loop {
            if let Some((task, alone)) = task.take() {
                self.work(task, alone);
            }
            let Some(mut machine) = self.machine.try_lock() else {
                // Whoever has the machine looks into the mailbox before it lets go. It may have looked just before the
                // result was there, and not be done letting go: so the caller looks, too.
                self.rouse();
                task = self.linger_as_worker().map(|task| (task, false));
                match task {
                    Some(_) => continue,
                    None => return,
                }
            };
            task = self.turn(&mut machine);
            let over = machine.running == 0 && machine.is_idle() || machine.error.is_some();
            drop(machine);
            if over {
                self.rouse();
            }
            if task.is_none() && !self.has_mail.load(Acquire) {
                task = self.linger_as_worker().map(|task| (task, false));
                if task.is_none() {
                    return;
                }
            }
        }
    }
}
