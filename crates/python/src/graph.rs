//! `Graph`: a reference to an engine graph with the state that only Python needs, and its `with` blocks.

use crate::custom::StandIns;
use crate::errors::building;
use crate::handles::Handles;
use crate::operation::Operation;
use crate::place::{self, Place};
use crate::tensor::Tensor;
use millstream::engine::graph::op::Known;
use millstream::engine::graph::picture::PictureOptions;
use millstream::engine::graph::{ContextId, ContextKind, Function, NodeId, Port, Within};
use millstream::engine::runtime::QueueRunner;
use millstream::{Op, Output};
use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use pyo3::{PyTraverseError, PyVisit};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The base class of the package's `Graph`, which adds a `__dict__`.
#[pyclass(subclass, weakref, frozen, module = "millstream._engine")]
pub struct Graph {
    graph: millstream::Graph,
    /// True, except while the garbage collector may visit an object allocated by Python but not yet
    /// initialized by Rust (Python 3.11 allocates its `__dict__` at that time): its memory is zero.
    filled: bool,
    /// Source locations of nodes, in the order of the nodes.
    places: Mutex<Vec<Place>>,
    /// The Python objects of nodes and ports.
    handles: Mutex<Handles>,
    /// Items barred from feeding or fetching, in addition to those inside loops and branches.
    barred: Mutex<Barred>,
    /// Whether the package is notified of each new node, e.g. because a device is a function.
    watched: AtomicBool,
    /// Number of nodes whose named gradients have been registered with the engine.
    announced: AtomicUsize,
    /// The running gradient functions, innermost last.
    gradients: Mutex<Vec<StandIns>>,
    /// Number of running gradient functions.
    n_gradients: AtomicUsize,
    /// Whether this is the body of a function that is being built.
    body: AtomicBool,
}

#[derive(Default)]
struct Barred {
    feeds: HashSet<Port>,
    fetches: HashSet<NodeId>,
    /// Ranges of contexts from imported graphs, which do not restrict fetching.
    imported: Vec<(u32, u32)>,
}

impl Graph {
    /// The engine's graph.
    pub fn inner(&self) -> &millstream::BareGraph {
        &self.graph
    }

    /// The output at a port.
    pub fn output(&self, port: Port) -> Output<'_> {
        Output::new(&self.graph, port)
    }

    /// The Python objects of nodes and ports.
    pub fn handles(&self) -> &Mutex<Handles> {
        &self.handles
    }

    /// Notifies the package of new nodes, if it asked for that.
    pub fn made(slf: &Bound<'_, Graph>) -> PyResult<()> {
        match slf.get().watched.load(Relaxed) {
            true => slf.call_method0("_dress").map(drop),
            false => Ok(()),
        }
    }

    /// Whether a node can be fetched: it is not inside a loop or branch, and not barred.
    pub fn is_fetchable(&self, node: NodeId) -> bool {
        match self.graph.read(|g| g.node(node).ok().and_then(|n| n.context)) {
            Some(context) if !self.is_imported(context) => false,
            _ => !self.barred.lock().fetches.contains(&node),
        }
    }

    /// Whether a port can be fed: it is not inside a loop, and not barred.
    pub fn is_feedable(&self, port: Port) -> bool {
        let inside = self.graph.read(|g| g.node(port.node).ok().and_then(|n| g.loop_of(n.context)));
        match inside {
            Some(context) if !self.is_imported(context) => false,
            _ => !self.barred.lock().feeds.contains(&port),
        }
    }

    fn is_imported(&self, context: ContextId) -> bool {
        self.barred.lock().imported.iter().any(|(from, to)| (*from..*to).contains(&context.0))
    }

    /// Runs `import` and records the contexts it creates as imported.
    pub fn importing<R>(&self, import: impl FnOnce() -> R) -> R {
        let count = || self.graph.read(|g| g.contexts().len() as u32);
        let from = count();
        let result = import();
        let to = count();
        if from < to {
            self.barred.lock().imported.push((from, to));
        }
        result
    }

    /// The node with this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.graph.find(name).map(|op| op.id())
    }

    /// The hint for a name that does not exist: the similar names, or nothing.
    fn near(&self, name: &str) -> String {
        match self.graph.read(|data| data.similar(name)).as_slice() {
            [] => String::new(),
            near => format!("\n  help: did you mean {}?", near.join(", ")),
        }
    }

    /// Records the user's current source line as the location of the next nodes.
    pub fn note_place(&self, py: Python<'_>) -> PyResult<()> {
        let from = self.graph.len() as u32;
        if let Some(place) = place::here(py, from)? {
            let mut places = self.places.lock();
            // Usually the last entry, unless other threads add nodes.
            let at = places.iter().rposition(|p| p.from <= from).map_or(0, |i| i + 1);
            match at.checked_sub(1).and_then(|i| places.get_mut(i)).filter(|p| p.from == from) {
                Some(same) => {
                    let old = std::mem::replace(same, place);
                    drop(places);
                    drop(old);
                }
                None => places.insert(at, place),
            }
        }
        Ok(())
    }

    /// The file, line and function of each frame that created a node, innermost first.
    pub fn read_places(&self, py: Python<'_>, node: NodeId) -> PyResult<Vec<(String, i64, String)>> {
        self.place_at(py, node).iter().map(|frame| frame.read(py)).collect()
    }

    /// The location of a node as `file:line`.
    pub fn place_of(&self, py: Python<'_>, node: NodeId) -> Option<String> {
        let (file, line, _) = self.place_at(py, node).first()?.read(py).ok()?;
        Some(format!("{file}:{line}"))
    }

    fn place_at(&self, py: Python<'_>, node: NodeId) -> Vec<place::Frame> {
        let places = self.places.lock();
        let place = places.partition_point(|p| p.from <= node.0).checked_sub(1).and_then(|i| places.get(i));
        place.map_or_else(Vec::new, |p| p.frames.iter().map(|f| f.clone_ref(py)).collect())
    }

    /// The first node not yet seen by [`custom::announce`](crate::custom::announce); marks all nodes as seen.
    pub fn announced_from(&self) -> usize {
        self.announced.swap(self.graph.len(), Relaxed)
    }

    /// Pushes the replacements of a gradient function.
    pub fn begin_gradient(&self, stand_ins: StandIns) {
        self.gradients.lock().push(stand_ins);
        self.n_gradients.fetch_add(1, Relaxed);
    }

    /// Pops the replacements of the innermost gradient function.
    pub fn end_gradient(&self) -> Option<StandIns> {
        self.n_gradients.fetch_sub(1, Relaxed);
        self.gradients.lock().pop()
    }

    /// Whether this is the body of a function that is being built, which takes values of the graph around it.
    pub fn is_body(&self) -> bool {
        self.body.load(Relaxed)
    }

    /// Resolves a tensor used as an input. A body takes the value of a tensor of the graph around it.
    pub fn taken_in(&self, py: Python<'_>, tensor: &Tensor) -> PyResult<Port> {
        let owner = tensor.graph(py).get();
        match owner.graph.same(&self.graph) || !self.is_body() {
            true => self.taken(tensor.port()),
            false => Ok(self.graph.capture(owner.output(tensor.port())).map_err(building)?.port()),
        }
    }

    /// Resolves a value used as an input: in a gradient function, forward values of a loop are replaced.
    pub fn taken(&self, port: Port) -> PyResult<Port> {
        if self.n_gradients.load(Relaxed) == 0 {
            return Ok(port);
        }
        match self.gradients.lock().last_mut() {
            Some(stand_ins) => stand_ins.taken(&self.graph, port).map_err(building),
            None => Ok(port),
        }
    }
}

/// The action on entering a `with` block, which returns its value.
type Enter = Box<dyn FnOnce(&millstream::BareGraph) -> (Within, Option<String>) + Send>;

/// A `with` block of a graph.
#[pyclass(frozen, module = "millstream._engine")]
pub struct Block {
    graph: Py<Graph>,
    state: Mutex<State>,
}

enum State {
    New(Enter),
    Open(#[expect(dead_code, reason = "held until the block is left")] Within),
    Done,
}

impl Block {
    fn new(
        graph: &Bound<'_, Graph>,
        enter: impl FnOnce(&millstream::BareGraph) -> (Within, Option<String>) + Send + 'static,
    ) -> Block {
        Block { graph: graph.clone().unbind(), state: Mutex::new(State::New(Box::new(enter))) }
    }
}

#[pymethods]
impl Block {
    fn __enter__(&self) -> PyResult<Option<String>> {
        let mut state = self.state.lock();
        match std::mem::replace(&mut *state, State::Done) {
            State::New(enter) => {
                let (within, value) = enter(&self.graph.get().graph);
                *state = State::Open(within);
                Ok(value)
            }
            other => {
                *state = other;
                Err(PyRuntimeError::new_err("this context manager has been entered before; create a new one"))
            }
        }
    }

    #[pyo3(signature = (*_why))]
    fn __exit__(&self, _why: &Bound<'_, PyAny>) -> bool {
        let open = std::mem::replace(&mut *self.state.lock(), State::Done);
        drop(open);
        false
    }
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyAny>, _kwargs: Option<&Bound<'_, PyAny>>) -> Graph {
        Graph {
            graph: millstream::Graph::new(),
            filled: true,
            places: Mutex::default(),
            handles: Mutex::default(),
            barred: Mutex::default(),
            watched: AtomicBool::new(false),
            announced: AtomicUsize::new(0),
            gradients: Mutex::default(),
            n_gradients: AtomicUsize::new(0),
            body: AtomicBool::new(false),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if !self.filled {
            return Ok(());
        }
        // If the lock is held, an update is under way: unvisited objects count as referenced.
        let Some(handles) = self.handles.try_lock() else { return Ok(()) };
        handles.visit(&visit)
    }

    fn __clear__(&self) {
        // Dropped after the lock is released: destructors may run Python code.
        let handles = std::mem::take(&mut *self.handles.lock());
        drop(handles);
    }

    /// Number of operations.
    fn __len__(&self) -> usize {
        self.graph.len()
    }

    fn __bool__(&self) -> bool {
        true
    }

    /// A number that changes with every modification of the graph.
    #[getter]
    fn version(&self) -> usize {
        self.graph.len()
    }

    /// The graph as SVG.
    #[pyo3(signature = (limit = None, scope = None))]
    fn _svg(&self, py: Python<'_>, limit: Option<usize>, scope: Option<String>) -> PyResult<String> {
        let limit = limit.unwrap_or_else(|| PictureOptions::default().limit);
        let options = PictureOptions { limit, scope };
        py.detach(|| self.graph.read(|g| millstream::engine::graph::svg(g, &options))).map_err(building)
    }

    /// Makes the graph read-only.
    fn finalize(&self) {
        self.graph.finalize();
    }

    /// Makes this the body of a function within another graph. With `copies`, nodes of that graph whose
    /// values are used are copied; otherwise their values become arguments.
    fn _surround(&self, around: &Bound<'_, Graph>, copies: bool) {
        self.graph.surround(around.get().inner(), copies);
        self.body.store(true, Relaxed);
    }

    /// Whether this is the body of a function that is being built.
    #[getter]
    fn _is_body(&self) -> bool {
        self.is_body()
    }

    /// The tensor of this graph for a tensor of this graph or the one around it.
    fn _captured<'py>(slf: &Bound<'py, Self>, tensor: &Bound<'py, Tensor>) -> PyResult<Bound<'py, Tensor>> {
        let port = slf.get().taken_in(slf.py(), tensor.get())?;
        Tensor::of(slf, port)
    }

    /// Ends the building of the body: a function of `root` with this name. Returns the tensors of the graph
    /// `around` whose values it takes, in the order of the arguments for them, which follow `inputs`.
    fn _define<'py>(
        slf: &Bound<'py, Self>,
        root: &Bound<'py, Graph>,
        around: &Bound<'py, Graph>,
        name: String,
        inputs: Vec<Bound<'py, Tensor>>,
        outputs: Vec<Bound<'py, Tensor>>,
    ) -> PyResult<Vec<Bound<'py, Tensor>>> {
        let share = slf.get();
        let ports = |tensors: &[Bound<'py, Tensor>]| -> Vec<Port> {
            tensors.iter().map(|t| t.get().port()).collect()
        };
        let captured = match share.graph.copies_values() {
            true => Vec::new(),
            false => share.graph.captured(),
        };
        let (mut inputs, outputs) = (ports(&inputs), ports(&outputs));
        inputs.extend(captured.iter().map(|(_, inner)| *inner));
        let function = Function { name, body: (*share.graph).clone(), inputs, outputs };
        root.get().inner().add_function(function).map_err(building)?;
        share.graph.close_body();
        share.body.store(false, Relaxed);
        captured.into_iter().map(|(outer, _)| Tensor::of(around, outer)).collect()
    }

    /// Tells the engine of a queue runner that the package starts with the call `how`.
    fn _announce_runner(
        &self,
        queue: String,
        enqueue_ops: Vec<String>,
        close: String,
        cancel: String,
        how: &str,
    ) {
        QueueRunner::new(queue, enqueue_ops, close, cancel).announce(&self.graph, how);
    }

    fn _unfinalize(&self) {
        self.graph.unfinalize();
    }

    fn _switch_to_thread_local(&self) {
        self.graph.switch_to_thread_local();
    }

    /// Whether `_dress` is called after nodes are created.
    fn _watch(&self, on: bool) {
        self.watched.store(on, Relaxed);
    }

    fn _bar_feed(&self, tensor: &Bound<'_, Tensor>) {
        self.barred.lock().feeds.insert(tensor.get().port());
    }

    fn _bar_fetch(&self, op: &Bound<'_, Operation>) {
        self.barred.lock().fetches.insert(op.get().id());
    }

    fn _may_feed(&self, tensor: &Bound<'_, Tensor>) -> bool {
        self.is_feedable(tensor.get().port())
    }

    fn _may_fetch(slf: &Bound<'_, Self>, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(slf.get().is_fetchable(node_of(slf, item)?))
    }

    fn _set_device(&self, op: &Bound<'_, Operation>, device: &str) -> PyResult<()> {
        self.graph.set_device(Op::new(&self.graph, op.get().id()), device).map_err(building)
    }

    /// Sets an attribute from an encoded `AttrValue`.
    fn _set_attr(&self, op: &Bound<'_, Operation>, name: &str, bytes: &[u8]) -> PyResult<()> {
        let value = crate::interop::attr(bytes)?;
        self.graph.set_attr(Op::new(&self.graph, op.get().id()), name, value).map_err(building)
    }

    /// The number of the current context for new nodes.
    #[getter]
    fn _context(&self) -> Option<u32> {
        self.graph.current_context().map(|id| id.0)
    }

    /// Number of contexts (loops and branches).
    #[getter]
    fn _n_contexts(&self) -> usize {
        self.graph.read(|g| g.contexts().len())
    }

    fn _set_context(&self, context: Option<u32>) -> PyResult<()> {
        let n = self.graph.read(|g| g.contexts().len());
        match context {
            Some(id) if n <= id as usize => {
                Err(PyValueError::new_err(format!("the graph has {n} contexts; there is none numbered {id}")))
            }
            _ => {
                self.graph.set_current_context(context.map(ContextId));
                Ok(())
            }
        }
    }

    /// The contexts from number `from` on, each described by a dict.
    fn _contexts<'py>(slf: &Bound<'py, Self>, from: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let (py, share) = (slf.py(), slf.get());
        let contexts: Vec<_> = share.graph.read(|g| g.contexts().iter().skip(from).cloned().collect());
        let tensor = |port: Option<Port>| port.map(|p| Tensor::of(slf, p)).transpose();
        let tensors =
            |ports: &[Port]| ports.iter().map(|p| Tensor::of(slf, *p)).collect::<PyResult<Vec<_>>>();
        let one =
            |(i, context): (usize, &millstream::engine::graph::Context)| -> PyResult<Bound<'py, PyDict>> {
                let dict = PyDict::new(py);
                dict.set_item("name", &context.name)?;
                dict.set_item("parent", context.parent.map(|p| p.0))?;
                dict.set_item("imported", share.is_imported(ContextId((from + i) as u32)))?;
                match &context.kind {
                    ContextKind::While(w) => {
                        dict.set_item("parallel_iterations", w.parallel_iterations)?;
                        dict.set_item("back_prop", w.back_prop.unwrap_or(true))?;
                        dict.set_item("swap_memory", w.swap_memory.unwrap_or(false))?;
                        dict.set_item("maximum_iterations", tensor(w.maximum_iterations)?)?;
                        dict.set_item("pivot", tensor(w.pivot)?)?;
                        dict.set_item("loop_enters", tensors(&w.enters)?)?;
                        dict.set_item("loop_exits", tensors(&w.exits)?)?;
                    }
                    ContextKind::Cond(c) => {
                        dict.set_item("pred", tensor(Some(c.pred))?)?;
                        dict.set_item("pivot", tensor(c.pivot)?)?;
                        dict.set_item("branch", c.branch)?;
                    }
                }
                Ok(dict)
            };
        contexts.iter().enumerate().map(one).collect()
    }

    /// The handles of variables, created before node number `start`, that later nodes read or write.
    fn _variables_used<'py>(slf: &Bound<'py, Self>, start: usize) -> PyResult<Bound<'py, PyList>> {
        let handles = slf.get().graph.read(|g| {
            let mut handles: Vec<Port> = Vec::new();
            for port in g.nodes()[start.min(g.nodes().len())..].iter().flat_map(|n| n.inputs.iter()) {
                if *port == Port::OPEN
                    || g.type_of(*port).is_ok_and(|ty| ty.dtype != millstream::DType::Resource)
                {
                    continue;
                }
                if let Some(handle) = g.origin(*port)
                    && !handles.contains(&handle)
                    && g.node(handle.node).is_ok_and(|n| n.op() == "VarHandleOp")
                {
                    handles.push(handle);
                }
            }
            handles
        });
        PyList::new(slf.py(), handles.into_iter().map(|h| Tensor::of(slf, h)).collect::<PyResult<Vec<_>>>()?)
    }

    #[getter]
    fn _scope(&self) -> String {
        self.graph.scope()
    }

    #[getter]
    fn _device_now(&self) -> String {
        self.graph.current_device()
    }

    #[getter]
    fn _seed(&self) -> Option<i64> {
        self.graph.seed()
    }

    fn _set_seed(&self, seed: i64) {
        self.graph.set_seed(seed);
    }

    /// Returns a name that is unique in the current scope; with `mark_as_used=False` the name is not
    /// reserved.
    fn _unique_name(&self, name: &str, mark_as_used: bool) -> String {
        match mark_as_used {
            true => self.graph.unique_name(name),
            false => self.graph.free_name(name),
        }
    }

    /// Whether the current context is a loop or branch.
    #[getter]
    fn _in_context(&self) -> bool {
        self.graph.current_context().is_some()
    }

    /// The operations from number `from` on.
    #[pyo3(signature = (from = 0))]
    fn _operations<'py>(slf: &Bound<'py, Self>, from: u32) -> PyResult<Bound<'py, PyList>> {
        let n = slf.get().graph.len() as u32;
        let ops: PyResult<Vec<_>> = (from..n).map(|i| Operation::of(slf, NodeId(i))).collect();
        PyList::new(slf.py(), ops?)
    }

    fn _operation<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, Operation>> {
        let id = slf.get().find(name).ok_or_else(|| {
            let near = slf.get().near(name);
            PyKeyError::new_err(format!("The name '{name}' refers to an Operation not in the graph.{near}"))
        })?;
        Operation::of(slf, id)
    }

    fn _tensor<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, Tensor>> {
        let output = slf.get().graph.output(name);
        let missing = |_| {
            let op = name.rsplit_once(':').map_or(name, |(op, _)| op);
            match slf.get().find(op) {
                None => PyKeyError::new_err(format!(
                    "The name '{name}' refers to a Tensor which does not exist. The operation, '{op}', does not exist in the graph.{}",
                    slf.get().near(op)
                )),
                Some(id) => {
                    let n = Op::new(&slf.get().graph, id).outputs().len();
                    PyKeyError::new_err(format!(
                        "The name '{name}' refers to a Tensor which does not exist. The operation, '{op}', exists but only has {n} outputs."
                    ))
                }
            }
        };
        Tensor::of(slf, output.map_err(missing)?.port())
    }

    /// The graph as an encoded `GraphDef`.
    #[pyo3(signature = (add_shapes = false))]
    fn _graph_def<'py>(&self, py: Python<'py>, add_shapes: bool) -> PyResult<Bound<'py, PyBytes>> {
        let mut def = millstream::engine::interop::export_graph_def(&self.graph).map_err(building)?;
        if add_shapes {
            millstream::engine::interop::add_output_shapes(&mut def, &self.graph);
        }
        Ok(PyBytes::new(py, &millstream::engine::interop::proto::encode(&def)))
    }

    /// The graph and its collections as an encoded `MetaGraphDef`.
    fn _meta_graph_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let def = millstream::engine::interop::export_meta_graph(&self.graph).map_err(building)?;
        Ok(PyBytes::new(py, &millstream::engine::interop::proto::encode(&def)))
    }

    /// The value of a tensor if it is constant, otherwise None.
    fn _known_value<'py>(
        &self,
        py: Python<'py>,
        tensor: &Bound<'py, Tensor>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let known = self.graph.read(|g| match g.known(tensor.get().port()) {
            Some(Known::Value(value)) => Some(value.clone()),
            _ => None,
        });
        known.map(|value| crate::array::to_python(py, value)).transpose()
    }

    fn _name_scope(slf: &Bound<'_, Self>, name: String) -> Block {
        Block::new(slf, move |g| {
            let within = g.enter_name_scope(&name);
            let scope = g.scope();
            (within, Some(scope))
        })
    }

    /// A name scope with exactly this name; empty for the root.
    fn _exact_scope(slf: &Bound<'_, Self>, scope: String) -> Block {
        Block::new(slf, move |g| (g.enter_scope(scope.clone()), Some(scope)))
    }

    fn _control_dependencies(slf: &Bound<'_, Self>, ops: Vec<Bound<'_, PyAny>>) -> PyResult<Block> {
        let ids = ops.iter().map(|op| node_of(slf, op)).collect::<PyResult<Vec<_>>>()?;
        Ok(Block::new(slf, move |g| {
            let ops: Vec<Op<'_>> = ids.iter().map(|id| Op::new(g, *id)).collect();
            (g.enter_control_dependencies(&ops), None)
        }))
    }

    fn _without_control(slf: &Bound<'_, Self>) -> Block {
        Block::new(slf, |g| (g.enter_without_control(), None))
    }

    fn _device(slf: &Bound<'_, Self>, device: String) -> Block {
        Block::new(slf, move |g| (g.enter_device(&device), None))
    }

    fn _container(slf: &Bound<'_, Self>, container: String) -> Block {
        Block::new(slf, move |g| (g.enter_container(&container), None))
    }

    fn _gradient_override(slf: &Bound<'_, Self>, map: Vec<(String, String)>) -> Block {
        Block::new(slf, move |g| (g.enter_gradient_override(map), None))
    }

    #[pyo3(signature = (op, ignore_existing))]
    fn _colocation(
        slf: &Bound<'_, Self>,
        op: Option<Bound<'_, PyAny>>,
        ignore_existing: bool,
    ) -> PyResult<Block> {
        let id = op.map(|op| node_of(slf, &op)).transpose()?;
        Ok(Block::new(slf, move |g| (g.enter_colocation(id.map(|id| Op::new(g, id)), ignore_existing), None)))
    }

    fn _add_control_input(&self, op: &Bound<'_, Operation>, before: &Bound<'_, Operation>) -> PyResult<()> {
        let (op, before) = (Op::new(&self.graph, op.get().id()), Op::new(&self.graph, before.get().id()));
        self.graph.add_control_input(op, before).map_err(building)
    }

    /// Closes the back edge of a manually built loop.
    fn _close_back_edge(&self, merge: &Bound<'_, Operation>, value: &Bound<'_, Tensor>) -> PyResult<()> {
        let merge = Op::new(&self.graph, merge.get().id());
        self.graph.close_back_edge(merge, self.output(value.get().port())).map_err(building)
    }
}

/// The node of a tensor or operation of this graph.
pub fn node_of(graph: &Bound<'_, Graph>, item: &Bound<'_, PyAny>) -> PyResult<NodeId> {
    let (id, owner) = match (item.cast::<Operation>(), item.cast::<Tensor>()) {
        (Ok(op), _) => (op.get().id(), op.get().graph(item.py())),
        (_, Ok(tensor)) => (tensor.get().port().node, tensor.get().graph(item.py())),
        _ => {
            return Err(PyTypeError::new_err(format!(
                "Can not convert a {} into a Tensor or Operation.",
                item.get_type().name()?
            )));
        }
    };
    match owner.get().graph.same(&graph.get().graph) {
        true => Ok(id),
        false => {
            let kind = if item.is_instance_of::<Operation>() { "Operation" } else { "Tensor" };
            Err(PyValueError::new_err(format!("{kind} {} is not an element of this graph.", item.str()?)))
        }
    }
}
