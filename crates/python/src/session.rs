//! `Session`: runs the engine without the interpreter's lock. [`fetches`] handles structures, [`feeds`]
//! converts values to tensors; a [`Callable`] is a prepared run, a [`SplitRun`] one in two parts.

mod callable;
mod feeds;
mod fetches;
mod split;

pub use callable::Callable;
pub use fetches::Every;
pub use split::{Residuals, SplitRun};

use crate::array::to_python;
use crate::collective::OfProcess;
use crate::errors::{building, carried, running};
use crate::graph::Graph;
use crate::leave::detached;
use crate::memory::Loans;
use crate::placement::Placement;
use crate::tensor::Tensor;
use crate::views::{OfThreads, Report, shown_by, watch};
use feeds::{feeds_of, ports_of};
use fetches::{Form, own};
use millstream::contrib::training::{BucketStatistics, Statistics};
use millstream::engine::graph::{NodeId, Port};
use millstream::engine::runtime::{
    FeedList, FetchList, Fetched, PartialRun as EnginePartialRun, Poll, Target,
};
use millstream::engine::tensor::invalid;
use millstream::{FileAccess, Op, ResourceManager, RunOptions, SessionOptions, ShowProgress, Tier, Watch};
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::time::Duration;

/// Runs a graph. It is the base class of the package's `Session`, which adds a `__dict__`.
#[pyclass(subclass, weakref, frozen, module = "millstream._engine")]
pub struct Session {
    /// None only while the garbage collector may visit an object allocated by Python but not yet initialized
    /// by Rust (Python 3.11 allocates its `__dict__` at that time): its memory is zero.
    graph: Option<Py<Graph>>,
    session: Arc<millstream::Session>,
    closed: AtomicBool,
    shown: OfThreads<ShowProgress>,
    watched: OfThreads<Watch>,
    /// The number of forks at creation. A forked child has none of the session's threads, and its locks may
    /// be held forever.
    born: u32,
    /// Number of thread pools that `RunOptions` may select; all are the same threads.
    pools: i64,
    placement: Placement,
}

/// The fields of [`BucketStatistics`], in order.
type CountsOfBucket = (u64, u64, u64, u64, u64, u64, Option<usize>, u64, u64);

/// Number of forks of this process and its ancestors.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Called in each forked child.
#[pyfunction]
pub fn forked() {
    FORKS.fetch_add(1, Relaxed);
    crate::leave::alone();
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.is_here() {
            // Ending it would wait for threads that do not exist in this process.
            std::mem::forget(self.session.clone());
        }
    }
}

/// A partial run.
#[pyclass(frozen, module = "millstream._engine")]
pub struct PartialRun(EnginePartialRun);

/// The engine's grace: 0 means the default, a negative number the largest.
fn stall_grace(ms: i64) -> Option<Duration> {
    match u64::try_from(ms) {
        Ok(0) => None,
        Ok(ms) => Some(Duration::from_millis(ms)),
        Err(_) => Some(Duration::MAX),
    }
}

thread_local! {
    /// Polled by a run on this thread: whether Ctrl-C was pressed. Only the main thread handles signals.
    static SIGNALS: OnceCell<Option<Poll>> = const { OnceCell::new() };
}

fn signals(py: Python<'_>) -> Option<Poll> {
    SIGNALS.with(|cell| cell.get_or_init(|| is_main_thread(py).unwrap_or(false).then(poll_signals)).clone())
}

/// Whether this is the thread that handles signals.
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
        // The interpreter is shutting down.
        None => Ok(()),
    })
}

/// An error of `millstream.errors`, by the name of its class.
pub fn op_error(py: Python<'_>, class: &str, text: &str) -> PyErr {
    let class = py.import("millstream.framework.errors").and_then(|m| m.getattr(class));
    match class.and_then(|class| class.call1((py.None(), py.None(), text))) {
        Ok(error) => PyErr::from_value(error),
        Err(problem) => problem,
    }
}

/// Adds the trace of a run to a `RunMetadata`.
fn fill_metadata(
    graph: &Bound<'_, Graph>,
    into: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyAny>>,
    metadata: millstream::engine::runtime::RunMetadata,
    targets: &[Target],
) -> PyResult<()> {
    let Some(into) = into.filter(|m| !m.is_none()) else { return Ok(()) };
    let py = graph.py();
    into.call_method0("Clear")?;
    if let Some(trace) = metadata.trace {
        let message = millstream::summary::run_metadata_message(&trace);
        let bytes = millstream::engine::interop::proto::encode(&message);
        into.call_method1("MergeFromString", (PyBytes::new(py, &bytes),))?;
    }
    let wanted = match options.filter(|o| !o.is_none()) {
        Some(options) => options.getattr("output_partition_graphs")?.is_truthy()?,
        None => false,
    };
    if wanted {
        let names = targets.iter().map(|t| Op::new(graph.get().inner(), target_node(t)).name());
        let names = PyList::new(py, names.collect::<Vec<_>>())?;
        py.import("millstream.framework.session")?.call_method1("_partition_graph", (graph, names, into))?;
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
    /// Creates a session for a graph. `limits`: the time of a run and the grace of a run that waits, in
    /// milliseconds, and the bytes of tensors; 0 for the defaults. `compiles`: whether loops run as code.
    /// `passes`: what plans leave out. `store`: the address of the server in which queues live.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the options of a session, each optional")]
    #[pyo3(signature = (graph, threads = None, one_thread_per_kernel = false, limits = (0, 0, 0), container = String::new(), pools = 1, devices = (1, true, false), files = None, compiles = true, passes = "", store = None))]
    fn new(
        graph: &Bound<'_, Graph>,
        threads: Option<usize>,
        one_thread_per_kernel: bool,
        limits: (u64, i64, i64),
        container: String,
        pools: i64,
        devices: (usize, bool, bool),
        files: Option<Vec<PathBuf>>,
        compiles: bool,
        passes: &str,
        store: Option<String>,
    ) -> PyResult<Session> {
        let resources = store.map(|address| graph.py().detach(|| ResourceManager::at(&address)));
        let named = |e: millstream::Error| building(e.note("in `ConfigProto.passes`"));
        let options = SessionOptions {
            threads,
            one_thread_per_kernel,
            timeout: Some(limits.0).filter(|&ms| 0 < ms).map(Duration::from_millis),
            stall_grace: stall_grace(limits.1),
            memory_limit: usize::try_from(limits.2).ok().filter(|&bytes| 0 < bytes),
            files: files.map_or(FileAccess::Everything, FileAccess::folders),
            container,
            resources: resources.transpose().map_err(|error| running(graph.py(), graph, error))?,
            collective: Some(Arc::new(OfProcess)),
            tier: if compiles { Tier::Compiled } else { Tier::Dataflow },
            passes: passes.parse().map_err(named)?,
            ..SessionOptions::default()
        };
        let session = millstream::Session::with_options(graph.get().inner(), options).map_err(building)?;
        Ok(Session {
            graph: Some(graph.clone().unbind()),
            session: Arc::new(session),
            closed: AtomicBool::new(false),
            shown: OfThreads::default(),
            watched: OfThreads::default(),
            born: FORKS.load(Relaxed),
            pools,
            placement: Placement::new(devices.0, devices.1, devices.2),
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)
    }

    /// The graph that the session runs.
    #[getter(graph)]
    fn graph_(&self, py: Python<'_>) -> Py<Graph> {
        self.owner().clone_ref(py)
    }

    #[getter]
    fn _closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// Closes the session: cancels its runs and frees its resources.
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

    /// Cancels runs and frees resources without marking the session as closed by its owner.
    fn _end(&self, py: Python<'_>) {
        if self.is_here() {
            detached(py, || self.session.close());
        }
    }

    /// Runs the graph and returns the values of `fetches` in the same structure.
    ///
    /// Large numeric arrays (and objects that convert to them by DLPack, `__array__` or
    /// `__array_interface__`) in NumPy's default layout are not copied when they are fed: the run reads their
    /// memory. Do not modify an array during a run that it is fed to, on another thread or in a `py_func` of
    /// that run: results would be undefined. After the run it can be modified: variables, queues and returned
    /// values do not share its memory.
    ///
    /// Args:
    ///   fetches: A `Tensor`, an `Operation`, a variable, the name of one, or lists, tuples and dicts of
    ///     these.
    ///   feed_dict: A dict from tensors to values that replace them in this run. Placeholders must be fed;
    ///     any other tensor may be.
    ///   options: A `tf.RunOptions`, such as a timeout or a trace level.
    ///   run_metadata: A `tf.RunMetadata` to which the trace is added.
    ///
    /// Returns:
    ///   NumPy arrays, scalars or bytes in the structure of `fetches`; None for operations.
    ///
    /// Raises:
    ///   ValueError, TypeError: A fetch or feed is not in the graph, or a value does not match.
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
    #[pyo3(signature = (fetches, feed_dict = None, options = None, run_metadata = None))]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
        fetches: &Bound<'py, PyAny>,
        feed_dict: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyAny>>,
        run_metadata: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        this.check_open()?;
        let graph = this.owner().bind(py);
        if graph.get().inner().is_empty() {
            return Err(PyRuntimeError::new_err(
                "The Session graph is empty.  Add operations to the graph before calling run().\n  help: a session has \
                 the graph that was the default when it was made; name another: `tf.Session(graph=g)`",
            ));
        }
        let mut targets = Vec::new();
        let form = Form::of(graph, fetches, &mut targets)?;
        let mut loans = Loans::default();
        let mut feeds = FeedList::new();
        let mut fed = feeds_of(slf, graph, feed_dict, Some(&mut loans), &mut |port, value| {
            feeds = std::mem::take(&mut feeds).and(graph.get().output(port), value);
        })?;
        let placed = this.placement.check(graph.get(), &targets, fed.iter().map(|(port, ..)| *port));
        placed.map_err(|e| running(py, graph, e))?;
        fed.retain(|(port, ..)| form.has(*port));
        let run_options = this.run_options(py, options)?;
        if let Some(metadata) = run_metadata.filter(|m| !m.is_none()) {
            metadata.getattr("MergeFromString")?;
        }
        let session = &this.session;
        let list = FetchList(targets.clone());
        let result = detached(py, || session.run_with::<Vec<Fetched>>(list, feeds, &run_options));
        let (values, metadata) = result.map_err(|e| running(py, graph, e))?;
        fill_metadata(graph, run_metadata, options, metadata, &targets)?;
        let filled = form.fill(py, &mut values.into_iter(), &fed, slf)?;
        loans.end()?;
        Ok(filled)
    }

    /// Returns a function from the values of `feed_list` to the values of `fetches`.
    ///
    /// As in `run`, arrays must not be modified during a call.
    ///
    /// Args:
    ///   fetches: Same as in `run`.
    ///   feed_list: A list of tensors to feed.
    ///   accept_options: If true, the function also takes the keyword arguments `options` and `run_metadata`.
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
    #[pyo3(signature = (fetches, feed_list = None, accept_options = false))]
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
            return Err(PyTypeError::new_err("`feed_list` must be a list or tuple."));
        }
        let mut targets = Vec::new();
        let form = Form::of(graph, fetches, &mut targets)?;
        let feeds = ports_of(graph, feed_list)?;
        let callable = Mutex::new(slf.get().prepare(graph, &feeds, &targets).ok().map(Arc::new));
        let scalar = |&port: &Port| {
            let output = graph.get().output(port);
            output.dtype().ok().filter(|_| output.shape().rank() == Some(0))
        };
        let scalars = feeds.iter().map(scalar).collect();
        Ok(Callable {
            session: slf.clone().unbind(),
            callable,
            feeds,
            scalars,
            form,
            targets,
            accept_options,
        })
    }

    /// The tensor stored in the session under a handle.
    fn _kept<'py>(&self, py: Python<'py>, handle: &str) -> PyResult<Bound<'py, PyAny>> {
        self.check_open()?;
        let kept = self.session.kept_tensor(handle).map_err(|e| running(py, self.owner().bind(py), e))?;
        to_python(py, kept)
    }

    /// Deletes the tensor stored under a handle; returns whether it existed.
    fn _forget(&self, handle: &str) -> bool {
        self.is_here() && self.session.forget_tensor(handle).is_ok()
    }

    /// Describes a run of `fetches`, or the resources of the session.
    #[pyo3(signature = (fetches = None, feeds = None, machine_code = false))]
    fn _explain<'py>(
        &self,
        py: Python<'py>,
        fetches: Option<&Bound<'py, PyAny>>,
        feeds: Option<&Bound<'py, PyAny>>,
        machine_code: bool,
    ) -> PyResult<Report> {
        self.check_open()?;
        let Some(fetches) = fetches else { return Ok(Report::of_holdings(&self.session.holdings())) };
        let graph = self.owner().bind(py);
        let mut targets = Vec::new();
        Form::of(graph, fetches, &mut targets)?;
        let ports = ports_of(graph, feeds)?;
        let outputs = || ports.iter().map(|&p| graph.get().output(p));
        let explanation = self.session.explain(FetchList(targets.clone()), outputs());
        let explanation = explanation.map_err(|e| running(py, graph, e))?;
        let machine_code = match machine_code {
            true => self.session.disassembly(FetchList(targets), outputs()),
            false => Ok(String::new()),
        };
        Ok(Report::of_run(&explanation, machine_code.map_err(|e| running(py, graph, e))?))
    }

    /// Reports the progress of long runs of this thread by `show(text, over)`.
    fn _show_progress(&self, show: Py<PyAny>) {
        self.shown.begin(shown_by(show));
    }

    /// Ends the effect of `_show_progress`.
    fn _hide_progress(&self) {
        self.shown.end();
    }

    /// Stops runs of this thread at a value of `of` (or any value) that is NaN, infinite, or satisfies
    /// `when`.
    #[pyo3(signature = (of, nan, infinite, when))]
    fn _watch(
        &self,
        py: Python<'_>,
        of: Option<&Bound<'_, Tensor>>,
        nan: bool,
        infinite: bool,
        when: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let graph = self.owner().bind(py);
        if let Some(tensor) = of {
            own(graph, tensor.get().graph(py), tensor)?;
        }
        let output = of.map(|t| graph.get().output(t.get().port()));
        self.watched.begin(watch(output, nan, infinite, when));
        Ok(())
    }

    /// Ends the effect of `_watch`.
    fn _unwatch(&self) {
        self.watched.end();
    }

    /// Runs an operation that closes a queue, which reports the reason to those who wait for it.
    fn _close_queue(&self, py: Python<'_>, operation: &Bound<'_, PyAny>, why: &str) -> PyResult<()> {
        self.check_open()?;
        let graph = self.owner().bind(py);
        let mut targets = Vec::new();
        Form::of(graph, operation, &mut targets)?;
        let options = RunOptions { why: Some(why.into()), ..self.run_options(py, None)? };
        let run = || self.session.run_with::<Vec<Fetched>>(FetchList(targets), FeedList::new(), &options);
        detached(py, run).map(drop).map_err(|e| running(py, graph, e))
    }

    /// Reads the counts of a `bucket` from the handles of its queues. Returns the counts of each bucket, the
    /// two of dropped examples, and all of them as a table.
    fn _bucket_statistics(
        &self,
        py: Python<'_>,
        queues: Vec<Bound<'_, PyAny>>,
        top: &Bound<'_, PyAny>,
        sizes: Vec<Option<usize>>,
    ) -> PyResult<(Vec<CountsOfBucket>, u64, u64, String)> {
        self.check_open()?;
        let graph = self.owner().bind(py);
        let mut targets = Vec::new();
        for handle in queues.iter().chain([top]) {
            Form::of(graph, handle, &mut targets)?;
        }
        let options = self.run_options(py, None)?;
        let read = || {
            let fetched = self.session.run_with::<Vec<millstream::Tensor>>(
                FetchList(targets),
                FeedList::new(),
                &options,
            )?;
            let (top, queues) = fetched.0.split_last().ok_or_else(|| invalid!("a bucket has queues"))?;
            Statistics::of_handles(queues, top, &sizes)
        };
        let counts = detached(py, read).map_err(|e| running(py, graph, e))?;
        let table = counts.to_string();
        let of_bucket = |b: &BucketStatistics| {
            (b.n_in, b.n_out, b.waiting, b.discarded, b.batches, b.rows, b.batch_size, b.cells, b.padding)
        };
        Ok((counts.buckets.iter().map(of_bucket).collect(), counts.filtered, counts.out_of_range, table))
    }

    /// Tells the session that a queue runner fills the queue of this name.
    fn _runner_started(&self, queue: &str) {
        self.session.runner_started(queue);
    }

    /// Tells the session that the runner of this queue ended with an error and did not close the queue.
    fn _runner_failed(&self, queue: &str, why: &str) {
        self.session.runner_failed(queue, why);
    }

    /// Sets up a partial run.
    ///
    /// Args:
    ///   fetches: The fetches of all parts.
    ///   feeds: A list of the tensors that the parts feed.
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
        let placed = self.placement.check(graph.get(), &targets, ports.iter().copied());
        placed.map_err(|e| running(py, graph, e))?;
        let run = self.session.partial_run_setup(FetchList(targets), outputs);
        Ok(PartialRun(run.map_err(|e| running(py, graph, e))?))
    }

    /// Continues a partial run; values computed by earlier parts are not computed again.
    ///
    /// Args:
    ///   handle: A handle returned by `partial_run_setup`.
    ///   fetches: Some of the declared fetches, not fetched before.
    ///   feed_dict: A dict from some of the declared feeds to values.
    ///
    /// Returns:
    ///   Values in the structure of `fetches`, as in `run`.
    ///
    /// Raises:
    ///   tf.errors.InvalidArgumentError: A fetch or feed was not declared, or is repeated.
    #[pyo3(signature = (handle, fetches, feed_dict = None))]
    fn partial_run<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
        handle: &Bound<'py, PyAny>,
        fetches: &Bound<'py, PyAny>,
        feed_dict: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        this.check_open()?;
        let graph = this.owner().bind(py);
        let Ok(handle) = handle.cast::<PartialRun>() else {
            let text = "Must run 'setup' before performing partial runs! (The handle is what `partial_run_setup` gives)";
            return Err(op_error(py, "InvalidArgumentError", text));
        };
        let mut targets = Vec::new();
        let form = Form::of(graph, fetches, &mut targets)?;
        if targets.iter().any(|t| matches!(t, Target::Operation(_))) {
            return Err(PyRuntimeError::new_err(
                "partial_run() requires empty target_list. (Fetch tensors; operations cannot be asked for in parts)",
            ));
        }
        let mut feeds = FeedList::new();
        // Feeds are kept until the last part of the run: arrays are not borrowed for that long.
        let mut fed = feeds_of(slf, graph, feed_dict, None, &mut |port, value| {
            feeds = std::mem::take(&mut feeds).and(graph.get().output(port), value);
        })?;
        let (session, run, list) = (&this.session, &handle.get().0, FetchList(targets));
        let values = detached(py, || session.partial_run::<Vec<Fetched>>(run, list, feeds));
        fed.retain(|(port, ..)| form.has(*port));
        form.fill(py, &mut values.map_err(|e| running(py, graph, e))?.into_iter(), &fed, slf)
    }
}

impl Session {
    /// The engine's session.
    pub fn engine(&self) -> &millstream::Session {
        &self.session
    }

    /// The graph's object.
    pub fn owner(&self) -> &Py<Graph> {
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

    /// The engine's options from a `RunOptions`.
    fn run_options(&self, py: Python<'_>, options: Option<&Bound<'_, PyAny>>) -> PyResult<RunOptions> {
        let mut run_options = RunOptions {
            poll: signals(py),
            progress: self.shown.here().pop(),
            watch: self.watched.here(),
            ..RunOptions::default()
        };
        if let Some(options) = options.filter(|o| !o.is_none()) {
            // Other objects raise an AttributeError here, as in TensorFlow.
            options.getattr("SerializeToString")?;
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

    /// Whether the session was created in this process.
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
