//! `Graph`: a share of an engine's graph, with what only Python keeps of it, and its `with` blocks.

use crate::errors::building;
use crate::place::{self, Place};
use crate::tensor::{Operation, Tensor};
use millstream::graph::op::Known;
use millstream::graph::picture::PictureOptions;
use millstream::graph::{NodeId, Port, Within};
use millstream::{Build, Op, Output};
use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

/// A graph; the package's `Graph` is a class of this one.
#[pyclass(subclass, weakref, dict, frozen, module = "millstream._engine")]
pub struct Graph {
    graph: millstream::Graph,
    /// Where nodes were made, in the order of the nodes.
    places: Mutex<Vec<Place>>,
}

impl Graph {
    /// The engine's graph.
    pub fn inner(&self) -> &millstream::Graph {
        &self.graph
    }

    /// The output at a port.
    pub fn output(&self, port: Port) -> Output<'_> {
        Output::new(&self.graph, port)
    }

    /// The node with this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.graph.operation(name).ok().map(|op| op.id())
    }

    /// Nodes made from now on are of the user's line that is running.
    pub fn note_place(&self, py: Python<'_>) -> PyResult<()> {
        let from = self.graph.len() as u32;
        if let Some(place) = place::here(py, from)? {
            let mut places = self.places.lock();
            match places.last_mut() {
                Some(last) if last.from == from => *last = place,
                _ => places.push(place),
            }
        }
        Ok(())
    }

    /// The file, line and function that made a node.
    pub fn read_place(&self, py: Python<'_>, node: NodeId) -> Option<(String, i64, String)> {
        let places = self.places.lock();
        let next = places.partition_point(|p| p.from <= node.0);
        places.get(next.checked_sub(1)?)?.read(py).ok()
    }

    /// `file:line`.
    pub fn place_of(&self, py: Python<'_>, node: NodeId) -> Option<String> {
        self.read_place(py, node).map(|(file, line, _)| format!("{file}:{line}"))
    }
}

/// What a `with` block does when it is entered, and the value that it gives.
type Enter = Box<dyn FnOnce(&millstream::Graph) -> (Within, Option<String>) + Send>;

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
        enter: impl FnOnce(&millstream::Graph) -> (Within, Option<String>) + Send + 'static,
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
                Err(PyRuntimeError::new_err("this block has been entered before; make a new one"))
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
        Graph { graph: millstream::Graph::new(), places: Mutex::default() }
    }

    /// How many operations there are.
    fn __len__(&self) -> usize {
        self.graph.len()
    }

    fn __bool__(&self) -> bool {
        true
    }

    /// Changes whenever the graph does.
    #[getter]
    fn version(&self) -> usize {
        self.graph.len()
    }

    /// The picture.
    #[pyo3(signature = (limit = None, scope = None))]
    fn _svg(&self, py: Python<'_>, limit: Option<usize>, scope: Option<String>) -> PyResult<String> {
        let limit = limit.unwrap_or_else(|| PictureOptions::default().limit);
        let options = PictureOptions { limit, scope };
        py.detach(|| self.graph.read(|g| millstream::graph::svg(g, &options))).map_err(building)
    }

    /// From here on adding an operation is an error.
    fn finalize(&self) {
        self.graph.finalize();
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

    /// A name in the current scope that nobody else gets; with `mark_as_used=False` the one that would be given.
    fn _unique_name(&self, name: &str) -> String {
        self.graph.unique_name(name)
    }

    /// Whether the graph is in the middle of a loop or branch.
    #[getter]
    fn _in_context(&self) -> bool {
        self.graph.current_context().is_some()
    }

    fn _operations<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let n = slf.get().graph.len() as u32;
        let ops: PyResult<Vec<_>> = (0..n).map(|i| Operation::of(slf, NodeId(i))).collect();
        PyList::new(slf.py(), ops?)
    }

    fn _operation<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, Operation>> {
        let id = slf.get().find(name).ok_or_else(|| {
            PyKeyError::new_err(format!("The name '{name}' refers to an Operation not in the graph."))
        })?;
        Operation::of(slf, id)
    }

    fn _tensor<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, Tensor>> {
        let output = slf.get().graph.output(name);
        let missing = |_| {
            let op = name.rsplit_once(':').map_or(name, |(op, _)| op);
            match slf.get().find(op) {
                None => PyKeyError::new_err(format!(
                    "The name '{name}' refers to a Tensor which does not exist. The operation, '{op}', does not exist in the graph."
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
        let mut def = millstream::interop::export_graph_def(&self.graph).map_err(building)?;
        if add_shapes {
            millstream::interop::add_output_shapes(&mut def, &self.graph);
        }
        Ok(PyBytes::new(py, &millstream::interop::proto::encode(&def)))
    }

    /// The graph's collections and all, as an encoded `MetaGraphDef`.
    fn _meta_graph_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let def = millstream::interop::export_meta_graph(&self.graph).map_err(building)?;
        Ok(PyBytes::new(py, &millstream::interop::proto::encode(&def)))
    }

    /// The value of a tensor, if it is known without running anything; None if not.
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

    /// A scope with exactly this name, empty for none.
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

    fn _attr<'py>(slf: &Bound<'py, Self>, name: String, value: &Bound<'py, PyAny>) -> PyResult<Block> {
        use millstream::graph::op::AttrKind;
        let kind = match value {
            v if v.is_instance_of::<pyo3::types::PyBool>() => AttrKind::Bool,
            v if v.is_instance_of::<pyo3::types::PyInt>() => AttrKind::Int(i64::MIN),
            v if v.is_instance_of::<pyo3::types::PyFloat>() => AttrKind::Float,
            v if v.is_instance_of::<PyList>() => AttrKind::StrList,
            _ => AttrKind::Str(&[]),
        };
        let value = crate::attr::of_python(&name, kind, value)?;
        Ok(Block::new(slf, move |g| (g.enter_attr(name, value), None)))
    }

    fn _add_control_input(&self, op: &Bound<'_, Operation>, before: &Bound<'_, Operation>) -> PyResult<()> {
        let (op, before) = (Op::new(&self.graph, op.get().id()), Op::new(&self.graph, before.get().id()));
        self.graph.add_control_input(op, before).map_err(building)
    }

    /// Makes the back edge of a hand-made loop.
    fn _close_back_edge(&self, merge: &Bound<'_, Operation>, value: &Bound<'_, Tensor>) -> PyResult<()> {
        let merge = Op::new(&self.graph, merge.get().id());
        self.graph.close_back_edge(merge, self.output(value.get().port())).map_err(building)
    }
}

/// The node that a tensor or operation of this graph stands for.
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
            let name = item.getattr("name")?.cast_into::<PyString>()?;
            Err(PyValueError::new_err(format!("{name} is not an element of this graph.")))
        }
    }
}
