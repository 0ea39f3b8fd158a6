//! The job of several processes that this one belongs to, for `millstream.horovod`. Its transport is a Python
//! object, which a thread of the engine calls with views of the engine's memory.

use crate::errors::{building, carried};
use crate::leave::detached;
use crate::memory::{view, view_mut};
use crate::threads::Inside;
use millstream::engine::state::collective::{
    Alone, Call, Caller, Collective, Ranks, RanksOptions, Transport,
};
use millstream::{Code, Error, Result};
use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use std::time::Duration;

/// The job; `None` before it is joined and after it is left. Not held while anything is called.
static JOB: Mutex<Option<Arc<dyn Collective>>> = Mutex::new(None);

/// The job, if its transport was started here.
static RANKS: Mutex<Option<Arc<Ranks>>> = Mutex::new(None);

/// The collective of all sessions: the job that the process belongs to at the time of each call.
#[derive(Debug)]
pub struct OfProcess;

impl OfProcess {
    fn now() -> Arc<dyn Collective> {
        JOB.lock().clone().unwrap_or_else(|| Arc::new(Alone))
    }
}

impl Collective for OfProcess {
    fn rank(&self) -> usize {
        Self::now().rank()
    }

    fn size(&self) -> usize {
        Self::now().size()
    }

    fn start(&self, call: Call, caller: Caller) {
        Self::now().start(call, caller);
    }

    fn refuse(&self, who: &str, error: &Error) {
        Self::now().refuse(who, error);
    }
}

/// Makes this process a rank of the job that the transport connects. `options`: the bytes of reductions that
/// are fused, the microseconds in which they are gathered, and the milliseconds after which a wait for other
/// ranks is an error.
#[pyfunction]
pub fn join_job(py: Python<'_>, transport: &Bound<'_, PyAny>, options: (usize, u64, u64)) -> PyResult<()> {
    if JOB.lock().is_some() {
        return Err(PyRuntimeError::new_err("this process already belongs to a job"));
    }
    let job = PyTransport {
        rank: transport.getattr("rank")?.extract()?,
        size: transport.getattr("size")?.extract()?,
        object: transport.clone().unbind(),
    };
    if job.size == 1 {
        *JOB.lock() = Some(Arc::new(Alone));
        return Ok(());
    }
    let options = RanksOptions {
        fuse_bytes: options.0,
        cycle: Duration::from_micros(options.1),
        stall: Duration::from_millis(options.2),
    };
    let ranks = detached(py, || Ranks::start(job, options)).map_err(building)?;
    let ranks = Arc::new(ranks);
    *RANKS.lock() = Some(ranks.clone());
    *JOB.lock() = Some(ranks);
    Ok(())
}

/// Leaves the job, and returns once the other ranks know the reason.
#[pyfunction]
pub fn leave_job(py: Python<'_>, why: &str) {
    let ranks = RANKS.lock().take();
    if let Some(ranks) = ranks {
        detached(py, || ranks.shutdown(why));
    }
    let job = JOB.lock().take();
    drop(job);
}

/// A transport that is a Python object.
struct PyTransport {
    rank: usize,
    size: usize,
    object: Py<PyAny>,
}

impl PyTransport {
    fn with<R>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> Result<R> {
        let result = Python::try_attach(|py| {
            let _inside = Inside::enter(py);
            call(self.object.bind(py)).map_err(carried)
        });
        result.unwrap_or_else(|| Err(Error::new(Code::Cancelled, "the interpreter is ending")))
    }
}

impl Transport for PyTransport {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<()> {
        self.with(|object| {
            object.call_method1("send", (to, PyBytes::new(object.py(), &message)))?;
            Ok(())
        })
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        self.with(|object| object.call_method0("receive")?.extract())
    }

    fn all_gather(&mut self, data: &mut [u8], counts: &[usize]) -> Result<()> {
        self.with(|object| {
            view_mut(object.py(), data, |data| {
                object.call_method1("all_gather", (data, counts.to_vec())).map(drop)
            })
        })
    }

    fn all_to_all(&mut self, from: &[u8], sent: &[usize], to: &mut [u8], taken: &[usize]) -> Result<()> {
        self.with(|object| {
            view(object.py(), from, |from| {
                view_mut(object.py(), to, |to| {
                    object.call_method1("all_to_all", (from, sent.to_vec(), to, taken.to_vec())).map(drop)
                })
            })
        })
    }

    fn broadcast(&mut self, data: &mut [u8], root: usize) -> Result<()> {
        self.with(|object| {
            view_mut(object.py(), data, |data| object.call_method1("broadcast", (data, root)).map(drop))
        })
    }

    fn finish(&mut self) -> Result<()> {
        self.with(|object| object.call_method0("finish").map(drop))
    }
}
