//! `Tensor`: a reference to a port that keeps its graph alive.

use crate::dtypes::{dtype_object, shape_object, shape_of};
use crate::errors::building;
use crate::graph::Graph;
use crate::handles::{self, Attributes, NoSession, missing};
use crate::op;
use crate::operation::Operation;
use crate::stack;
use crate::views::html_rows;
use millstream::DType;
use millstream::engine::graph::{NodeId, Port, ValueType};
use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::cell::Cell;

/// A symbolic output of an operation.
///
/// A tensor has no value until a session runs the graph. Operators create operations: `x + y`, `x[1:3]`, `x <
/// y`, `-x`, `x @ y`. Tensors are compared by identity (`tf.equal` compares elements) and have no truth
/// value.
///
/// Example:
///
///     >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="x")
///     >>> x.name, x.dtype, x.shape, x.op.type, x.value_index, x.device, x.graph is tf.get_default_graph()
///     ('x:0', tf.float32, TensorShape([Dimension(2), Dimension(2)]), 'Const', 0, '', True)
///     >>> y = x[0] * 10.0 - 1.0
///     >>> print(tf.Session().run(y), [op.type for op in x.consumers()])
///     [ 9. 19.] ['StridedSlice']
#[pyclass(frozen, weakref, subclass, module = "millstream")]
pub struct Tensor {
    graph: Py<Graph>,
    port: Port,
    attributes: Attributes,
}

impl Tensor {
    /// The object of an output.
    pub fn of<'py>(graph: &Bound<'py, Graph>, port: Port) -> PyResult<Bound<'py, Tensor>> {
        let make = || Tensor { graph: graph.clone().unbind(), port, attributes: Attributes::default() };
        handles::object(graph, |all| all.tensor(port), make)
    }

    /// The port.
    pub fn port(&self) -> Port {
        self.port
    }

    /// The graph.
    pub fn graph<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, Graph> {
        self.graph.bind(py)
    }

    /// The element type, and whether it is a reference to a variable.
    pub fn value_type(&self) -> PyResult<ValueType> {
        self.graph.get().inner().read(|g| g.type_of(self.port)).map_err(building)
    }
}

/// `x + y`; strings use another op.
fn add<'py>(
    slf: &Bound<'py, Tensor>,
    other: &Bound<'py, PyAny>,
    reverse: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let string = slf.get().value_type()?.dtype == DType::Str;
    op::binary(slf, if string { "Add" } else { "AddV2" }, "add", other, reverse)
}

/// An operator that needs several ops and is built by the package.
fn compose<'py>(
    slf: &Bound<'py, Tensor>,
    name: &str,
    other: &Bound<'py, PyAny>,
    reverse: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    stack::hooks(py)?.operate.bind(py).call1((name, slf, other, reverse))
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

    /// The attributes that programs set.
    #[getter]
    fn __dict__<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.attributes.dict(py)
    }

    /// The operation that produces the tensor.
    #[getter(op)]
    fn op_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Operation>> {
        Operation::of(slf.get().graph(slf.py()), slf.get().port.node)
    }

    /// The name of the tensor, such as `node:0`.
    #[getter]
    fn name(&self) -> String {
        self.graph.get().output(self.port).name()
    }

    /// The `DType` of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtype_object(py, self.value_type()?)
    }

    /// The static shape.
    #[getter(shape)]
    fn static_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shape_object(py, &self.graph.get().output(self.port).shape())
    }

    /// Returns the static shape.
    ///
    /// Returns:
    ///   A `TensorShape`.
    ///
    /// Example:
    ///
    ///     >>> tf.placeholder(tf.float32, [None, 3]).get_shape()
    ///     TensorShape([Dimension(None), Dimension(3)])
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

    /// Merges a shape into the static shape.
    ///
    /// Args:
    ///   shape: A `TensorShape`, or a value that converts to one.
    ///
    /// Raises:
    ///   ValueError: The shape contradicts the static shape.
    ///
    /// Example:
    ///
    ///     >>> x = tf.placeholder(tf.float32)
    ///     >>> x.set_shape([None, 3])
    ///     >>> x.shape
    ///     TensorShape([Dimension(None), Dimension(3)])
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

    /// The index of the tensor among the outputs of its operation.
    #[getter]
    fn value_index(&self) -> u32 {
        self.port.index
    }

    /// The graph that contains the tensor.
    #[getter(graph)]
    fn graph_(&self, py: Python<'_>) -> Py<Graph> {
        self.graph.clone_ref(py)
    }

    /// The device requested by the operation.
    #[getter]
    fn device(&self) -> String {
        handles::device(self.graph.get(), self.port.node)
    }

    /// Returns the operations that use the tensor as an input.
    ///
    /// Returns:
    ///   A list of `Operation`s in the order of their creation.
    ///
    /// Example:
    ///
    ///     >>> x = tf.constant(1.0)
    ///     >>> y = tf.negative(x)
    ///     >>> x.consumers() == [y.op]
    ///     True
    fn consumers<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let (graph, port) = (slf.get().graph(slf.py()), slf.get().port);
        // One entry per operation and input.
        let takers: Vec<NodeId> = graph.get().inner().read(|g| {
            let nodes = g.nodes().iter().enumerate();
            let times = |n: &millstream::engine::graph::Node| n.inputs.iter().filter(|p| **p == port).count();
            nodes.flat_map(|(i, n)| std::iter::repeat_n(NodeId(i as u32), times(n))).collect()
        });
        let ops: PyResult<Vec<_>> = takers.into_iter().map(|id| Operation::of(graph, id)).collect();
        PyList::new(slf.py(), ops?)
    }

    /// Runs the tensor in the given or default session.
    ///
    /// Args:
    ///   feed_dict: Same as in `Session.run`.
    ///   session: A `Session`. Defaults to the default session.
    ///
    /// Returns:
    ///   A NumPy array, a scalar or bytes.
    ///
    /// Raises:
    ///   ValueError: There is no session, or it belongs to another graph.
    ///
    /// Example:
    ///
    ///     >>> x = tf.constant([1, 2]) + 1
    ///     >>> with tf.Session():
    ///     ...     print(x.eval())
    ///     [2 3]
    #[pyo3(signature = (feed_dict = None, session = None))]
    fn eval<'py>(
        slf: &Bound<'py, Self>,
        feed_dict: Option<Bound<'py, PyAny>>,
        session: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let words = NoSession {
            given: "Cannot use the given session to evaluate tensor: the tensor's graph is different from the session's graph.",
            default: "Cannot use the default session to evaluate tensor: the tensor's graph is different from the session's graph. Pass an explicit session to `eval(session=sess)`.",
            none: "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with sess.as_default()` or pass an explicit session to `eval(session=sess)`",
        };
        let session = handles::session_for(slf.get().graph(slf.py()), session, &words)?;
        session.call_method1("run", (slf, feed_dict))
    }

    fn __hash__(&self) -> u64 {
        handles::hash(&self.graph, self.port)
    }

    fn __eq__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        equal(slf, other, "Equal", false)
    }

    fn __ne__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        equal(slf, other, "NotEqual", true)
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

    /// An HTML table with name, dtype, shape and source location.
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
            "using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution. Use Eager execution or decorate this function with @tf.function.\n  help: these are TensorFlow's words; there is neither here: `tf.cond` branches on a tensor, and `tf.while_loop` repeats while one is true",
        ))
    }

    fn __contains__(&self, py: Python<'_>, _item: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.__iter__(py).map(|_| false)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Err(not_in_a_graph(
            py,
            "iterating over `tf.Tensor` is not allowed in Graph execution. Use Eager execution or decorate this function with @tf.function.\n  help: these are TensorFlow's words; there is neither here: `tf.unstack` splits a tensor, `tf.map_fn` and `tf.while_loop` go through one",
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
        add(slf, other, false)
    }
    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        add(slf, other, true)
    }
    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "Sub", "sub", other, false)
    }
    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "Sub", "sub", other, true)
    }
    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "Mul", "mul", other, false)
    }
    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "Mul", "mul", other, true)
    }
    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "FloorMod", "mod", other, false)
    }
    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "FloorMod", "mod", other, true)
    }
    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "FloorDiv", "floordiv", other, false)
    }
    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "FloorDiv", "floordiv", other, true)
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
            None => op::binary(slf, "Pow", "pow", other, false),
        }
    }
    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "Pow", "pow", other, true)
    }
    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "LogicalAnd", "and", other, false)
    }
    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "LogicalAnd", "and", other, true)
    }
    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "LogicalOr", "or", other, false)
    }
    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "LogicalOr", "or", other, true)
    }
    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "xor", other, false)
    }
    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "xor", other, true)
    }
    fn __lt__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "Less", "Less", other, false)
    }
    fn __le__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "LessEqual", "LessEqual", other, false)
    }
    fn __gt__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "Greater", "Greater", other, false)
    }
    fn __ge__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        op::binary(slf, "GreaterEqual", "GreaterEqual", other, false)
    }
    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        op::unary(slf, "Neg", "Neg")
    }
    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        op::unary(slf, "LogicalNot", "LogicalNot")
    }
    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        compose(slf, "abs", slf.as_any(), false)
    }
}

thread_local! {
    /// The number of functions that this thread traces.
    static TRACING: Cell<u32> = const { Cell::new(0) };
}

/// Notes that a function's tracing begins (1) or ends (-1) on this thread.
#[pyfunction]
pub fn tracing(change: i32) {
    TRACING.set(TRACING.get().saturating_add_signed(change));
}

/// `==` and `!=`. In TensorFlow 1 they compare identities, on which dictionaries of tensors rely. In the
/// user's code of a function that is being traced they compare elements, as in NumPy.
fn equal<'py>(
    slf: &Bound<'py, Tensor>,
    other: &Bound<'py, PyAny>,
    op: &'static str,
    negated: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let same = other.cast::<Tensor>().is_ok_and(|o| {
        let (a, b) = (slf.get(), o.get());
        a.port == b.port && a.graph.is(&b.graph)
    });
    if 0 < TRACING.get() && !other.is_none() && crate::place::is_users(py)? {
        return op::binary(slf, op, op, other, false);
    }
    Ok(PyBool::new(py, same != negated).to_owned().into_any())
}

/// The error for incompatible shapes of a tensor: TensorFlow's sentence, and the name of the tensor.
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

/// TensorFlow's exception for uses of a tensor's value during graph construction.
fn not_in_a_graph(py: Python<'_>, message: &'static str) -> PyErr {
    let class =
        py.import("millstream.framework.errors").and_then(|m| m.getattr("OperatorNotAllowedInGraphError"));
    match class.and_then(|class| class.call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(_) => PyTypeError::new_err(message),
    }
}
