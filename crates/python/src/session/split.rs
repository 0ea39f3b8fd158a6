//! [`SplitRun`]: a run in two parts for programs that differentiate, such as PyTorch's: `forward` returns
//! values and [`Residuals`], and `Residuals.backward` the gradients for given cotangents, as often as asked.

use super::Session;
use crate::array::{of_feed, to_array};
use crate::errors::{building, running};
use crate::leave::detached;
use crate::memory::{Loans, Memory};
use crate::operation::Operation;
use crate::tensor::Tensor;
use millstream::engine::graph::Port;
use millstream::engine::runtime::{Parts, Residuals as Rest, Split};
use millstream::{RunOptions, Tensor as Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::{PyTraverseError, PyVisit};
use std::sync::Arc;

/// A run in two parts.
#[pyclass(frozen, module = "millstream._engine")]
pub struct SplitRun {
    session: Py<Session>,
    split: Arc<Split>,
    feeds: Vec<Port>,
    late_feeds: Vec<Port>,
}

/// What the second part of a run needs of the first.
#[pyclass(frozen, module = "millstream._engine")]
pub struct Residuals {
    split: Py<SplitRun>,
    rest: Rest,
}

#[pymethods]
impl SplitRun {
    /// `forward` takes values of `feeds` and returns those of `fetches`; `backward` takes values of
    /// `late_feeds` and returns those of `late_fetches`.
    #[new]
    #[pyo3(signature = (session, feeds, fetches, targets, late_feeds, late_fetches))]
    fn new(
        py: Python<'_>,
        session: Py<Session>,
        feeds: Vec<Bound<'_, Tensor>>,
        fetches: Vec<Bound<'_, Tensor>>,
        targets: Vec<Bound<'_, Operation>>,
        late_feeds: Vec<Bound<'_, Tensor>>,
        late_fetches: Vec<Bound<'_, Tensor>>,
    ) -> PyResult<SplitRun> {
        let ports = |list: &[Bound<'_, Tensor>]| list.iter().map(|t| t.get().port()).collect::<Vec<Port>>();
        let parts = Parts {
            feeds: ports(&feeds),
            fetches: ports(&fetches),
            targets: targets.iter().map(|op| op.get().id()).collect(),
            late_feeds: ports(&late_feeds),
            late_fetches: ports(&late_fetches),
        };
        let graph = session.get().owner().bind(py);
        let split = session.get().session.make_split(&parts).map_err(|e| running(py, graph, e))?;
        Ok(SplitRun { session, split, feeds: parts.feeds, late_feeds: parts.late_feeds })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.session)
    }

    /// Runs the first part. Returns a list of arrays, and the residuals.
    fn forward<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
        values: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyList>, Residuals)> {
        let this = slf.get();
        let mut loans = Loans::default();
        let (given, options) = this.given(py, &this.feeds, &values, &mut loans)?;
        let outcome = detached(py, || this.split.forward(given, &options));
        let (values, rest) = outcome.map_err(|e| this.error(py, e))?;
        let arrays = arrays(py, values)?;
        loans.end()?;
        Ok((arrays, Residuals { split: slf.clone().unbind(), rest }))
    }
}

#[pymethods]
impl Residuals {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.split)
    }

    /// Runs the second part. Returns a list of arrays.
    fn backward<'py>(&self, py: Python<'py>, values: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
        let split = self.split.get();
        let mut loans = Loans::default();
        let (given, options) = split.given(py, &split.late_feeds, &values, &mut loans)?;
        let outcome = detached(py, || self.rest.backward(given, &options));
        let arrays = arrays(py, outcome.map_err(|e| split.error(py, e))?)?;
        loans.end()?;
        Ok(arrays)
    }

    /// The bytes of the values that are held.
    #[getter]
    fn nbytes(&self) -> usize {
        self.rest.bytes()
    }
}

impl SplitRun {
    /// Values converted to the tensors of the feeds, and the options of a run.
    fn given(
        &self,
        py: Python<'_>,
        feeds: &[Port],
        values: &[Bound<'_, PyAny>],
        loans: &mut Loans,
    ) -> PyResult<(Vec<Value>, RunOptions)> {
        let session = self.session.bind(py).get();
        session.check_open()?;
        if values.len() != feeds.len() {
            let text = format!("this part takes {} values but was called with {}", feeds.len(), values.len());
            return Err(PyValueError::new_err(text));
        }
        let graph = session.owner().bind(py).get();
        let mut given = Vec::with_capacity(values.len());
        for (&port, value) in feeds.iter().zip(values) {
            let output = graph.output(port);
            let dtype = output.dtype().map_err(building)?;
            given.push(of_feed(value, || output.name(), dtype, &output.shape(), Memory::Lent(loans))?);
        }
        Ok((given, session.run_options(py, None)?))
    }

    fn error(&self, py: Python<'_>, error: millstream::Error) -> PyErr {
        running(py, self.session.bind(py).get().owner().bind(py), error)
    }
}

fn arrays<'py>(py: Python<'py>, values: Vec<Value>) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, values.into_iter().map(|value| to_array(py, value)).collect::<PyResult<Vec<_>>>()?)
}
