//! [`apart`]: work that nothing can interrupt, on a thread of its own.
//!
//! Other libraries decompose a large matrix, or transform a long line, in one call of seconds or minutes that
//! asks nobody. The caller waits for such a call here, and leaves it behind when its run is over. The thread
//! ends with the call. Until then, what the call holds stays charged to the run's budget.

use crate::activity::Threads;
use millstream_tensor::pace::look;
use millstream_tensor::{Error, Result, budget};
use parking_lot::Mutex;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How long the caller waits between two looks at its run.
const WAIT: Duration = Duration::from_millis(5);

/// The least number of calls at a time.
const LEAST: usize = 4;

/// The number of calls that are going on in the process.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// One of the calls that may go on at a time: as many as the machine has processors. Those that were left
/// behind count as well, so they cannot pile up.
struct Turn;

impl Turn {
    fn take() -> Option<Turn> {
        let most = thread::available_parallelism().map_or(LEAST, |n| n.get().max(LEAST));
        let taken = CALLS.fetch_update(Relaxed, Relaxed, |calls| (calls < most).then_some(calls + 1));
        // Not `then_some`: a turn that is made and dropped gives back one that was not taken.
        taken.is_ok().then(|| Turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        CALLS.fetch_sub(1, Relaxed);
    }
}

/// Counts the thread as one of the engine's, while it lives.
struct Counted;

impl Counted {
    fn new() -> Counted {
        Threads::engines_began();
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        Threads::engines_ended();
    }
}

/// Calls `work` on a thread of its own and returns its result. An error as soon as the run of this thread is
/// over; `work` then goes on by itself, so it must own what it needs. It is charged to the budget of this
/// thread, and has no deadline. If the system refuses the thread, this one does the work.
pub fn apart<R: Send + 'static>(work: impl FnOnce() -> Result<R> + Send + 'static) -> Result<R> {
    let turn = loop {
        look()?;
        match Turn::take() {
            Some(turn) => break turn,
            None => thread::sleep(WAIT),
        }
    };
    let (send, result) = sync_channel(1);
    let (budget, work) = (budget::current(), Arc::new(Mutex::new(Some(work))));
    let shared = work.clone();
    let begin = move || {
        let _turn = (turn, Counted::new());
        let _within = budget::enter(budget.as_ref());
        let taken = shared.lock().take();
        if let Some(work) = taken {
            // Nobody receives the result of a call that was left behind.
            let _unheard = send.send(work());
        }
    };
    let Ok(thread) = thread::Builder::new().name("millstream-apart".to_owned()).spawn(begin) else {
        let taken = work.lock().take();
        return taken.map_or_else(|| Err(Error::internal("the work was done by nobody")), |work| work());
    };
    loop {
        match result.recv_timeout(WAIT) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => look()?,
            Err(RecvTimeoutError::Disconnected) => {
                return match thread.join() {
                    Ok(()) => Err(Error::internal("the work ended without a result")),
                    Err(panic) => resume_unwind(panic),
                };
            }
        }
    }
}
