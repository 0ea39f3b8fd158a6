//! The threads of a Python program, for the engine, which ends runs that nothing can wake.
//!
//! Threads that run Python code count: they may fill a queue. Threads that other libraries started do not.

use millstream::engine::runtime::count_threads_with;
use millstream::engine::state::{Asleep, Threads};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// The number of the engine's threads that are inside a Python function. The interpreter counts them, too.
static N_INSIDE: AtomicUsize = AtomicUsize::new(0);

/// A guard: while it lives, the thread is inside a Python function that a node calls.
pub struct Inside(bool);

impl Inside {
    /// Counts the thread if it is one of the engine's.
    pub fn enter() -> Inside {
        let counts = Threads::is_engines();
        N_INSIDE.fetch_add(counts.into(), AcqRel);
        Inside(counts)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        N_INSIDE.fetch_sub(self.0.into(), AcqRel);
    }
}

/// Lets the engine count the threads of this program as the interpreter does.
pub fn register() {
    count_threads_with(|| {
        let count =
            |py: Python<'_>| -> PyResult<usize> { py.import("sys")?.call_method0("_current_frames")?.len() };
        let frames = Python::try_attach(|py| count(py).ok())??;
        Some(frames.saturating_sub(N_INSIDE.load(Acquire)))
    });
}

/// Calls a function that waits for other threads, which the calling thread can do nothing for meanwhile.
#[pyfunction]
pub fn asleep<'py>(wait: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let _asleep = Asleep::outside();
    wait.call0()
}
