//! [`Activity`]: a counter of the work done by the users of some resources. From it, a waiting run can tell
//! whether any user is left that could end its wait. [`Threads`] tells the same of the threads of the
//! process.
//!
//! # Which threads count
//!
//! A thread of the program is awake unless it sleeps in a run, or in another wait of the engine's that only
//! another thread ends. A thread of the engine's is awake only while it has a job, and does not sleep in a
//! run inside of it (a host function may run sessions). The thread that ends a sleep takes the sleeper off
//! the count at that moment; the sleeper does not do it when it runs again. A thread that was woken and waits
//! for a core is thus awake. A job counts from the moment at which it is handed out, for the same reason.

use crate::sync::{AtomicU64, AtomicUsize, Ordering::*};
use std::cell::Cell;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// The state of a user, which makes one run at a time: idle, at work, or asleep until something outside of
/// the run happens.
#[derive(Clone, Debug, Default)]
pub struct Activity(Arc<AtomicU64>);

/// The lowest bits of an activity: whether its thread sleeps, and whose thread it is.
const AWAKE: u64 = 0;
const PROGRAMS: u64 = 1;
const ENGINES: u64 = 2;
const ASLEEP: u64 = 3;

/// The number of sleeping threads of the program, and of the engine.
static N_ASLEEP: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// The number of threads that the engine has started.
static N_ENGINES: AtomicUsize = AtomicUsize::new(0);

/// The number of jobs that the engine's threads have or are about to get.
static N_JOBS: AtomicUsize = AtomicUsize::new(0);

/// The number of threads that are inside a host function and awake.
static N_IN_HOST: AtomicUsize = AtomicUsize::new(0);

/// The number of changes of all these numbers.
static N_CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether the engine started this thread.
    static IS_ENGINES: Cell<bool> = const { Cell::new(false) };
    /// The number of calls of host functions that this thread is inside of.
    static HOST_DEPTH: Cell<usize> = const { Cell::new(0) };
}

fn kind() -> u64 {
    if IS_ENGINES.get() { ENGINES } else { PROGRAMS }
}

fn fell_asleep(kind: u64) {
    N_ASLEEP[(kind == ENGINES) as usize].fetch_add(1, AcqRel);
    N_CHANGES.fetch_add(1, AcqRel);
}

fn woke(kind: u64) {
    N_CHANGES.fetch_add(1, AcqRel);
    N_ASLEEP[(kind == ENGINES) as usize].fetch_sub(1, AcqRel);
}

// Above the lowest bits is the number of changes of state: it is odd while a run is at work. The run's caller
// changes it, and nobody else while that thread is awake, so most changes need no read-modify-write. Other
// threads only wake it.
impl Activity {
    /// Marks the beginning of a run. A run inside another has an activity of its own: its thread is awake,
    /// while that of the other may be asleep.
    pub fn begin(&self) {
        self.0.store(at_work(self.awake()), Release);
    }

    /// Marks the end of a run.
    pub fn end(&self) {
        self.0.store(idle(self.awake()), Release);
    }

    /// The state of a run whose thread is awake.
    fn awake(&self) -> u64 {
        let state = self.0.load(Relaxed);
        debug_assert_eq!(state & ASLEEP, AWAKE, "two threads use the activity of one run");
        state
    }

    /// Marks the run as idle and its thread as asleep, until [`Activity::wake`] or until the guard is
    /// dropped.
    pub fn sleep(&self) -> Asleep {
        let kind = kind();
        fell_asleep(kind);
        self.0.store(idle(self.awake()) | kind, Release);
        Asleep::of(Woken::By(self.clone()))
    }

    /// Marks the thread as asleep, as [`Activity::sleep`] does, in a run whose work other threads do.
    pub fn doze(&self) -> Asleep {
        let kind = kind();
        fell_asleep(kind);
        self.0.store(self.awake() | kind, Release);
        Asleep::of(Woken::By(self.clone()))
    }

    /// Ends the sleep, if the thread sleeps. The caller wakes the thread afterwards.
    pub fn wake(&self) {
        let woken = |state| (state & ASLEEP != AWAKE).then(|| at_work(state));
        if let Ok(before) = self.0.fetch_update(AcqRel, Acquire, woken) {
            woke(before & ASLEEP);
        }
    }
}

fn at_work(state: u64) -> u64 {
    (state & !ASLEEP) | (1 << 2)
}

fn idle(state: u64) -> u64 {
    at_work(state) + (1 << 2)
}

/// A guard: while it lives, a thread sleeps without a time limit and does nothing by itself.
pub struct Asleep {
    woken: Woken,
    /// Whether the thread counts as inside a host function when it is awake.
    in_host: bool,
    /// It stays on its thread.
    _local: std::marker::PhantomData<*const ()>,
}

enum Woken {
    /// When this activity is woken, or at the end of the guard.
    By(Activity),
    /// At the end of the guard.
    Here(u64),
}

impl std::fmt::Debug for Asleep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asleep").finish_non_exhaustive()
    }
}

impl Asleep {
    /// Marks the calling thread as asleep outside of any run.
    pub fn outside() -> Asleep {
        let kind = kind();
        fell_asleep(kind);
        Asleep::of(Woken::Here(kind))
    }

    fn of(woken: Woken) -> Asleep {
        let in_host = HOST_DEPTH.get() > 0;
        if in_host {
            N_IN_HOST.fetch_sub(1, AcqRel);
        }
        Asleep { woken, in_host, _local: std::marker::PhantomData }
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        if self.in_host {
            N_IN_HOST.fetch_add(1, AcqRel);
        }
        match &self.woken {
            Woken::By(activity) => activity.wake(),
            Woken::Here(kind) => woke(*kind),
        }
    }
}

/// A guard: while it lives, the thread is inside a host function, which may do anything.
pub(crate) struct InHostFunction;

impl InHostFunction {
    pub(crate) fn enter() -> InHostFunction {
        let depth = HOST_DEPTH.get();
        HOST_DEPTH.set(depth + 1);
        if depth == 0 {
            N_IN_HOST.fetch_add(1, AcqRel);
        }
        N_CHANGES.fetch_add(1, AcqRel);
        InHostFunction
    }

    /// The number of calls of host functions that this thread is inside of.
    pub(crate) fn depth() -> usize {
        HOST_DEPTH.get()
    }
}

impl Drop for InHostFunction {
    fn drop(&mut self) {
        let depth = HOST_DEPTH.get() - 1;
        HOST_DEPTH.set(depth);
        if depth == 0 {
            N_IN_HOST.fetch_sub(1, AcqRel);
        }
        N_CHANGES.fetch_add(1, AcqRel);
    }
}

/// A guard for a job that one of the engine's threads gets: made where the job is handed out, dropped at its
/// end.
#[derive(Debug)]
pub struct Job(());

impl Job {
    /// Counts a job.
    pub fn begin() -> Job {
        N_JOBS.fetch_add(1, AcqRel);
        N_CHANGES.fetch_add(1, AcqRel);
        Job(())
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        N_CHANGES.fetch_add(1, AcqRel);
        N_JOBS.fetch_sub(1, AcqRel);
    }
}

/// The threads of the process, as far as the engine knows.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// The number of threads that the engine has started.
    pub engines: usize,
    /// The number of the program's threads that sleep.
    pub asleep: usize,
    /// Whether one of the engine's threads has a job and is awake.
    pub at_work: bool,
    /// A number that changes whenever any thread sleeps, wakes, or begins or ends a job.
    pub changes: u64,
}

impl Threads {
    /// Counts the calling thread as one of the engine's, which runs nothing by itself.
    pub fn engines_began() {
        IS_ENGINES.set(true);
        N_ENGINES.fetch_add(1, AcqRel);
    }

    /// Takes the calling thread, which ends, off the count.
    pub fn engines_ended() {
        N_ENGINES.fetch_sub(1, AcqRel);
    }

    /// Whether the engine started the calling thread.
    pub fn is_engines() -> bool {
        IS_ENGINES.get()
    }

    /// The threads at this moment.
    pub fn now() -> Threads {
        let changes = N_CHANGES.load(Acquire);
        let [asleep, engines_asleep] = [&N_ASLEEP[0], &N_ASLEEP[1]].map(|n| n.load(Acquire));
        Threads {
            engines: N_ENGINES.load(Acquire),
            asleep,
            at_work: engines_asleep < N_JOBS.load(Acquire),
            changes,
        }
    }
}

/// The users of some resources, and the time since which all of them have been idle.
#[derive(Default)]
pub(crate) struct Users {
    users: Vec<Weak<AtomicU64>>,
    /// The sum of the users' counts at the last call of `quiet_for`.
    counted: u64,
    quiet_since: Option<Instant>,
}

impl Users {
    pub(crate) fn join(&mut self) -> Activity {
        if self.users.len() >= 64 && self.users.len().is_power_of_two() {
            self.users.retain(|user| user.strong_count() > 0);
        }
        let activity = Activity::default();
        self.users.push(Arc::downgrade(&activity.0));
        activity
    }

    /// The time for which no user has been at work, and no host function, which may run any session. It is
    /// measured by polling: work between two calls shows in the counts.
    pub(crate) fn quiet_for(&mut self) -> Duration {
        let (mut at_work, mut counted) = (N_IN_HOST.load(Acquire) > 0, 0u64);
        for user in self.users.iter().filter_map(Weak::upgrade) {
            let count = user.load(Acquire) >> 2;
            at_work |= count % 2 == 1;
            counted = counted.wrapping_add(count);
        }
        let now = Instant::now();
        let same = counted == std::mem::replace(&mut self.counted, counted);
        let since = self.quiet_since.filter(|_| same && !at_work).unwrap_or(now);
        self.quiet_since = Some(since);
        now - since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_lasts_until_somebody_does_something() {
        let mut users = Users::default();
        let (a, b) = (users.join(), users.join());
        let pause = || std::thread::sleep(Duration::from_millis(3));
        a.begin();
        assert_eq!(users.quiet_for(), Duration::ZERO);
        pause();
        assert_eq!(users.quiet_for(), Duration::ZERO, "somebody is at work");
        let asleep = a.sleep();
        assert_eq!(users.quiet_for(), Duration::ZERO, "since now");
        pause();
        assert!(users.quiet_for() >= Duration::from_millis(3));
        b.begin();
        b.end();
        assert_eq!(users.quiet_for(), Duration::ZERO, "something happened in between");
        pause();
        assert!(users.quiet_for() >= Duration::from_millis(3));
        drop(asleep);
        assert_eq!(users.quiet_for(), Duration::ZERO);
    }

    /// A thread that was woken is awake, though it has not come to itself yet.
    #[test]
    fn a_sleep_ends_when_it_is_ended() {
        let mut users = Users::default();
        let a = users.join();
        a.begin();
        let asleep = a.sleep();
        users.quiet_for();
        a.wake();
        assert_eq!(a.0.load(Acquire) & ASLEEP, AWAKE);
        assert_eq!(users.quiet_for(), Duration::ZERO, "it is at work");
        let before = a.0.load(Acquire);
        a.wake();
        drop(asleep);
        assert_eq!(a.0.load(Acquire), before, "it wakes once");
        let dozing = a.doze();
        assert_eq!(a.0.load(Acquire) & ASLEEP, PROGRAMS);
        assert_eq!(users.quiet_for(), Duration::ZERO, "its work goes on elsewhere");
        drop(dozing);
        assert_eq!(a.0.load(Acquire), before);
    }
}
