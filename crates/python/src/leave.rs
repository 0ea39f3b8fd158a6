//! Releasing and reacquiring the interpreter's lock (GIL), including during the interpreter's shutdown.
//!
//! A thread that requests the lock of an interpreter that is shutting down never gets it: before Python 3.14
//! the thread is ended by unwinding, which Rust frames do not permit: the process would abort. Therefore
//! threads that return from a run during shutdown block ([`detached`]), and the shutdown waits for those that
//! are about to get the lock ([`ending`]).

use parking_lot::Mutex;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{ThreadId, current, sleep};
use std::time::{Duration, Instant};

/// Whether the interpreter is shutting down.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Number of threads that may reacquire the lock and do not have it yet.
static COMING: AtomicUsize = AtomicUsize::new(0);

/// The thread that shuts the interpreter down; it may still run sessions.
static ENDED_BY: Mutex<Option<ThreadId>> = Mutex::new(None);

/// Maximum time that shutdown waits for these threads, far longer than they need.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs `work` without the interpreter's lock.
pub fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    let result = py.detach(|| {
        let result = work();
        come_back();
        result
    });
    COMING.fetch_sub(1, SeqCst);
    result
}

/// Returns if the lock may be requested; otherwise blocks forever.
fn come_back() {
    COMING.fetch_add(1, SeqCst);
    if !ENDING.load(SeqCst) || *ENDED_BY.lock() == Some(current().id()) {
        return;
    }
    COMING.fetch_sub(1, SeqCst);
    loop {
        sleep(Duration::from_secs(3600));
    }
}

/// Called in the child after a fork, where the other threads do not exist.
pub fn alone() {
    COMING.store(0, SeqCst);
}

/// Called when the interpreter is about to shut down.
#[pyfunction]
pub fn ending(py: Python<'_>) {
    *ENDED_BY.lock() = Some(current().id());
    ENDING.store(true, SeqCst);
    let until = Instant::now() + PATIENCE;
    while 0 < COMING.load(SeqCst) && Instant::now() < until {
        py.detach(|| sleep(Duration::from_millis(1)));
    }
}
