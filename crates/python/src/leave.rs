//! Leaving the interpreter's lock for the engine, and coming back to it, also when the interpreter ends meanwhile.
//!
//! A thread that asks for the lock of an interpreter that is ending does not get it: before Python 3.14 the thread is ended there and then, by
//! unwinding, and Rust's frames do not let that pass: the process would abort. So threads that come back from a run while the interpreter
//! ends stay where they are ([`detached`]), and the interpreter waits for those that are just about to have the lock again ([`ending`]).

use parking_lot::Mutex;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{ThreadId, current, sleep};
use std::time::{Duration, Instant};

/// Whether the interpreter is about to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// How many threads have been let back and do not have the lock yet.
static COMING: AtomicUsize = AtomicUsize::new(0);

/// The thread that ends it: it may go on running sessions.
static ENDED_BY: Mutex<Option<ThreadId>> = Mutex::new(None);

/// How long the end waits for threads that wait for the lock: far longer than they need.
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

/// Returns if the lock can be asked for; otherwise never.
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

/// In a child of a fork: the other threads are not here.
pub fn alone() {
    COMING.store(0, SeqCst);
}

/// To be called when the interpreter is about to end.
#[pyfunction]
pub fn ending(py: Python<'_>) {
    *ENDED_BY.lock() = Some(current().id());
    ENDING.store(true, SeqCst);
    let until = Instant::now() + PATIENCE;
    while 0 < COMING.load(SeqCst) && Instant::now() < until {
        py.detach(|| sleep(Duration::from_millis(1)));
    }
}
