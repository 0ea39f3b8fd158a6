//! `Tensor` and `Operation`: handles to a port and a node, which keep their graph alive.

use crate::dtypes::{dtype_object, shape_object, shape_of};
use crate::errors::building;
use crate::graph::{Graph, Handles};
use crate::op;
use crate::stack;
use crate::views::html_rows;
use millstream::graph::{NodeId, Port};
use millstream::{Op, Output};
use parking_lot::Mutex;
use pyo3::exceptions::{PyAttributeError, PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A value of a graph: an output of one of its operations.
#[pyclass(frozen, weakref, subclass, module = "millstream")]
pub struct Tensor {
    graph: Py<Graph>,
    port: Port,
    attributes: Attributes,
}

/// An operation of a graph.
#[pyclass(frozen, weakref, module = "millstream")]
pub struct Operation {
    graph: Py<Graph>,
    id: NodeId,
    attributes: Attributes,
}

/// The attributes that programs give an object. They are no `__dict__` of the class's making because the garbage collector must see them:
/// they may lead back to the graph, which holds the object.
#[derive(Default)]
struct Attributes(Mutex<Option<Py<PyDict>>>);

impl Attributes {
    fn dict<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        if let Some(dict) = &*self.0.lock() {
            return dict.bind(py).clone();
        }
        // Made without the lock: who waits for it must never wait for Python.
        let made = PyDict::new(py).unbind();
        self.0.lock().get_or_insert(made).bind(py).clone()
    }

    fn get<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let dict = self.0.lock().as_ref().map(|d| d.bind(py).clone());
        dict.map_or(Ok(None), |dict| dict.get_item(name))
    }

    /// Sets an attribute, unless the class has a property of the name; None takes it away.
    fn set(&self, object: &Bound<'_, PyAny>, name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let py = object.py();
        if let Ok(found) = object.get_type().getattr(name)
            && found.get_type().hasattr("__set__")?
        {
            return Err(PyAttributeError::new_err(format!("can't set attribute '{name}'")));
        }
        match value {
            Some(value) => self.dict(py).set_item(name, value),
            None => self.dict(py).del_item(name).map_err(|_| missing(object, name)),
        }
    }

    fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.try_lock().map_or(Ok(()), |dict| visit.call(&*dict))
    }

    fn clear(&self) {
        let dict = self.0.lock().take();
        drop(dict);
    }
}

fn missing(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let class = object.get_type().name().map_or_else(|_| "object".into(), |n| n.to_string());
    PyAttributeError::new_err(format!("'{class}' object has no attribute '{name}'"))
}

impl Tensor {
    /// The object for an output.
    pub fn of<'py>(graph: &Bound<'py, Graph>, port: Port) -> PyResult<Bound<'py, Tensor>> {
        let (py, index) = (graph.py(), port.node.index());
        let first = port.index == 0;
        let known = |handles: &Handles| match first {
            true => handles.firsts.get(index).and_then(Option::as_ref).map(|t| t.clone_ref(py)),
            false => handles.others.get(&port).map(|t| t.clone_ref(py)),
        };
        let handles = graph.get().handles();
        if let Some(tensor) = known(&handles.lock()) {
            return Ok(tensor.into_bound(py));
        }
        // Made without the lock: that may run the garbage collector, which asks for it.
        let tensor = Tensor { graph: graph.clone().unbind(), port, attributes: Attributes::default() };
        let made = Bound::new(py, tensor)?;
        let mut handles = handles.lock();
        if let Some(tensor) = known(&handles) {
            drop(handles);
            return Ok(tensor.into_bound(py));
        }
        let kept = made.clone().unbind();
        if !first {
            handles.others.insert(port, kept);
        } else if port.node.0 != u32::MAX {
            keep(&mut handles.firsts, index, kept);
        }
        Ok(made)
    }

    /// The port.
    pub fn port(&self) -> Port {
        self.port
    }

    /// The graph.
    pub fn graph<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, Graph> {
        self.graph.bind(py)
    }
}

impl Operation {
    /// The object for a node.
    pub fn of<'py>(graph: &Bound<'py, Graph>, id: NodeId) -> PyResult<Bound<'py, Operation>> {
        let py = graph.py();
        let known = |handles: &Handles| {
            handles.ops.get(id.index()).and_then(Option::as_ref).map(|op| op.clone_ref(py))
        };
        let handles = graph.get().handles();
        if let Some(op) = known(&handles.lock()) {
            return Ok(op.into_bound(py));
        }
        let op = Operation { graph: graph.clone().unbind(), id, attributes: Attributes::default() };
        let made = Bound::new(py, op)?;
        let mut handles = handles.lock();
        if let Some(op) = known(&handles) {
            drop(handles);
            return Ok(op.into_bound(py));
        }
        if id.0 != u32::MAX {
            keep(&mut handles.ops, id.index(), made.clone().unbind());
        }
        Ok(made)
    }

    /// The node.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The graph.
    pub fn graph<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, Graph> {
        self.graph.bind(py)
    }

    fn op(&self) -> Op<'_> {
        Op::new(self.graph.get().inner(), self.id)
    }
}

fn keep<T>(list: &mut Vec<Option<Py<T>>>, index: usize, object: Py<T>) {
    if list.len() <= index {
        list.resize_with(index + 1, || None);
    }
    list[index] = Some(object);
}

/// `x <op> y`, for an operator that is one op; the other side becomes a tensor of this one's dtype.
fn operate<'py>(
    slf: &Bound<'py, Tensor>,
    op: &'static str,
    name: &str,
    other: &Bound<'py, PyAny>,
    reverse: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let args = match reverse {
        false => [slf.as_any().clone(), other.clone()],
        true => [other.clone(), slf.as_any().clone()],
    };
    let [x, y] = args;
    op::operator(slf, op, name, x, y, usize::from(!reverse))
}

/// An operator that takes more than one op, which the package writes out.
fn compose<'py>(
    slf: &Bound<'py, Tensor>,
    name: &str,
    other: &Bound<'py, PyAny>,
    reverse: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    stack::hooks(py)?.operate.bind(py).call1((name, slf, other, reverse))
}

fn single<'py>(slf: &Bound<'py, Tensor>, op: &'static str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    op::unary(slf, op, name)
}

#[pymethods]
impl Tensor {
    #[classattr]
    fn __array_priority__() -> i32 {
        100
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)?;
        self.attributes.visit(&visit)
    }

    fn __clear__(&self) {
        self.attributes.clear();
    }

    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        slf.get().attributes.get(slf.py(), name)?.ok_or_else(|| missing(slf, name))
    }

    fn __setattr__(slf: &Bound<'_, Self>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        slf.get().attributes.set(slf, name, Some(value))
    }

    fn __delattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<()> {
        slf.get().attributes.set(slf, name, None)
    }

    /// The attributes that programs gave it.
    #[getter]
    fn __dict__<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.attributes.dict(py)
    }

    /// The operation that gives this tensor.
    #[getter(op)]
    fn op_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Operation>> {
        Operation::of(slf.get().graph(slf.py()), slf.get().port.node)
    }

    /// The name, `node:0`.
    #[getter]
    fn name(&self) -> String {
        self.graph.get().output(self.port).name()
    }

    /// The element type.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ty = self.graph.get().inner().read(|g| g.type_of(self.port)).map_err(building)?;
        dtype_object(py, ty)
    }

    /// What is known of the shape.
    #[getter(shape)]
    fn static_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shape_object(py, &self.graph.get().output(self.port).shape())
    }

    /// What is known of the shape.
    #[pyo3(name = "get_shape")]
    fn shape_now<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.static_shape(py)
    }

    fn _rank(&self) -> Option<usize> {
        self.graph.get().output(self.port).shape().dims().map(<[_]>::len)
    }

    fn __len__(&self) -> PyResult<usize> {
        Err(PyTypeError::new_err(format!(
            "len is not well defined for symbolic Tensors. ({}) Please call `x.shape` rather than `len(x)` for shape information.",
            self.name()
        )))
    }

    fn _shape_as_list(&self) -> Option<Vec<Option<usize>>> {
        self.graph.get().output(self.port).shape().dims().map(<[_]>::to_vec)
    }

    /// Refines what is known of the shape.
    fn set_shape(&self, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(dims) = shape.extract::<Vec<i64>>()
            && let Some(d) = dims.iter().find(|d| **d < 0)
        {
            return Err(PyValueError::new_err(format!("Dimension {d} must be >= 0: an unknown one is None")));
        }
        let (graph, shape) = (self.graph.get(), shape_of(shape)?);
        let old = graph.output(self.port).shape();
        if old.merge(&shape).is_none() {
            return Err(PyValueError::new_err(do_not_merge(&old, &shape, &self.name())));
        }
        graph.output(self.port).set_shape(shape);
        graph.inner().check().map_err(building)
    }

    /// Which of its operation's outputs it is.
    #[getter]
    fn value_index(&self) -> u32 {
        self.port.index
    }

    /// The graph.
    #[getter(graph)]
    fn graph_(&self, py: Python<'_>) -> Py<Graph> {
        self.graph.clone_ref(py)
    }

    /// The device that its operation asks for.
    #[getter]
    fn device(&self) -> String {
        device(&self.graph, self.port.node)
    }

    /// The operations that take it.
    fn consumers<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let (graph, port) = (slf.get().graph(slf.py()), slf.get().port);
        // Once for each input that it is.
        let takers: Vec<NodeId> = graph.get().inner().read(|g| {
            let nodes = g.nodes().iter().enumerate();
            let times = |n: &millstream::graph::Node| n.inputs.iter().filter(|p| **p == port).count();
            nodes.flat_map(|(i, n)| std::iter::repeat_n(NodeId(i as u32), times(n))).collect()
        });
        let ops: PyResult<Vec<_>> = takers.into_iter().map(|id| Operation::of(graph, id)).collect();
        PyList::new(slf.py(), ops?)
    }

    /// Its value, run in this session or the default one.
    #[pyo3(signature = (feed_dict = None, session = None))]
    fn eval<'py>(
        slf: &Bound<'py, Self>,
        feed_dict: Option<Bound<'py, PyAny>>,
        session: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let graph = slf.get().graph(py);
        let session = match session {
            Some(session) => of_graph(
                session,
                graph,
                "Cannot use the given session to evaluate tensor: the tensor's graph is different from the session's graph.",
            )?,
            None => of_graph(
                default_session(
                    py,
                    "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` or pass an explicit session to `eval(session=sess)`",
                )?,
                graph,
                "Cannot use the default session to evaluate tensor: the tensor's graph is different from the session's graph. Pass an explicit session to `eval(session=sess)`.",
            )?,
        };
        session.call_method1("run", (slf, feed_dict))
    }

    fn __hash__(&self) -> u64 {
        hash((self.graph.as_ptr().addr(), self.port))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Tensor>().is_ok_and(|o| o.get().port == self.port && o.get().graph.is(&self.graph))
    }

    fn __ne__(&self, other: &Bound<'_, PyAny>) -> bool {
        !self.__eq__(other)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let dtype = self.dtype(py)?.getattr("name")?;
        Ok(format!("<tf.Tensor '{}' shape={} dtype={dtype}>", self.name(), self.static_shape(py)?))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = self.static_shape(py)?;
        let known = !shape.getattr("ndims")?.is_none();
        let shape = if known { format!(", shape={shape}") } else { String::new() };
        let device =
            Some(self.device()).filter(|d| !d.is_empty()).map_or(String::new(), |d| format!(", device={d}"));
        let dtype = self.dtype(py)?.getattr("name")?;
        Ok(format!("Tensor(\"{}\"{shape}, dtype={dtype}{device})", self.name()))
    }

    /// The same as a table, with the line that made it.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let graph = self.graph.get();
        let (op, node) = (graph.inner().read(|g| g.node(self.port.node).map(|n| n.op())), self.port.node);
        let mut rows = vec![
            ("tensor", self.name()),
            ("op", op.map_err(building)?.to_owned()),
            ("shape", self.static_shape(py)?.to_string()),
            ("dtype", self.dtype(py)?.getattr("name")?.to_string()),
        ];
        rows.extend(graph.place_of(py, node).map(|place| ("made at", place)));
        Ok(html_rows(&rows))
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Err(not_in_a_graph(
            py,
            "using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution. Use Eager execution or decorate this function with @tf.function.",
        ))
    }

    fn __contains__(&self, py: Python<'_>, _item: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.__iter__(py).map(|_| false)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Err(not_in_a_graph(
            py,
            "iterating over `tf.Tensor` is not allowed in Graph execution. Use Eager execution or decorate this function with @tf.function.",
        ))
    }

    #[pyo3(signature = (*_args, **_kwargs))]
    fn __array__(
        &self,
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        Err(PyNotImplementedError::new_err(format!(
            "Cannot convert a symbolic Tensor ({}) to a numpy array.",
            self.name()
        )))
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        stack::hooks(slf.py())?.getitem.bind(slf.py()).call1((slf, key))
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let string =
            slf.get().graph.get().output(slf.get().port).dtype().is_ok_and(|d| d == millstream::DType::Str);
        operate(slf, if string { "Add" } else { "AddV2" }, "add", other, false)
    }
    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let string =
            slf.get().graph.get().output(slf.get().port).dtype().is_ok_and(|d| d == millstream::DType::Str);
        operate(slf, if string { "Add" } else { "AddV2" }, "add", other, true)
    }
    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "Sub", "sub", other, false)
    }
    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "Sub", "sub", other, true)
    }
    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "Mul", "mul", other, false)
    }
    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "Mul", "mul", other, true)
    }
    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "FloorMod", "mod", other, false)
    }
    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "FloorMod", "mod", other, true)
    }
    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "FloorDiv", "floordiv", other, false)
    }
    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "FloorDiv", "floordiv", other, true)
    }
    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "truediv", other, false)
    }
    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "truediv", other, true)
    }
    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "matmul", other, false)
    }
    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "matmul", other, true)
    }
    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        modulo: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match modulo {
            Some(_) => Err(PyTypeError::new_err("pow() with a modulus is not defined for a Tensor")),
            None => operate(slf, "Pow", "pow", other, false),
        }
    }
    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "Pow", "pow", other, true)
    }
    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "LogicalAnd", "and", other, false)
    }
    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "LogicalAnd", "and", other, true)
    }
    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "LogicalOr", "or", other, false)
    }
    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "LogicalOr", "or", other, true)
    }
    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "xor", other, false)
    }
    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "xor", other, true)
    }
    fn __lt__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "Less", "Less", other, false)
    }
    fn __le__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "LessEqual", "LessEqual", other, false)
    }
    fn __gt__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "Greater", "Greater", other, false)
    }
    fn __ge__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate(slf, "GreaterEqual", "GreaterEqual", other, false)
    }
    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        single(slf, "Neg", "Neg")
    }
    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        single(slf, "LogicalNot", "LogicalNot")
    }
    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "abs", slf.as_any(), false)
    }
}

#[pymethods]
impl Operation {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.graph)?;
        self.attributes.visit(&visit)
    }

    fn __clear__(&self) {
        self.attributes.clear();
    }

    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().attributes.get(slf.py(), name)? {
            Some(value) => Ok(value),
            None if name == "_original_op" => Ok(slf.py().None().into_bound(slf.py())),
            None => Err(missing(slf, name)),
        }
    }

    fn __setattr__(slf: &Bound<'_, Self>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        slf.get().attributes.set(slf, name, Some(value))
    }

    fn __delattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<()> {
        slf.get().attributes.set(slf, name, None)
    }

    /// The attributes that programs gave it.
    #[getter]
    fn __dict__<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.attributes.dict(py)
    }

    /// The name.
    #[getter]
    fn name(&self) -> String {
        self.op().name()
    }

    /// The op type.
    #[getter(r#type)]
    fn type_(&self) -> &'static str {
        self.op().op_type()
    }

    /// The graph.
    #[getter(graph)]
    fn graph_(&self, py: Python<'_>) -> Py<Graph> {
        self.graph.clone_ref(py)
    }

    /// Its number in the graph, from 1.
    #[getter]
    fn _id(&self) -> u32 {
        self.id.0 + 1
    }

    /// The loop or branch that it lies in, by its number.
    #[getter]
    fn _context(&self) -> Option<u32> {
        self.graph.get().inner().read(|g| g.node(self.id).ok().and_then(|n| n.context)).map(|c| c.0)
    }

    /// The loop or branch that it lies in.
    fn _get_control_flow_context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.graph.bind(py).call_method1("_context_object", (self._context(),))
    }

    /// The loop or branch that it lies in.
    #[getter]
    fn _control_flow_context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self._get_control_flow_context(py)
    }

    /// Its values.
    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        Ok(Self::outputs(slf)?.to_tuple())
    }

    /// What the op takes and gives, as an `OpDef`.
    #[getter]
    fn op_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = py.import("millstream.protos")?.getattr("OpDef")?;
        class.call_method1("FromString", (crate::interop::op_def(py, self.type_())?,))
    }

    /// Asks for another device: a name or a `DeviceSpec`.
    fn _set_device(slf: &Bound<'_, Self>, device: &Bound<'_, PyAny>) -> PyResult<()> {
        let name: String = match device.hasattr("to_string")? {
            true => device.call_method0("to_string")?.extract()?,
            false if device.is_none() => String::new(),
            false => device.extract()?,
        };
        let graph = slf.get().graph(slf.py()).get();
        graph.inner().set_device(Op::new(graph.inner(), slf.get().id), &name).map_err(building)
    }

    /// Sets an attribute: an `AttrValue`.
    fn _set_attr(slf: &Bound<'_, Self>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes: Vec<u8> = value.call_method0("SerializeToString")?.extract()?;
        slf.get()
            .graph(slf.py())
            .call_method1("_set_attr", (slf, name, PyBytes::new(slf.py(), &bytes)))
            .map(drop)
    }

    /// Adds control inputs.
    fn _add_control_inputs(slf: &Bound<'_, Self>, ops: Vec<Bound<'_, Operation>>) -> PyResult<()> {
        ops.iter().try_for_each(|op| Self::_add_control_input(slf, op))
    }

    /// The device that it asks for.
    #[getter]
    fn device(&self) -> String {
        device(&self.graph, self.id)
    }

    /// Its values.
    #[getter]
    fn outputs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let graph = slf.get().graph(slf.py());
        let outputs = slf.get().op().outputs();
        PyList::new(
            slf.py(),
            outputs.iter().map(|o| Tensor::of(graph, o.port())).collect::<PyResult<Vec<_>>>()?,
        )
    }

    /// What it takes.
    #[getter]
    fn inputs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let graph = slf.get().graph(slf.py());
        let inputs = slf.get().op().inputs().into_iter().filter(|o| o.port() != Port::OPEN);
        PyList::new(slf.py(), inputs.map(|o| Tensor::of(graph, o.port())).collect::<PyResult<Vec<_>>>()?)
    }

    /// What runs before it because of control edges.
    #[getter]
    fn control_inputs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let graph = slf.get().graph(slf.py());
        let ops = slf.get().op().control_inputs();
        PyList::new(slf.py(), ops.iter().map(|o| Operation::of(graph, o.id())).collect::<PyResult<Vec<_>>>()?)
    }

    /// The value of an attribute.
    fn get_attr<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let attr =
            self.graph.get().inner().read(|g| g.node(self.id).map(|n| n.info.attrs.get(name).cloned()));
        let attr = attr.map_err(building)?.ok_or_else(|| {
            PyValueError::new_err(format!("Operation '{}' has no attr named '{name}'.", self.name()))
        })?;
        if crate::attr::is_message(&attr) {
            // As TensorFlow gives shapes and tensors: as their messages.
            let from = py.import("millstream.protos")?.getattr("_attr_message")?;
            return from.call1((self.node_def(py)?, name));
        }
        crate::attr::to_python(py, &attr)
    }

    /// The names of all attributes.
    fn _attr_names(&self) -> PyResult<Vec<String>> {
        let graph = self.graph.get().inner();
        let names = graph.read(|g| {
            g.node(self.id).map(|n| n.info.attrs.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>())
        });
        names.map_err(building)
    }

    /// The node as an encoded `NodeDef`.
    fn _node_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = crate::interop::node_def(self.graph.get().inner(), self.id).map_err(building)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Where it was made: frames as `(file, line, function, text)`, the innermost one last. They are those of the user's code; of calls inside each
    /// other the innermost eight.
    #[getter]
    fn traceback<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let frames = self.graph.get().read_places(py, self.id)?;
        let frames = frames.into_iter().rev().map(|(file, line, function)| -> PyResult<_> {
            let text =
                py.import("linecache")?.call_method1("getline", (&file, line))?.call_method0("strip")?;
            (file, line, function, text).into_pyobject(py)
        });
        PyList::new(py, frames.collect::<PyResult<Vec<_>>>()?)
    }

    fn __hash__(&self) -> u64 {
        hash((self.graph.as_ptr().addr(), self.id))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Operation>().is_ok_and(|o| o.get().id == self.id && o.get().graph.is(&self.graph))
    }

    fn __repr__(&self) -> String {
        format!("<tf.Operation '{}' type={}>", self.name(), self.type_())
    }

    /// The same as a table, with what it takes and gives, and the line that made it.
    fn _repr_html_(&self, py: Python<'_>) -> String {
        let op = self.op();
        let names = |list: Vec<Output<'_>>| list.iter().map(Output::name).collect::<Vec<_>>().join(", ");
        let inputs = op.inputs().into_iter().filter(|o| o.port() != Port::OPEN).collect();
        let mut rows = vec![
            ("operation", self.name()),
            ("type", self.type_().to_owned()),
            ("inputs", names(inputs)),
            ("outputs", names(op.outputs())),
        ];
        rows.extend(self.graph.get().place_of(py, self.id).map(|place| ("made at", place)));
        html_rows(&rows)
    }

    /// The node in the text form of a `NodeDef`.
    fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let format = slf.py().import("google.protobuf.text_format")?;
        format.call_method1("MessageToString", (slf.getattr("node_def")?,))?.extract()
    }

    /// The node as a `NodeDef`.
    #[getter]
    fn node_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = py.import("millstream.protos")?.getattr("NodeDef")?;
        class.call_method1("FromString", (self._node_def(py)?,))
    }

    /// Runs it in this session or the default one.
    #[pyo3(signature = (feed_dict = None, session = None))]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        feed_dict: Option<Bound<'py, PyAny>>,
        session: Option<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let py = slf.py();
        let graph = slf.get().graph(py);
        let session = match session {
            Some(session) => of_graph(
                session,
                graph,
                "Cannot use the given session to execute operation: the operation's graph is different from the session's graph.",
            )?,
            None => of_graph(
                default_session(
                    py,
                    "Cannot execute operation using `run()`: No default session is registered. Use `with sess.as_default():` or pass an explicit session to `run(session=sess)`",
                )?,
                graph,
                "Cannot use the default session to execute operation: the operation's graph is different from the session's graph. Pass an explicit session to run(session=sess).",
            )?,
        };
        session.call_method1("run", (slf, feed_dict)).map(drop)
    }

    /// Takes all its control inputs away.
    fn _remove_all_control_inputs(slf: &Bound<'_, Self>) -> PyResult<()> {
        let graph = slf.get().graph(slf.py()).get().inner();
        graph.remove_control_inputs(slf.get().op()).map_err(building)
    }

    /// Makes input `index` come from another tensor; of a `Merge`, the back edge of a hand-made loop.
    fn _update_input(slf: &Bound<'_, Self>, index: usize, tensor: &Bound<'_, Tensor>) -> PyResult<()> {
        let graph = slf.get().graph(slf.py());
        if !tensor.get().graph.is(graph) {
            return Err(PyValueError::new_err(format!(
                "{} must be from the same graph as {}.",
                tensor.str()?,
                slf.str()?
            )));
        }
        let (op, port) = (slf.get().op(), tensor.get().port);
        let n = op.inputs().len();
        if n <= index {
            let class = slf.py().import("millstream.errors")?.getattr("OutOfRangeError")?;
            let text = format!(
                "Cannot update edge. Input index [{index}] is greater than the number of total inputs [{n}]."
            );
            return Err(PyErr::from_value(class.call1((slf.py().None(), slf.py().None(), text))?));
        }
        graph.get().inner().update_input(op, index, graph.get().output(port)).map_err(building)
    }

    /// Adds a control input.
    fn _add_control_input(slf: &Bound<'_, Self>, op: &Bound<'_, Operation>) -> PyResult<()> {
        let graph = slf.get().graph(slf.py()).get().inner();
        graph.add_control_input(slf.get().op(), Op::new(graph, op.get().id)).map_err(building)
    }

    /// The groups of operations that it says it belongs to.
    fn colocation_groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.get_attr(py, "_class") {
            Ok(groups) => Ok(groups),
            Err(_) => {
                Ok(PyList::new(py, [PyBytes::new(py, format!("loc:@{}", self.name()).as_bytes())])?
                    .into_any())
            }
        }
    }
}

/// What is said of two shapes of one tensor: TensorFlow's sentence, and which tensor.
fn do_not_merge(old: &millstream::PartialShape, new: &millstream::PartialShape, name: &str) -> String {
    let (Some(a), Some(b)) = (old.dims(), new.dims()) else {
        return format!("`{name}` cannot be {old} and {new}");
    };
    if a.len() != b.len() {
        return format!("Shapes must be equal rank, but are {} and {} (of `{name}`)", a.len(), b.len());
    }
    let text = |dims: &[Option<usize>]| {
        dims.iter().map(|d| d.map_or("?".to_owned(), |d| d.to_string())).collect::<Vec<_>>().join(",")
    };
    let differ = |(x, y): (&Option<usize>, &Option<usize>)| x.is_some() && y.is_some() && x != y;
    let i = a.iter().zip(b).position(differ).unwrap_or_default();
    let size = |d: &Option<usize>| d.map_or("?".to_owned(), |d| d.to_string());
    format!(
        "Dimension {i} in both shapes must be equal, but are {} and {}. Shapes are [{}] and [{}]. (of `{name}`)",
        size(&a[i]),
        size(&b[i]),
        text(a),
        text(b)
    )
}

/// TensorFlow's exception for what takes a value while the graph is built.
fn not_in_a_graph(py: Python<'_>, message: &'static str) -> PyErr {
    let class = py.import("millstream.errors").and_then(|m| m.getattr("OperatorNotAllowedInGraphError"));
    match class.and_then(|class| class.call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(_) => PyTypeError::new_err(message),
    }
}

fn device(graph: &Py<Graph>, node: NodeId) -> String {
    graph.get().inner().read(|g| g.node(node).map_or(String::new(), |n| n.device.to_string()))
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The session, if it is one of this graph.
fn of_graph<'py>(
    session: Bound<'py, PyAny>,
    graph: &Bound<'py, Graph>,
    otherwise: &'static str,
) -> PyResult<Bound<'py, PyAny>> {
    match session.getattr("graph")?.is(graph) {
        true => Ok(session),
        false => Err(PyValueError::new_err(otherwise)),
    }
}

fn default_session<'py>(py: Python<'py>, missing: &'static str) -> PyResult<Bound<'py, PyAny>> {
    let found = stack::default_session(py).map(|s| s.into_bound(py));
    found.ok_or_else(|| PyValueError::new_err(missing))
}
