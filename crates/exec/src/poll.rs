//! [`Poll`]: a question that a front end has while a run goes on, such as whether the user has pressed
//! Ctrl-C.

use millstream_state::Loans;
use millstream_tensor::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// A question that the thread which called the run asks again and again. An error ends the run. Clones share
/// the question, and so may many runs.
#[derive(Clone)]
pub struct Poll(Arc<Shared>);

struct Shared {
    ask: Box<dyn Fn() -> Result<()> + Send + Sync>,
    thread: ThreadId,
    start: Instant,
    /// The time of the next question, in milliseconds from the start.
    next: AtomicU64,
}

impl Poll {
    /// The time between questions: the shortest, and where a run waits the longest.
    pub const EVERY: Duration = Duration::from_millis(50);

    /// A poll that calls `ask` from this thread only.
    pub fn new(ask: impl Fn() -> Result<()> + Send + Sync + 'static) -> Poll {
        let thread = std::thread::current().id();
        Poll(Arc::new(Shared { ask: Box::new(ask), thread, start: Instant::now(), next: AtomicU64::new(0) }))
    }

    /// Whether the current thread is the one that asks.
    pub fn is_here(&self) -> bool {
        std::thread::current().id() == self.0.thread
    }

    /// Asks, if it is time and this is the thread that does. An answer that ends the run calls it off,
    /// whatever the code of the error: what the run took returns.
    pub(crate) fn ask(&self, loans: &Loans) -> Result<()> {
        if !self.is_here() {
            return Ok(());
        }
        let now = self.0.start.elapsed().as_millis() as u64;
        if now < self.0.next.load(Relaxed) {
            return Ok(());
        }
        self.0.next.store(now + Self::EVERY.as_millis() as u64, Relaxed);
        (self.0.ask)().inspect_err(|_| loans.call_off())
    }
}

impl std::fmt::Debug for Poll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Poll")
    }
}
