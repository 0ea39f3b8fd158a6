//! `Session`: fetches of any structure and feeds to lists, one call of the engine without the interpreter's lock, and back.

use crate::array::{of_feed, to_python};
use crate::dtypes::dtype_object;
use crate::errors::{building, carried, running};
use crate::graph::Graph;
use crate::leave::detached;
use crate::operation::Operation;
use crate::stack;
use crate::tensor::Tensor;
use crate::views::{Report, Showing};
use millstream::graph::{NodeId, Port};
use millstream::runtime::{FeedList, FetchList, Fetched, PartialRun as EnginePartialRun, Poll, Target};
use millstream::{DType, Op, RunOptions, SessionOptions};
use parking_lot::Mutex;
use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};
use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::time::Duration;

/// Runs a graph; the package's `Session` is a class of this one, and brings the `__dict__`.
#[pyclass(subclass, weakref, frozen, module = "millstream._engine")]
pub struct Session {
    /// None only where the garbage collector meets an object that Python has made (Python 3.11 allocates its `__dict__` then) and Rust has not
    /// filled yet: all of it is zero.
    graph: Option<Py<Graph>>,
    session: Arc<millstream::Session>,
    closed: AtomicBool,
    showing: Arc<Showing>,
    /// How often the process had forked when it was made. A child has none of its threads, and its locks may be held for ever.
    born: u32,
    /// How many pools of threads `RunOptions` may choose from; they all are the same threads.
    pools: i64,
}

/// How often this process, or one that it comes from, forked.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// To be called in each child.
#[pyfunction]
pub fn forked() {
    FORKS.fetch_add(1, Relaxed);
    crate::leave::alone();
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.is_here() {
            // To end it would wait for threads that are not here.
            std::mem::forget(self.session.clone());
        }
    }
}

/// A run made ready.
#[pyclass(frozen, module = "millstream._engine")]
pub struct Callable {
    session: Py<Session>,
    /// Made at the first call where it could not be before: what is missing may still come, and says so then.
    callable: Mutex<Option<Arc<millstream::Callable>>>,
    feeds: Vec<Port>,
    form: Form,
    targets: Vec<Target>,
    /// Whether a call takes `options` and `run_metadata`.
    accept_options: bool,
}

/// A run in several parts.
#[pyclass(frozen, module = "millstream._engine")]
pub struct PartialRun(EnginePartialRun);

/// How the values of fetches are put together.
enum Form {
    /// The next value, of this port.
    Value(Port),
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

/// How deep fetches may be nested; each level takes some of the stack.
const DEEPEST: usize = 256;

thread_local! {
    /// What a run on this thread asks now and then: whether Ctrl-C was pressed. Signals are the main thread's business.
    static SIGNALS: OnceCell<Option<Poll>> = const { OnceCell::new() };
}

fn signals(py: Python<'_>) -> Option<Poll> {
    SIGNALS.with(|cell| cell.get_or_init(|| is_main_thread(py).unwrap_or(false).then(poll_signals)).clone())
}

/// Whether this is the thread that gets signals.
pub fn on_main_thread(py: Python<'_>) -> bool {
    signals(py).is_some()
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
        Form::within(graph, fetch, targets, DEEPEST)
    }

    fn within(
        graph: &Bound<'_, Graph>,
        fetch: &Bound<'_, PyAny>,
        targets: &mut Vec<Target>,
        depth: usize,
    ) -> PyResult<Form> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(PyRecursionError::new_err(format!(
                "fetches are nested more than {DEEPEST} deep (or hold themselves): fetch a flat list"
            )));
        };
        let py = fetch.py();
        if let Ok(tensor) = fetch.cast::<Tensor>() {
            own(graph, tensor.get().graph(py), fetch)?;
            return Form::of_port(graph, tensor.get().port(), targets);
        }
        if let Ok(op) = fetch.cast::<Operation>() {
            own(graph, op.get().graph(py), fetch)?;
            return Form::of_node(graph, op.get().id(), targets);
        }
        let mut parts = |items: &Bound<'_, PyAny>| -> PyResult<Vec<Form>> {
            items.try_iter()?.map(|item| Form::within(graph, &item?, targets, depth)).collect()
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
        if let Ok(name) = fetch.cast::<PyBytes>() {
            return Form::of_name(graph, &String::from_utf8_lossy(name.as_bytes()), fetch, targets);
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
                Ok((key.unbind(), Form::within(graph, &value, targets, depth)?))
            });
            return Ok(Form::Dict(fetch.get_type().unbind(), pairs.collect::<PyResult<_>>()?));
        }
        let (list, pack): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            stack::hooks(py)?.expand.bind(py).call1((fetch,))?.extract()?;
        Ok(Form::Packed(pack.unbind(), parts(&list)?))
    }

    fn of_port(graph: &Bound<'_, Graph>, port: Port, targets: &mut Vec<Target>) -> PyResult<Form> {
        check_fetchable(graph, port.node)?;
        targets.push(Target::Value(port));
        Ok(Form::Value(port))
    }

    fn of_node(graph: &Bound<'_, Graph>, node: NodeId, targets: &mut Vec<Target>) -> PyResult<Form> {
        check_fetchable(graph, node)?;
        targets.push(Target::Operation(node));
        Ok(Form::Nothing)
    }

    fn of_name(
        graph: &Bound<'_, Graph>,
        name: &str,
        fetch: &Bound<'_, PyAny>,
        targets: &mut Vec<Target>,
    ) -> PyResult<Form> {
        let share = graph.get();
        if name.contains(':') {
            if let Ok(output) = share.inner().output(name) {
                return Form::of_port(graph, output.port(), targets);
            }
        } else if let Some(id) = share.find(name) {
            return Form::of_node(graph, id, targets);
        }
        // What is wrong with it, the graph says.
        let shown = fetch.repr()?;
        let element = graph.call_method1("as_graph_element", (name,)).map_err(|why| {
            PyValueError::new_err(format!(
                "Fetch argument {shown} cannot be interpreted as a Tensor. ({})",
                why.value(fetch.py())
            ))
        })?;
        Form::of(graph, &element, targets)
    }

    /// What the garbage collector is to see.
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let all = |parts: &[Form]| parts.iter().try_for_each(|p| p.traverse(visit));
        match self {
            Form::Value(_) | Form::Nothing => Ok(()),
            Form::List(parts) | Form::Tuple(parts) => all(parts),
            Form::Named(class, parts) => visit.call(class).and_then(|()| all(parts)),
            Form::Packed(pack, parts) => visit.call(pack).and_then(|()| all(parts)),
            Form::Dict(class, parts) => {
                visit.call(class)?;
                parts.iter().try_for_each(|(key, p)| visit.call(key).and_then(|()| p.traverse(visit)))
            }
        }
    }

    /// Whether a port's value is asked for.
    fn has(&self, port: Port) -> bool {
        match self {
            Form::Value(own) => *own == port,
            Form::Nothing => false,
            Form::List(parts) | Form::Tuple(parts) | Form::Named(_, parts) | Form::Packed(_, parts) => {
                parts.iter().any(|p| p.has(port))
            }
            Form::Dict(_, parts) => parts.iter().any(|(_, p)| p.has(port)),
        }
    }

    /// The values in this form. What was fed comes back as it was given, as an array.
    fn fill<'py>(
        &self,
        py: Python<'py>,
        values: &mut impl Iterator<Item = Fetched>,
        fed: &Fed<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Form::Value(port) => match (values.next(), fed.iter().find(|(p, ..)| p == port)) {
                (Some(Fetched::Value(_)), Some((_, value, dtype))) => {
                    let kind = dtype_object(py, *dtype)?.getattr("as_numpy_dtype")?;
                    let numpy = py.import("numpy")?;
                    numpy.call_method1("array", (value, kind))?
                }
                (Some(Fetched::Value(value)), None) => to_python(py, value)?,
                _ => return Err(PyRuntimeError::new_err("a value is missing")),
            },
            Form::Nothing => {
                values.next();
                py.None().into_bound(py)
            }
            Form::List(parts) => PyList::new(py, fill_all(parts, py, values, fed)?)?.into_any(),
            Form::Tuple(parts) => PyTuple::new(py, fill_all(parts, py, values, fed)?)?.into_any(),
            Form::Named(class, parts) => {
                class.bind(py).call1(PyTuple::new(py, fill_all(parts, py, values, fed)?)?)?
            }
            Form::Dict(class, parts) => {
                let pairs = parts.iter().map(|(k, p)| Ok((k.clone_ref(py), p.fill(py, values, fed)?)));
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
                pack.bind(py).call1((PyList::new(py, fill_all(parts, py, values, fed)?)?,))?
            }
        })
    }
}

fn fill_all<'py>(
    parts: &[Form],
    py: Python<'py>,
    values: &mut impl Iterator<Item = Fetched>,
    fed: &Fed<'py>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    parts.iter().map(|p| p.fill(py, values, fed)).collect()
}

/// What was fed, as it was given: the port, the value and the dtype.
type Fed<'py> = Vec<(Port, Bound<'py, PyAny>, DType)>;

/// An error if a node may not be fetched.
fn check_fetchable(graph: &Bound<'_, Graph>, node: NodeId) -> PyResult<()> {
    if graph.get().is_fetchable(node) {
        return Ok(());
    }
    let name = Op::new(graph.get().inner(), node).name();
    let class = graph.py().import("millstream.errors")?.getattr("InaccessibleTensorError")?;
    let text = format!(
        "Operation '{name}' has been marked as not fetchable. Typically this happens when it is defined in another function or code block. Use return values,explicit Python locals or TensorFlow collections to access it."
    );
    Err(PyErr::from_value(class.call1((text,))?))
}

fn own(graph: &Bound<'_, Graph>, of: &Bound<'_, Graph>, fetch: &Bound<'_, PyAny>) -> PyResult<()> {
    match graph.is(of) {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "Fetch argument {} cannot be interpreted as a Tensor. ({} {} is not an element of this graph.)",
            fetch.repr()?,
            if fetch.is_instance_of::<Operation>() { "Operation" } else { "Tensor" },
            fetch.str()?
        ))),
    }
}

/// What is fed: pairs of a port and a tensor, and the values as they were given.
fn feeds_of<'py>(
    graph: &Bound<'py, Graph>,
    feeds: Option<&Bound<'py, PyAny>>,
    add: &mut impl FnMut(Port, millstream::Tensor),
) -> PyResult<Fed<'py>> {
    let mut fed = Fed::new();
    let Some(feeds) = feeds.filter(|f| !f.is_none()) else { return Ok(fed) };
    if let Ok(dict) = feeds.cast::<PyDict>() {
        // A copy: another thread, or a function that feeds, may change it meanwhile.
        for (key, value) in dict.copy()?.iter() {
            feed(graph, &key, &value, &mut fed)?;
        }
    } else {
        if !feeds.hasattr("items")? {
            return Err(PyTypeError::new_err("feed_dict must be a dictionary"));
        }
        for pair in feeds.call_method0("items")?.try_iter()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            feed(graph, &key, &value, &mut fed)?;
        }
    }
    for (port, value, dtype) in &fed {
        let output = graph.get().output(*port);
        add(*port, of_feed(value, &output.name(), *dtype, &output.shape())?);
    }
    Ok(fed)
}

/// Adds what a key and its value say. A key said twice counts as it is said last.
fn feed<'py>(
    graph: &Bound<'py, Graph>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
    fed: &mut Fed<'py>,
) -> PyResult<()> {
    let Some(port) = key_port(graph, key)? else {
        // A SparseTensor, say: its parts are fed.
        let py = key.py();
        let (list, _): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            stack::hooks(py)?.expand.bind(py).call1((key, value))?.extract()?;
        for pair in list.try_iter()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            feed(graph, &key, &value, fed)?;
        }
        return Ok(());
    };
    if value.is_instance_of::<Tensor>() {
        return Err(PyTypeError::new_err(format!(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {} which was passed to the feed with key {}.",
            value.str()?,
            key.str()?
        )));
    }
    if !graph.get().is_feedable(port) {
        return Err(PyValueError::new_err(format!(
            "Tensor {} may not be fed.",
            Tensor::of(graph, port)?.str()?
        )));
    }
    let dtype = graph.get().output(port).dtype().map_err(building)?;
    if value.is_instance_of::<PyInt>() {
        check_range(value, dtype)?;
    }
    fed.retain(|(known, ..)| *known != port);
    fed.push((port, value.clone(), dtype));
    Ok(())
}

/// An error if an int is too large for the dtype that it is fed as.
fn check_range(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<()> {
    let (least, most): (i64, u64) = match dtype {
        DType::I8 => (i8::MIN.into(), i8::MAX as u64),
        DType::I16 => (i16::MIN.into(), i16::MAX as u64),
        DType::I32 => (i32::MIN.into(), i32::MAX as u64),
        DType::I64 => (i64::MIN, i64::MAX as u64),
        DType::U8 => (0, u8::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::U64 => (0, u64::MAX),
        _ => return Ok(()),
    };
    let number: i128 = value.extract().map_err(|_| {
        PyOverflowError::new_err(format!(
            "Python int too large to convert to C long: {value} was fed as {}",
            dtype.tf_name()
        ))
    })?;
    if (i128::from(least)..=i128::from(most)).contains(&number) {
        return Ok(());
    }
    if i64::try_from(number).is_err() {
        return Err(PyOverflowError::new_err(format!(
            "Python int too large to convert to C long: {number} was fed as {}",
            dtype.tf_name()
        )));
    }
    Err(PyTypeError::new_err(format!(
        "Type of feed value {number} with type {} is not compatible with Tensor type <class 'numpy.{}'>. Try explicitly setting the type of the feed tensor to a larger type (e.g. int64).",
        value.get_type().str()?,
        dtype.tf_name()
    )))
}

/// The port that a key of a feed is, or names; None if it is of a kind that the package knows.
fn key_port(graph: &Bound<'_, Graph>, key: &Bound<'_, PyAny>) -> PyResult<Option<Port>> {
    if let Ok(tensor) = key.cast::<Tensor>()
        && tensor.get().graph(key.py()).is(graph)
    {
        return Ok(Some(tensor.get().port()));
    }
    if let Ok(name) = key.cast::<PyString>() {
        let name = name.to_cow()?;
        if name.contains(':')
            && let Ok(output) = graph.get().inner().output(&name)
        {
            return Ok(Some(output.port()));
        }
    } else if !key.is_instance_of::<Tensor>() && !key.is_instance_of::<Operation>() {
        return Ok(None);
    }
    // What is wrong with it, the graph says.
    let kwargs = PyDict::new(key.py());
    kwargs.set_item("allow_operation", false)?;
    let element = graph.call_method("as_graph_element", (key,), Some(&kwargs)).map_err(|why| {
        let why = why.value(key.py());
        // Texts that are keys' show quotes.
        let text = why.getattr("args").and_then(|args| args.get_item(0)).and_then(|text| text.str());
        let text = text.or_else(|_| why.str()).map_or_else(|_| String::new(), |t| t.to_string());
        PyTypeError::new_err(format!("Cannot interpret feed_dict key as Tensor: {text}"))
    })?;
    Ok(Some(element.cast::<Tensor>()?.get().port()))
}

/// Feeds of a list, by name, tensor, or a composite of tensors.
fn ports_of(graph: &Bound<'_, Graph>, feeds: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Port>> {
    let Some(feeds) = feeds.filter(|f| !f.is_none()) else { return Ok(Vec::new()) };
    let mut ports = Vec::new();
    for item in feeds.try_iter()? {
        let item = item?;
        match key_port(graph, &item)? {
            Some(port) => ports.push(port),
            None => {
                let py = item.py();
                let expand = stack::hooks(py)?.expand.bind(py);
                let parts: Vec<Bound<'_, PyAny>> = expand.call1((&item, py.None(), true))?.extract()?;
                ports.extend(ports_of(graph, Some(PyList::new(py, parts)?.as_any()))?);
            }
        }
    }
    for port in &ports {
        if !graph.get().is_feedable(*port) {
            let tensor = Tensor::of(graph, *port)?;
            return Err(PyValueError::new_err(format!("Tensor {} may not be fed.", tensor.str()?)));
        }
    }
    Ok(ports)
}

/// An error of `millstream.errors`, by the name of its class.
fn op_error(py: Python<'_>, class: &str, text: &str) -> PyErr {
    let class = py.import("millstream.errors").and_then(|m| m.getattr(class));
    match class.and_then(|class| class.call1((py.None(), py.None(), text))) {
        Ok(error) => PyErr::from_value(error),
        Err(problem) => problem,
    }
}

/// Adds what a run was seen to do to a `RunMetadata`.
fn fill_metadata(
    graph: &Bound<'_, Graph>,
    into: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyAny>>,
    metadata: millstream::runtime::RunMetadata,
    targets: &[Target],
) -> PyResult<()> {
    let Some(into) = into.filter(|m| !m.is_none()) else { return Ok(()) };
    let py = graph.py();
    into.call_method0("Clear")?;
    if let Some(trace) = metadata.trace {
        let message = millstream::summary::run_metadata_message(&trace);
        let bytes = millstream::interop::proto::encode(&message);
        into.call_method1("MergeFromString", (PyBytes::new(py, &bytes),))?;
    }
    let wanted = match options.filter(|o| !o.is_none()) {
        Some(options) => options.getattr("output_partition_graphs")?.is_truthy()?,
        None => false,
    };
    if wanted {
        let names = targets.iter().map(|t| Op::new(graph.get().inner(), target_node(t)).name());
        let names = PyList::new(py, names.collect::<Vec<_>>())?;
        py.import("millstream.session")?.call_method1("_partition_graph", (graph, names, into))?;
    }
    Ok(())
}

fn target_node(target: &Target) -> NodeId {
    match target {
        Target::Value(port) | Target::Every(port) => port.node,
        Target::Operation(id) => *id,
    }
}

#[pymethods]
impl Session {
    /// A session over a graph.
    #[new]
    #[pyo3(signature = (graph, threads = None, one_thread_per_kernel = false, timeout_ms = None, container = String::new(), pools = 1))]
    fn new(
        graph: &Bound<'_, Graph>,
        threads: Option<usize>,
        one_thread_per_kernel: bool,
        timeout_ms: Option<u64>,
        container: String,
        pools: i64,
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
            graph: Some(graph.clone().unbind()),
            session: Arc::new(session),
            closed: AtomicBool::new(false),
            showing: Arc::default(),
            born: FORKS.load(Relaxed),
            pools,
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)
    }

    /// The graph.
    #[getter(graph)]
    fn graph_(&self, py: Python<'_>) -> Py<Graph> {
        self.owner().clone_ref(py)
    }

    #[getter]
    fn _closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// Ends the session: what runs in it is cancelled, and what it holds is freed.
    ///
    /// Example:
    ///
    ///     >>> sess = tf.Session()
    ///     >>> sess.close()
    ///     >>> sess.run(tf.constant(1))
    ///     Traceback (most recent call last):
    ///       ...
    ///     RuntimeError: Attempted to use a closed Session.
    fn close(&self, py: Python<'_>) {
        self.closed.store(true, Release);
        if self.is_here() {
            detached(py, || self.session.close());
        }
    }

    /// The values of `fetches`, in their structure.
    #[pyo3(signature = (fetches, feed_dict = None, options = None, run_metadata = None))]
    ///
    /// Args:
    ///   fetches: A tensor, an operation, a variable, a name of one; or lists, tuples and dicts of these.
    ///   feed_dict: A dict of tensors to the values that stand in their place in this run: placeholders need one, any
    ///     other tensor may have one.
    ///   options: A `tf.RunOptions`: a time limit, a trace.
    ///   run_metadata: A `tf.RunMetadata`, into which the trace is written.
    ///
    /// Returns:
    ///   Arrays, numbers or bytes in the structure of `fetches`; None for operations.
    ///
    /// Raises:
    ///   ValueError, TypeError: What is fetched or fed is no part of the graph, or does not fit.
    ///   RuntimeError: The session is closed.
    ///   tf.errors.OpError: An operation failed.
    ///
    /// Example:
    ///
    ///     >>> x = tf.placeholder(tf.float32, [None], name="x")
    ///     >>> total, most = tf.reduce_sum(x), tf.reduce_max(x)
    ///     >>> sess = tf.Session()
    ///     >>> print(sess.run(total, {x: [1.0, 2.0, 5.0]}), sess.run([total, most], {x: [1.0, 2.0]})[1])
    ///     8.0 2.0
    ///     >>> print(sess.run({"most": most, "both": (total, "x:0")}, {x: [4.0]})["both"][1])
    ///     [4.]
    fn run<'py>(
        &self,
        py: Python<'py>,
        fetches: &Bound<'py, PyAny>,
        feed_dict: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyAny>>,
        run_metadata: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.check_open()?;
        let graph = self.owner().bind(py);
        if graph.get().inner().is_empty() {
            return Err(PyRuntimeError::new_err(
                "The Session graph is empty.  Add operations to the graph before calling run().",
            ));
        }
        let mut targets = Vec::new();
        let form = Form::of(graph, fetches, &mut targets)?;
        let mut feeds = FeedList::new();
        let mut fed = feeds_of(graph, feed_dict, &mut |port, value| {
            feeds = std::mem::take(&mut feeds).and(graph.get().output(port), value);
        })?;
        fed.retain(|(port, ..)| form.has(*port));
        let run_options = self.run_options(py, options)?;
        if let Some(metadata) = run_metadata.filter(|m| !m.is_none()) {
            metadata.getattr("MergeFromString")?;
        }
        let session = &self.session;
        let list = FetchList(targets.clone());
        let result = detached(py, || session.run_with::<Vec<Fetched>>(list, feeds, &run_options));
        let (values, metadata) = result.map_err(|e| running(py, graph, e))?;
        fill_metadata(graph, run_metadata, options, metadata, &targets)?;
        form.fill(py, &mut values.into_iter(), &fed)
    }

    /// A function of the values of `feed_list` that gives the values of `fetches`.
    #[pyo3(signature = (fetches, feed_list = None, accept_options = false))]
    ///
    /// Args:
    ///   fetches: As for `run`.
    ///   feed_list: A list of tensors.
    ///   accept_options: Whether the function takes `options` and `run_metadata`.
    ///
    /// Returns:
    ///   A function.
    ///
    /// Example:
    ///
    ///     >>> x = tf.placeholder(tf.float32, [])
    ///     >>> square = tf.Session().make_callable(x * x, [x])
    ///     >>> print(square(3.0), square(4.0))
    ///     9.0 16.0
    fn make_callable<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
        fetches: &Bound<'py, PyAny>,
        feed_list: Option<&Bound<'py, PyAny>>,
        accept_options: bool,
    ) -> PyResult<Callable> {
        if slf.get().closed.load(Acquire) && slf.get().is_here() {
            return Err(op_error(py, "CancelledError", "Session has been closed."));
        }
        slf.get().check_open()?;
        let graph = slf.get().owner().bind(py);
        if let Some(list) = feed_list.filter(|l| !l.is_none())
            && !(list.is_instance_of::<PyList>() || list.is_instance_of::<PyTuple>())
        {
            return Err(PyTypeError::new_err("`feed_list` must be a list of Tensors or None."));
        }
        let mut targets = Vec::new();
        let form = Form::of(graph, fetches, &mut targets)?;
        let feeds = ports_of(graph, feed_list)?;
        let callable = Mutex::new(slf.get().prepare(graph, &feeds, &targets).ok().map(Arc::new));
        Ok(Callable { session: slf.clone().unbind(), callable, feeds, form, targets, accept_options })
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
        let graph = self.owner().bind(py);
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
    ///
    /// Args:
    ///   fetches: All that the parts will fetch.
    ///   feeds: A list of all that they will feed.
    ///
    /// Returns:
    ///   A handle for `partial_run`.
    ///
    /// Example:
    ///
    ///     >>> a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    ///     >>> total, product = a + 1.0, (a + 1.0) * b
    ///     >>> sess = tf.Session()
    ///     >>> handle = sess.partial_run_setup([total, product], [a, b])
    ///     >>> first = sess.partial_run(handle, total, {a: 1.0})
    ///     >>> print(first, sess.partial_run(handle, product, {b: first * 10.0}))
    ///     2.0 40.0
    #[pyo3(signature = (fetches, feeds = None))]
    fn partial_run_setup<'py>(
        &self,
        py: Python<'py>,
        fetches: &Bound<'py, PyAny>,
        feeds: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PartialRun> {
        self.check_open()?;
        let graph = self.owner().bind(py);
        let mut targets = Vec::new();
        Form::of(graph, fetches, &mut targets)?;
        if targets.is_empty() {
            return Err(op_error(
                py,
                "InvalidArgumentError",
                "Must specify at least one target to fetch or execute.",
            ));
        }
        let ports = ports_of(graph, feeds)?;
        let outputs = ports.iter().map(|&p| graph.get().output(p));
        let run = self.session.partial_run_setup(FetchList(targets), outputs);
        Ok(PartialRun(run.map_err(|e| running(py, graph, e))?))
    }

    /// Goes on with a run in several parts: what was computed before is not computed again.
    ///
    /// Args:
    ///   handle: What `partial_run_setup` gave.
    ///   fetches: Some of what it named, and no part fetched before.
    ///   feed_dict: Some of what it named.
    ///
    /// Returns:
    ///   As `run`.
    ///
    /// Raises:
    ///   tf.errors.InvalidArgumentError: Something was not named, or comes a second time.
    #[pyo3(signature = (handle, fetches, feed_dict = None))]
    fn partial_run<'py>(
        &self,
        py: Python<'py>,
        handle: &Bound<'py, PartialRun>,
        fetches: &Bound<'py, PyAny>,
        feed_dict: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.check_open()?;
        let graph = self.owner().bind(py);
        let mut targets = Vec::new();
        let form = Form::of(graph, fetches, &mut targets)?;
        if targets.iter().any(|t| matches!(t, Target::Operation(_))) {
            return Err(PyRuntimeError::new_err(
                "partial_run() requires empty target_list. (Fetch tensors; operations cannot be asked for in parts)",
            ));
        }
        let mut feeds = FeedList::new();
        let mut fed = feeds_of(graph, feed_dict, &mut |port, value| {
            feeds = std::mem::take(&mut feeds).and(graph.get().output(port), value);
        })?;
        let (session, run, list) = (&self.session, &handle.get().0, FetchList(targets));
        let values = detached(py, || session.partial_run::<Vec<Fetched>>(run, list, feeds));
        fed.retain(|(port, ..)| form.has(*port));
        form.fill(py, &mut values.map_err(|e| running(py, graph, e))?.into_iter(), &fed)
    }
}

impl Session {
    fn owner(&self) -> &Py<Graph> {
        self.graph.as_ref().expect("an object that code sees is filled")
    }

    fn prepare(
        &self,
        graph: &Bound<'_, Graph>,
        feeds: &[Port],
        targets: &[Target],
    ) -> millstream::Result<millstream::Callable> {
        let outputs = feeds.iter().map(|&p| graph.get().output(p));
        self.session.make_callable(FetchList(targets.to_vec()), outputs)
    }

    /// What `RunOptions` says that is the engine's.
    fn run_options(&self, py: Python<'_>, options: Option<&Bound<'_, PyAny>>) -> PyResult<RunOptions> {
        let mut run_options =
            RunOptions { poll: signals(py), progress: self.showing.here(py), ..RunOptions::default() };
        if let Some(options) = options.filter(|o| !o.is_none()) {
            let ms: i64 = options.getattr("timeout_in_ms")?.extract()?;
            run_options.timeout = u64::try_from(ms).ok().filter(|ms| 0 < *ms).map(Duration::from_millis);
            run_options.trace = 0 < options.getattr("trace_level")?.extract::<i64>()?;
            let pool: i64 = options.getattr("inter_op_thread_pool")?.extract()?;
            if !(-1..self.pools).contains(&pool) {
                let text = format!("Invalid inter_op_thread_pool: {pool}: the session has {}", self.pools);
                return Err(op_error(py, "InvalidArgumentError", &text));
            }
        }
        Ok(run_options)
    }

    /// Whether this is the process that it was made in.
    fn is_here(&self) -> bool {
        self.born == FORKS.load(Relaxed)
    }

    fn check_open(&self) -> PyResult<()> {
        if !self.is_here() {
            return Err(PyRuntimeError::new_err(
                "this Session was made before the process forked, and its threads are not in the child: make a new session over the graph here, or start processes with multiprocessing.get_context('spawn')",
            ));
        }
        match self.closed.load(Acquire) {
            true => Err(PyRuntimeError::new_err("Attempted to use a closed Session.")),
            false => Ok(()),
        }
    }
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
        if args.len() != self.feeds.len() {
            let text = format!(
                "Expected to feed {} values but got {}: this callable was made for as many as its `feed_list` has",
                self.feeds.len(),
                args.len()
            );
            return Err(op_error(py, "InvalidArgumentError", &text));
        }
        let mut values = Vec::with_capacity(args.len());
        for (port, value) in self.feeds.iter().zip(args.iter()) {
            let output = graph.get().output(*port);
            let dtype = output.dtype().map_err(building)?;
            values.push(of_feed(&value, &output.name(), dtype, &output.shape())?);
        }
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
        // Operations give no value here; `Form` wants a place for each.
        let mut values = values.into_iter();
        let places = places(&self.form);
        let mut fetched = places.into_iter().map(|value| match value {
            true => values.next().map_or(Fetched::Ran, Fetched::Value),
            false => Fetched::Ran,
        });
        self.form.fill(py, &mut fetched, &Fed::new())
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

/// For each thing asked for, whether it has a value.
fn places(form: &Form) -> Vec<bool> {
    match form {
        Form::Value(_) => vec![true],
        Form::Nothing => vec![false],
        Form::List(parts) | Form::Tuple(parts) | Form::Named(_, parts) | Form::Packed(_, parts) => {
            parts.iter().flat_map(places).collect()
        }
        Form::Dict(_, parts) => parts.iter().flat_map(|(_, p)| places(p)).collect(),
    }
}
