//! [`Progress`]: how far the loops of a run are, shown now and then by the thread that called the run.

use crate::machine::Machine;
use crate::plan::Plan;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// How far a loop is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopCount {
    /// The frame's name.
    pub name: String,
    /// The number of loops around it.
    pub depth: usize,
    /// The number of iterations that are over.
    pub iterations: u64,
}

/// Shows how far a run is. The machine writes its counts down only when it has been asked to since the last
/// time, so a run that is not shown for a while does nothing for it. Clones share everything.
#[derive(Clone)]
pub struct Progress(Arc<Shared>);

/// Shows counts, outer loops first.
type Show = Box<dyn Fn(&[LoopCount]) + Send + Sync>;

struct Shared {
    show: Show,
    thread: ThreadId,
    start: Instant,
    every: Duration,
    /// The time to show next, in microseconds from the start.
    next: AtomicU64,
    /// Whether the machine is to write its counts down.
    wanted: AtomicBool,
    /// The time at which it was asked to; 0 if it was not.
    asked: AtomicU64,
    /// Whether it has since.
    fresh: AtomicBool,
    /// The number of turns between looks at the clock.
    turns: AtomicU64,
    /// The number of turns until the next look.
    turns_left: AtomicU64,
    /// The time of the last look.
    looked: AtomicU64,
    counts: Mutex<Vec<LoopCount>>,
}

/// The most turns without a look at the clock, as long as they take at most [`SHORT_US`] microseconds
/// together.
const MOST_TURNS: u64 = 31;
const SHORT_US: u64 = 2_000;

/// The longest wait for counts.
const PATIENCE: Duration = Duration::from_millis(100);

/// The most loops that are shown at a time.
const MOST: usize = 8;

impl Progress {
    /// Shows how far a run is that begins now: after `first`, then about every `every`. `show` is called by
    /// this thread only.
    pub fn new(
        first: Duration,
        every: Duration,
        show: impl Fn(&[LoopCount]) + Send + Sync + 'static,
    ) -> Progress {
        Progress(Arc::new(Shared {
            show: Box::new(show),
            thread: std::thread::current().id(),
            start: Instant::now(),
            every,
            next: AtomicU64::new(micros(first)),
            wanted: AtomicBool::new(false),
            asked: AtomicU64::new(0),
            fresh: AtomicBool::new(false),
            turns: AtomicU64::new(0),
            turns_left: AtomicU64::new(0),
            looked: AtomicU64::new(0),
            counts: Mutex::default(),
        }))
    }

    /// Called by the thread that drives the machine, between turns.
    pub(crate) fn look(&self, machine: &Machine, plan: &Plan) {
        if self.0.wanted.load(Relaxed) && self.0.wanted.swap(false, AcqRel) {
            *self.0.counts.lock() = machine.counts(plan, MOST);
            self.0.fresh.store(true, Release);
        }
        // A look at the clock takes a hundredth of a turn of short kernels, so not every short turn looks.
        let left = self.0.turns_left.load(Relaxed);
        if left != 0 {
            return self.0.turns_left.store(left - 1, Relaxed);
        }
        let now = micros(self.0.start.elapsed());
        let took = now.saturating_sub(self.0.looked.swap(now, Relaxed));
        let turns = self.0.turns.load(Relaxed);
        let turns = if took < SHORT_US { (turns * 2 + 1).min(MOST_TURNS) } else { 0 };
        self.0.turns.store(turns, Relaxed);
        self.0.turns_left.store(turns, Relaxed);
        self.tick();
    }

    /// Asks for counts if it is time and this is the thread that shows them, and shows them once they are
    /// there. Shows the earlier ones if the machine is not driven for a while.
    pub(crate) fn tick(&self) {
        let it = &self.0;
        if std::thread::current().id() != it.thread {
            return;
        }
        let now = micros(it.start.elapsed());
        if now < it.next.load(Relaxed) {
            return;
        }
        if !it.fresh.load(Acquire) {
            match it.asked.load(Relaxed) {
                0 => {
                    it.asked.store(now.max(1), Relaxed);
                    return it.wanted.store(true, Release);
                }
                asked if now < asked + micros(PATIENCE) => return,
                _ => {}
            }
        }
        let counts = it.counts.lock().clone();
        (it.show)(&counts);
        it.fresh.store(false, Relaxed);
        it.asked.store(0, Relaxed);
        it.next.store(micros(it.start.elapsed().saturating_add(it.every)), Relaxed);
    }

    /// The longest time between ticks while the thread waits.
    pub(crate) const EVERY: Duration = Duration::from_millis(50);
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}
