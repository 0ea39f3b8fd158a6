//! The threads of a Python program, for the engine, which ends runs that nothing can wake.
//!
//! Threads that run Python code count: they may fill a queue. Threads that other libraries started do not,
//! nor do those that only wait, without a time limit, for another thread of Python's `threading`: that one
//! counts itself.

use millstream::engine::runtime::count_threads_with;
use millstream::engine::state::{Asleep, Threads};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::Cell;
use std::collections::HashMap;

/// The threads that the engine knows about by itself, by their identifiers in Python. The lock is never held
/// while Python runs.
static KNOWN: Mutex<Option<HashMap<u64, Known>>> = Mutex::new(None);

/// What a thread is in, and how often.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Functions that nodes call, on a thread of the engine's. Such threads count where they have jobs.
    functions: usize,
    /// Waits that the engine counts ([`asleep`]).
    waits: usize,
}

thread_local! {
    /// The thread's identifier in Python; 0 if it was not asked for.
    static IDENT: Cell<u64> = const { Cell::new(0) };
}

/// The identifier of the calling thread in Python.
pub fn ident(py: Python<'_>) -> PyResult<u64> {
    if IDENT.get() == 0 {
        let thread = py.import(pyo3::intern!(py, "_thread"))?;
        IDENT.set(thread.call_method0(pyo3::intern!(py, "get_ident"))?.extract()?);
    }
    Ok(IDENT.get())
}

/// Changes what is known of a thread.
fn change(thread: u64, change: impl FnOnce(&mut Known)) {
    let mut known = KNOWN.lock();
    let known = known.get_or_insert_default();
    let of = known.entry(thread).or_default();
    change(of);
    if of.functions == 0 && of.waits == 0 {
        known.remove(&thread);
    }
}

/// A guard: while it lives, the thread is inside a Python function that a node calls.
pub struct Inside(Option<u64>);

impl Inside {
    /// Registers the thread if it is one of the engine's.
    pub fn enter(py: Python<'_>) -> Inside {
        let thread = if Threads::is_engines() { ident(py).ok() } else { None };
        if let Some(thread) = thread {
            change(thread, |known| known.functions += 1);
        }
        Inside(thread)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if let Some(thread) = self.0 {
            change(thread, |known| known.functions -= 1);
        }
    }
}

/// Lets the engine count the threads of this program as the interpreter does.
pub fn register() {
    count_threads_with(|| Python::try_attach(|py| count(py).ok())?);
}

/// The number of threads that may do something, and of those that the engine knows to be asleep.
fn count(py: Python<'_>) -> PyResult<usize> {
    let sys = py.import("sys")?;
    let frames = frames(py)?;
    // Without the lock of the interpreter, a frame may end while it is looked at.
    let is_locked = sys.getattr("_is_gil_enabled").map_or(Ok(true), |is| is.call0()?.is_truthy())?;
    let waits = if is_locked { Some(Waits::new(py)?) } else { None };
    let mut n = 0;
    for (thread, frame) in frames {
        let thread: u64 = thread.extract()?;
        let known = KNOWN.lock().as_ref().and_then(|all| all.get(&thread).copied()).unwrap_or_default();
        let counts = match known {
            Known { functions: 1.., .. } => false,
            Known { waits: 1.., .. } => true,
            _ => !waits.as_ref().is_some_and(|waits| waits.is_of(&frame).unwrap_or(false)),
        };
        n += usize::from(counts);
    }
    Ok(n)
}

/// The innermost frame of each thread, by the thread's identifier.
///
/// `sys._current_frames` makes objects while it holds the interpreter's lock of its list of threads. If a
/// collection of garbage begins there and frees a `threading.local`, which takes the same lock, the process
/// stands still (CPython 3.11 and before; gh-106883). So garbage waits meanwhile.
fn frames(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let gc = py.import("gc")?;
    let collects = gc.call_method0("isenabled")?.is_truthy()?;
    if collects {
        gc.call_method0("disable")?;
    }
    let frames = py.import("sys")?.call_method0("_current_frames");
    if collects {
        gc.call_method0("enable")?;
    }
    Ok(frames?.cast_into::<PyDict>()?)
}

/// The functions of `threading` in which a thread waits for another thread's end or signal.
struct Waits<'py> {
    /// The code of functions that have an argument `timeout`: of `Thread.join`, and of `Condition.wait`,
    /// which is inside of `Event.wait`, `Semaphore.acquire`, `Queue.get`, `Future.result` and others.
    timed: [Option<Bound<'py, PyAny>>; 2],
    /// The code with which the interpreter waits at its end for the threads that are left.
    at_exit: Option<Bound<'py, PyAny>>,
    /// The code that Python before 3.13 has inside of `Thread.join`.
    inner: Option<Bound<'py, PyAny>>,
}

impl<'py> Waits<'py> {
    fn new(py: Python<'py>) -> PyResult<Waits<'py>> {
        let threading = py.import("threading")?;
        let code = |path: &[&str]| {
            let function = path.iter().try_fold(threading.clone().into_any(), |at, name| at.getattr(*name));
            function.and_then(|function| function.getattr("__code__")).ok()
        };
        Ok(Waits {
            timed: [code(&["Thread", "join"]), code(&["Condition", "wait"])],
            at_exit: code(&["_shutdown"]),
            inner: code(&["Thread", "_wait_for_tstate_lock"]),
        })
    }

    /// Whether a thread whose innermost frame this is does nothing before another thread does.
    fn is_of(&self, frame: &Bound<'py, PyAny>) -> PyResult<bool> {
        let is = |code: &Bound<'py, PyAny>, one: &Option<Bound<'py, PyAny>>| {
            one.as_ref().is_some_and(|one| one.is(code))
        };
        let (mut frame, mut code) = (frame.clone(), frame.getattr("f_code")?);
        if is(&code, &self.inner) {
            frame = frame.getattr("f_back")?;
            code = frame.getattr("f_code")?;
        }
        if self.timed.iter().any(|one| is(&code, one)) {
            return Ok(frame.getattr("f_locals")?.get_item("timeout")?.is_none());
        }
        Ok(is(&code, &self.at_exit))
    }
}

/// Calls a function that waits for other threads, which the calling thread can do nothing for meanwhile.
#[pyfunction]
pub fn asleep<'py>(wait: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    struct Registered(u64);
    impl Drop for Registered {
        fn drop(&mut self) {
            change(self.0, |known| known.waits -= 1);
        }
    }
    let thread = ident(wait.py())?;
    // Registered before it is asleep, and longer: until then it counts as a thread that may do something.
    change(thread, |known| known.waits += 1);
    let _registered = Registered(thread);
    let _asleep = Asleep::outside();
    wait.call0()
}
