//! [`Callable`]: a prepared run.

use super::feeds::Fed;
use super::fetches::{Form, places};
use super::{Session, fill_metadata, op_error};
use crate::array::{of_fed_number, of_feed};
use crate::errors::{building, running};
use crate::leave::detached;
use crate::memory::{Loans, Memory};
use millstream::DType;
use millstream::engine::graph::Port;
use millstream::engine::runtime::{Fetched, Target};
use parking_lot::Mutex;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;

/// A prepared run.
#[pyclass(frozen, module = "millstream._engine")]
pub struct Callable {
    pub(super) session: Py<Session>,
    /// Created by the first call if it could not be created before: missing nodes may still be added,
    /// otherwise the call raises an error.
    pub(super) callable: Mutex<Option<Arc<millstream::Callable>>>,
    pub(super) feeds: Vec<Port>,
    /// For each feed its dtype, if it is a scalar.
    pub(super) scalars: Vec<Option<DType>>,
    pub(super) form: Form,
    pub(super) targets: Vec<Target>,
    /// Whether a call takes `options` and `run_metadata`.
    pub(super) accept_options: bool,
}

#[pymethods]
impl Callable {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.session)?;
        self.form.traverse(&visit)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (options, metadata) = self.keywords(kwargs)?;
        let session = self.session.bind(py).get();
        if session.closed.load(Acquire) {
            return Err(op_error(py, "CancelledError", "Session has been closed."));
        }
        session.check_open()?;
        let graph = session.owner().bind(py);
        // As in TensorFlow, more values than feeds are left out.
        if args.len() < self.feeds.len() {
            let text = format!(
                "Expected to feed {} values but got {}: this callable was made for as many as its `feed_list` has",
                self.feeds.len(),
                args.len()
            );
            return Err(op_error(py, "InvalidArgumentError", &text));
        }
        let mut loans = Loans::default();
        let mut values = Vec::with_capacity(self.feeds.len());
        for (i, (port, value)) in self.feeds.iter().zip(args.iter()).enumerate() {
            if let Some(dtype) = self.scalars[i]
                && let Some(number) = of_fed_number(&value, dtype)
            {
                values.push(number);
                continue;
            }
            let output = graph.get().output(*port);
            let dtype = output.dtype().map_err(building)?;
            values.push(of_feed(&value, || output.name(), dtype, &output.shape(), Memory::Lent(&mut loans))?);
        }
        let placed = session.placement.check(graph.get(), &self.targets, self.feeds.iter().copied());
        placed.map_err(|e| running(py, graph, e))?;
        let run_options = session.run_options(py, options.as_ref())?;
        let known = self.callable.lock().clone();
        let callable = match known {
            Some(callable) => callable,
            None => {
                let made =
                    session.prepare(graph, &self.feeds, &self.targets).map_err(|e| running(py, graph, e))?;
                self.callable.lock().insert(Arc::new(made)).clone()
            }
        };
        let outcome = detached(py, || callable.call_with(values, &run_options));
        let (values, seen) = outcome.map_err(|e| running(py, graph, e))?;
        fill_metadata(graph, metadata.as_ref(), options.as_ref(), seen, &self.targets)?;
        // Operations have no value here; `Form` expects an entry for each.
        let mut values = values.into_iter();
        let places = places(&self.form);
        let mut fetched = places.into_iter().map(|value| match value {
            true => values.next().map_or(Fetched::Ran, Fetched::Value),
            false => Fetched::Ran,
        });
        let filled = self.form.fill(py, &mut fetched, &Fed::new(), self.session.bind(py))?;
        loans.end()?;
        Ok(filled)
    }
}

/// `options` and `run_metadata`.
type Keywords<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

impl Callable {
    fn keywords<'py>(&self, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Keywords<'py>> {
        let Some(kwargs) = kwargs else { return Ok((None, None)) };
        for key in kwargs.keys() {
            let key: String = key.extract()?;
            if !self.accept_options || !["options", "run_metadata"].contains(&key.as_str()) {
                return Err(PyTypeError::new_err(format!(
                    "got an unexpected keyword argument '{key}': a callable takes values, and `options` and `run_metadata` if it was made with `accept_options=True`"
                )));
            }
        }
        Ok((kwargs.get_item("options")?, kwargs.get_item("run_metadata")?))
    }
}
