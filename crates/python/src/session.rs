//! `Session`: fetches of any structure and feeds to lists, one call of the engine without the interpreter's lock, and back.

use crate::array::{of_feed, to_python};
use crate::errors::{building, carried, running};
use crate::graph::{Graph, node_of};
use crate::stack;
use crate::tensor::{Operation, Tensor};
use crate::views::{Report, Showing};
use millstream::graph::Port;
use millstream::runtime::{FeedList, FetchList, Fetched, PartialRun as EnginePartialRun, Poll, Target};
use millstream::{RunOptions, SessionOptions};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::Duration;

/// Runs a graph; the package's `Session` is a class of this one.
#[pyclass(subclass, weakref, dict, frozen, module = "millstream._engine")]
pub struct Session {
    graph: Py<Graph>,
    session: Arc<millstream::Session>,
    closed: AtomicBool,
    showing: Arc<Showing>,
}

/// A run made ready.
#[pyclass(frozen, module = "millstream._engine")]
pub struct Callable {
    graph: Py<Graph>,
    callable: millstream::Callable,
    feeds: Vec<Port>,
    form: Form,
    showing: Arc<Showing>,
}

/// A run in several parts.
#[pyclass(frozen, module = "millstream._engine")]
pub struct PartialRun(EnginePartialRun);

/// How the values of fetches are put together.
enum Form {
    /// The next value.
    Value,
    /// An operation: None.
    Nothing,
    List(Vec<Form>),
    Tuple(Vec<Form>),
    /// A class that takes its parts one by one, as named tuples do.
    Named(Py<PyType>, Vec<Form>),
    Dict(Py<PyType>, Vec<(Py<PyAny>, Form)>),
    /// What the package knows how to put together: a function of the list of values.
    Packed(Py<PyAny>, Vec<Form>),
}

thread_local! {
    /// What a run on this thread asks now and then: whether Ctrl-C was pressed. Signals are the main thread's business.
    static SIGNALS: OnceCell<Option<Poll>> = const { OnceCell::new() };
}

fn signals(py: Python<'_>) -> Option<Poll> {
    SIGNALS.with(|cell| cell.get_or_init(|| is_main_thread(py).unwrap_or(false).then(poll_signals)).clone())
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    Ok(threading.call_method0("current_thread")?.is(&threading.call_method0("main_thread")?))
}

fn poll_signals() -> Poll {
    Poll::new(|| match Python::try_attach(|py| py.check_signals()) {
        Some(result) => result.map_err(carried),
        // The interpreter is going away.
        None => Ok(()),
    })
}

impl Form {
    /// The form of a fetch; what is to be run is appended to `targets`.
    fn of(graph: &Bound<'_, Graph>, fetch: &Bound<'_, PyAny>, targets: &mut Vec<Target>) -> PyResult<Form> {
        let py = fetch.py();
        if let Ok(tensor) = fetch.cast::<Tensor>() {
            own(graph, tensor.get().graph(py), fetch)?;
            targets.push(Target::Value(tensor.get().port()));
            return Ok(Form::Value);
        }
        if let Ok(op) = fetch.cast::<Operation>() {
            own(graph, op.get().graph(py), fetch)?;
            targets.push(Target::Operation(op.get().id()));
            return Ok(Form::Nothing);
        }
        let mut parts = |items: &Bound<'_, PyAny>| -> PyResult<Vec<Form>> {
            items.try_iter()?.map(|item| Form::of(graph, &item?, targets)).collect()
        };
        if fetch.is_instance_of::<PyList>() {
            return Ok(Form::List(parts(fetch)?));
        }
        if fetch.is_instance_of::<PyTuple>() {
            return match fetch.hasattr("_fields")? {
                true => Ok(Form::Named(fetch.get_type().unbind(), parts(fetch)?)),
                false => Ok(Form::Tuple(parts(fetch)?)),
            };
        }
        if let Ok(name) = fetch.cast::<PyString>() {
            return Form::of_name(graph, &name.to_cow()?, fetch, targets);
        }
        if fetch.is_none() {
            let kind = fetch.get_type();
            return Err(PyTypeError::new_err(format!("Fetch argument None has invalid type {kind}")));
        }
        if fetch.is_instance_of::<PyDict>()
            || fetch.is_instance(&py.import("collections.abc")?.getattr("Mapping")?)?
        {
            let items = fetch.call_method0("items")?.try_iter()?;
            let pairs = items.map(|item| {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
                Ok((key.unbind(), Form::of(graph, &value, targets)?))
            });
            return Ok(Form::Dict(fetch.get_type().unbind(), pairs.collect::<PyResult<_>>()?));
        }
        let (list, pack): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            stack::hooks(py)?.expand.bind(py).call1((fetch,))?.extract()?;
        Ok(Form::Packed(pack.unbind(), parts(&list)?))
    }

    fn of_name(
        graph: &Bound<'_, Graph>,
        name: &str,
        fetch: &Bound<'_, PyAny>,
        targets: &mut Vec<Target>,
    ) -> PyResult<Form> {
        let share = graph.get();
        let unknown = |why: String| {
            PyValueError::new_err(format!(
                "Fetch argument {} cannot be interpreted as a Tensor. ({why})",
                fetch.repr().map_or_else(|_| name.into(), |r| r.to_string())
            ))
        };
        if name.contains(':') {
            let output = share.inner().output(name).map_err(|_| {
                unknown(format!("The name '{name}' refers to a Tensor which does not exist."))
            })?;
            targets.push(Target::Value(output.port()));
            return Ok(Form::Value);
        }
        let id = share
            .find(name)
            .ok_or_else(|| unknown(format!("The name '{name}' refers to an Operation not in the graph.")))?;
        targets.push(Target::Operation(id));
        Ok(Form::Nothing)
    }

    /// The values in this form.
    fn fill<'py>(
        &self,
        py: Python<'py>,
        values: &mut impl Iterator<Item = Fetched>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Form::Value => match values.next() {
                Some(Fetched::Value(value)) => to_python(py, value)?,
                _ => return Err(PyRuntimeError::new_err("a value is missing")),
            },
            Form::Nothing => {
                values.next();
                py.None().into_bound(py)
            }
            Form::List(parts) => PyList::new(py, fill_all(parts, py, values)?)?.into_any(),
            Form::Tuple(parts) => PyTuple::new(py, fill_all(parts, py, values)?)?.into_any(),
            Form::Named(class, parts) => {
                class.bind(py).call1(PyTuple::new(py, fill_all(parts, py, values)?)?)?
            }
            Form::Dict(class, parts) => {
                let pairs = parts.iter().map(|(k, p)| Ok((k.clone_ref(py), p.fill(py, values)?)));
                let pairs = pairs.collect::<PyResult<Vec<_>>>()?;
                match class.bind(py).is(py.get_type::<PyDict>()) {
                    true => {
                        let dict = PyDict::new(py);
                        for (k, v) in pairs {
                            dict.set_item(k, v)?;
                        }
                        dict.into_any()
                    }
                    false => {
                        // As TensorFlow: an empty one of the class, filled in.
                        let map = class.bind(py).call0()?;
                        for (k, v) in pairs {
                            map.set_item(k, v)?;
                        }
                        map
                    }
                }
            }
            Form::Packed(pack, parts) => {
                pack.bind(py).call1((PyList::new(py, fill_all(parts, py, values)?)?,))?
            }
        })
    }
}

fn fill_all<'py>(
    parts: &[Form],
    py: Python<'py>,
    values: &mut impl Iterator<Item = Fetched>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    parts.iter().map(|p| p.fill(py, values)).collect()
}

fn own(graph: &Bound<'_, Graph>, of: &Bound<'_, Graph>, fetch: &Bound<'_, PyAny>) -> PyResult<()> {
    match graph.is(of) {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "Fetch argument {} cannot be interpreted as a Tensor. (Tensor {} is not an element of this graph.)",
            fetch.repr()?,
            fetch.str()?
        ))),
    }
}

/// What is fed: pairs of a port and a tensor.
fn feeds_of(
    graph: &Bound<'_, Graph>,
    feeds: Option<&Bound<'_, PyAny>>,
    add: &mut impl FnMut(Port, millstream::Tensor),
) -> PyResult<()> {
    let Some(feeds) = feeds.filter(|f| !f.is_none()) else { return Ok(()) };
    if let Ok(dict) = feeds.cast::<PyDict>() {
        for (key, value) in dict.iter() {
            feed(graph, &key, &value, add)?;
        }
        return Ok(());
    }
    if !feeds.hasattr("items")? {
        return Err(PyTypeError::new_err("feed_dict must be a dictionary"));
    }
    for pair in feeds.call_method0("items")?.try_iter()? {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
        feed(graph, &key, &value, add)?;
    }
    Ok(())
}

fn feed(
    graph: &Bound<'_, Graph>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    add: &mut impl FnMut(Port, millstream::Tensor),
) -> PyResult<()> {
    let py = key.py();
    let share = graph.get();
    let port = match key.cast::<Tensor>() {
        Ok(tensor) => {
            if !tensor.get().graph(py).is(graph) {
                return Err(not_feedable(
                    key,
                    &format!("Tensor {} is not an element of this graph.", key.str()?),
                ));
            }
            tensor.get().port()
        }
        Err(_) => match key.cast::<PyString>() {
            Ok(name) => {
                let name = &*name.to_cow()?;
                let output = if name.contains(':') { share.inner().output(name).ok() } else { None };
                output.map(|o| o.port()).ok_or_else(|| {
                    not_feedable(key, &format!("The name '{name}' refers to a Tensor which does not exist."))
                })?
            }
            Err(_) => {
                // A SparseTensor, say: its parts are fed.
                let (list, _): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                    stack::hooks(py)?.expand.bind(py).call1((key, value))?.extract()?;
                for pair in list.try_iter()? {
                    let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
                    feed(graph, &key, &value, add)?;
                }
                return Ok(());
            }
        },
    };
    if let Ok(tensor) = value.cast::<Tensor>() {
        return Err(PyTypeError::new_err(format!(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {} which was passed to the feed with key {}.",
            tensor.str()?,
            key.str()?
        )));
    }
    let output = share.output(port);
    let dtype = output.dtype().map_err(building)?;
    add(port, of_feed(value, &output.name(), dtype, &output.shape())?);
    Ok(())
}

fn not_feedable(key: &Bound<'_, PyAny>, why: &str) -> PyErr {
    let shown = key.str().map_or_else(|_| "feed".into(), |s| s.to_string());
    PyTypeError::new_err(format!("Cannot interpret feed_dict key as Tensor: {why} ({shown})"))
}

/// Feeds of a list, by name or tensor.
fn ports_of(graph: &Bound<'_, Graph>, feeds: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Port>> {
    let Some(feeds) = feeds.filter(|f| !f.is_none()) else { return Ok(Vec::new()) };
    let mut ports = Vec::new();
    for item in feeds.try_iter()? {
        let item = item?;
        if let Ok(name) = item.cast::<PyString>() {
            let output = graph.get().inner().output(&name.to_cow()?);
            ports.push(output.map_err(|_| not_feedable(&item, "no such tensor"))?.port());
        } else {
            node_of(graph, &item)?;
            ports.push(item.cast::<Tensor>()?.get().port());
        }
    }
    Ok(ports)
}

#[pymethods]
impl Session {
    /// A session over a graph.
    #[new]
    #[pyo3(signature = (graph, threads = None, one_thread_per_kernel = false, timeout_ms = None, container = String::new()))]
    fn new(
        graph: &Bound<'_, Graph>,
        threads: Option<usize>,
        one_thread_per_kernel: bool,
        timeout_ms: Option<u64>,
        container: String,
    ) -> PyResult<Session> {
        let options = SessionOptions {
            threads,
            one_thread_per_kernel,
            timeout: timeout_ms.map(Duration::from_millis),
            container,
            ..SessionOptions::default()
        };
        let session = millstream::Session::with_options(graph.get().inner(), options).map_err(building)?;
        Ok(Session {
            graph: graph.clone().unbind(),
            session: Arc::new(session),
            closed: AtomicBool::new(false),
            showing: Arc::default(),
        })
    }

    /// The graph.
    #[getter(graph)]
    fn graph_(&self, py: Python<'_>) -> Py<Graph> {
        self.graph.clone_ref(py)
    }

    #[getter]
    fn _closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// Ends the session: what runs in it is cancelled.
    fn close(&self, py: Python<'_>) {
        self.closed.store(true, Release);
        py.detach(|| self.session.close());
    }

    /// The values of `fetches`, in their structure.
    #[pyo3(signature = (fetches, feed_dict = None, options = None, run_metadata = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        fetches: &Bound<'py, PyAny>,
        feed_dict: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyAny>>,
        run_metadata: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.check_open()?;
        let graph = self.graph.bind(py);
        if graph.get().inner().is_empty() {
            return Err(PyRuntimeError::new_err(
                "The Session graph is empty.  Add operations to the graph before calling run().",
            ));
        }
        let mut targets = Vec::new();
        let form = Form::of(graph, fetches, &mut targets)?;
        let mut feeds = FeedList::new();
        feeds_of(graph, feed_dict, &mut |port, value| {
            feeds = std::mem::take(&mut feeds).and(graph.get().output(port), value);
        })?;
        let mut run_options =
            RunOptions { poll: signals(py), progress: self.showing.here(py), ..RunOptions::default() };
        if let Some(options) = options.filter(|o| !o.is_none()) {
            let ms: i64 = options.getattr("timeout_in_ms")?.extract()?;
            run_options.timeout = u64::try_from(ms).ok().filter(|ms| 0 < *ms).map(Duration::from_millis);
            run_options.trace = 0 < options.getattr("trace_level")?.extract::<i64>()?;
        }
        let session = &self.session;
        let list = FetchList(targets);
        let result = py.detach(|| session.run_with::<Vec<Fetched>>(list, feeds, &run_options));
        let (values, metadata) = result.map_err(|e| running(py, graph, e))?;
        if let (Some(into), Some(trace)) = (run_metadata.filter(|m| !m.is_none()), metadata.trace) {
            let message = millstream::summary::run_metadata_message(&trace);
            let bytes = millstream::interop::proto::encode(&message);
            into.call_method1("MergeFromString", (pyo3::types::PyBytes::new(py, &bytes),))?;
        }
        form.fill(py, &mut values.into_iter())
    }

    /// A function of the values of `feed_list` that gives the values of `fetches`.
    #[pyo3(signature = (fetches, feed_list = None, accept_options = false))]
    fn make_callable<'py>(
        &self,
        py: Python<'py>,
        fetches: &Bound<'py, PyAny>,
        feed_list: Option<&Bound<'py, PyAny>>,
        accept_options: bool,
    ) -> PyResult<Callable> {
        self.check_open()?;
        let _ = accept_options;
        let graph = self.graph.bind(py);
        let mut targets = Vec::new();
        let form = Form::of(graph, fetches, &mut targets)?;
        let feeds = ports_of(graph, feed_list)?;
        let outputs = feeds.iter().map(|&p| graph.get().output(p));
        let callable =
            self.session.make_callable(FetchList(targets), outputs).map_err(|e| running(py, graph, e))?;
        let showing = self.showing.clone();
        Ok(Callable { graph: self.graph.clone_ref(py), callable, feeds, form, showing })
    }

    /// What a run of `fetches` would do, or what the session holds.
    #[pyo3(signature = (fetches = None, feeds = None))]
    fn _explain<'py>(
        &self,
        py: Python<'py>,
        fetches: Option<&Bound<'py, PyAny>>,
        feeds: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Report> {
        self.check_open()?;
        let Some(fetches) = fetches else { return Ok(Report::of_holdings(&self.session.holdings())) };
        let graph = self.graph.bind(py);
        let mut targets = Vec::new();
        Form::of(graph, fetches, &mut targets)?;
        let ports = ports_of(graph, feeds)?;
        let outputs = ports.iter().map(|&p| graph.get().output(p));
        let explanation = self.session.explain(FetchList(targets), outputs);
        Ok(Report::of_run(&explanation.map_err(|e| running(py, graph, e))?))
    }

    /// Runs of this thread call `show(text, over)` if they take long.
    fn _show_progress(&self, show: Py<PyAny>) {
        self.showing.begin(show);
    }

    /// They no longer do.
    fn _hide_progress(&self) {
        self.showing.end();
    }

    /// Begins a run in several parts.
    #[pyo3(signature = (fetches, feeds = None))]
    fn partial_run_setup<'py>(
        &self,
        py: Python<'py>,
        fetches: &Bound<'py, PyAny>,
        feeds: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PartialRun> {
        self.check_open()?;
        let graph = self.graph.bind(py);
        let mut targets = Vec::new();
        Form::of(graph, fetches, &mut targets)?;
        let ports = ports_of(graph, feeds)?;
        let outputs = ports.iter().map(|&p| graph.get().output(p));
        let run = self.session.partial_run_setup(FetchList(targets), outputs);
        Ok(PartialRun(run.map_err(|e| running(py, graph, e))?))
    }

    /// Goes on with a run in several parts.
    #[pyo3(signature = (handle, fetches, feed_dict = None))]
    fn partial_run<'py>(
        &self,
        py: Python<'py>,
        handle: &Bound<'py, PartialRun>,
        fetches: &Bound<'py, PyAny>,
        feed_dict: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.check_open()?;
        let graph = self.graph.bind(py);
        let mut targets = Vec::new();
        let form = Form::of(graph, fetches, &mut targets)?;
        let mut feeds = FeedList::new();
        feeds_of(graph, feed_dict, &mut |port, value| {
            feeds = std::mem::take(&mut feeds).and(graph.get().output(port), value);
        })?;
        let (session, run, list) = (&self.session, &handle.get().0, FetchList(targets));
        let values = py.detach(|| session.partial_run::<Vec<Fetched>>(run, list, feeds));
        form.fill(py, &mut values.map_err(|e| running(py, graph, e))?.into_iter())
    }
}

impl Session {
    fn check_open(&self) -> PyResult<()> {
        match self.closed.load(Acquire) {
            true => Err(PyRuntimeError::new_err("Attempted to use a closed Session.")),
            false => Ok(()),
        }
    }
}

#[pymethods]
impl Callable {
    #[pyo3(signature = (*args, options = None, run_metadata = None))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        options: Option<&Bound<'py, PyAny>>,
        run_metadata: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (options, run_metadata);
        if args.len() != self.feeds.len() {
            return Err(PyValueError::new_err(format!(
                "Cannot feed {} values to a callable that takes {}",
                args.len(),
                self.feeds.len()
            )));
        }
        let graph = self.graph.bind(py);
        let mut values = Vec::with_capacity(args.len());
        for (port, value) in self.feeds.iter().zip(args.iter()) {
            let output = graph.get().output(*port);
            let dtype = output.dtype().map_err(building)?;
            values.push(of_feed(&value, &output.name(), dtype, &output.shape())?);
        }
        let run_options =
            RunOptions { poll: signals(py), progress: self.showing.here(py), ..RunOptions::default() };
        let callable = &self.callable;
        let outcome = py.detach(|| callable.call_with(values, &run_options));
        let (values, _) = outcome.map_err(|e| running(py, graph, e))?;
        // Operations give no value here; `Form` wants a place for each.
        let mut values = values.into_iter();
        let places = places(&self.form);
        let mut fetched = places.into_iter().map(|value| match value {
            true => values.next().map_or(Fetched::Ran, Fetched::Value),
            false => Fetched::Ran,
        });
        self.form.fill(py, &mut fetched)
    }
}

/// For each thing asked for, whether it has a value.
fn places(form: &Form) -> Vec<bool> {
    match form {
        Form::Value => vec![true],
        Form::Nothing => vec![false],
        Form::List(parts) | Form::Tuple(parts) | Form::Named(_, parts) | Form::Packed(_, parts) => {
            parts.iter().flat_map(places).collect()
        }
        Form::Dict(_, parts) => parts.iter().flat_map(|(_, p)| places(p)).collect(),
    }
}
