//! `Operation`: a reference to a node that keeps its graph alive.

use crate::errors::building;
use crate::graph::Graph;
use crate::handles::{self, Attributes, NoSession, missing};
use crate::tensor::Tensor;
use crate::views::html_rows;
use millstream::engine::graph::{NodeId, Port};
use millstream::{Op, Output};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

/// A node of a graph, which takes tensors as inputs and produces tensors as outputs.
///
/// Example:
///
///     >>> x = tf.constant([1.0, 2.0], name="x")
///     >>> with tf.control_dependencies([tf.no_op(name="first")]), tf.device("/cpu:0"):
///     ...     op = tf.cast(x, tf.int32, name="y").op
///     >>> op.name, op.type, op.device, op.graph is tf.get_default_graph(), op.inputs[0] is x
///     ('y', 'Cast', '/device:CPU:0', True, True)
///     >>> op.outputs, op.values() == tuple(op.outputs), [o.name for o in op.control_inputs]
///     ([<tf.Tensor 'y:0' shape=(2,) dtype=int32>], True, ['first'])
///     >>> op.node_def.op, op.op_def.name, op.get_attr("DstT"), op.colocation_groups(), len(op.traceback) > 0
///     ('Cast', 'Cast', tf.int32, [b'loc:@y'], True)
#[pyclass(frozen, weakref, module = "millstream")]
pub struct Operation {
    graph: Py<Graph>,
    id: NodeId,
    attributes: Attributes,
}

impl Operation {
    /// The object of a node.
    pub fn of<'py>(graph: &Bound<'py, Graph>, id: NodeId) -> PyResult<Bound<'py, Operation>> {
        let make = || Operation { graph: graph.clone().unbind(), id, attributes: Attributes::default() };
        handles::object(graph, |all| all.operation(id), make)
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

    /// The attributes that programs set.
    #[getter]
    fn __dict__<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.attributes.dict(py)
    }

    /// The name of the operation.
    #[getter]
    fn name(&self) -> String {
        self.op().name()
    }

    /// The op type.
    #[getter(r#type)]
    fn type_(&self) -> &'static str {
        self.op().op_type()
    }

    /// The graph that contains the operation.
    #[getter(graph)]
    fn graph_(&self, py: Python<'_>) -> Py<Graph> {
        self.graph.clone_ref(py)
    }

    /// The number of the operation in the graph, from 1.
    #[getter]
    fn _id(&self) -> u32 {
        self.id.0 + 1
    }

    /// The number of the loop or branch that contains the operation.
    #[getter]
    fn _context(&self) -> Option<u32> {
        self.graph.get().inner().read(|g| g.node(self.id).ok().and_then(|n| n.context)).map(|c| c.0)
    }

    /// The loop or branch that contains the operation.
    fn _get_control_flow_context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.graph.bind(py).call_method1("_context_object", (self._context(),))
    }

    /// The loop or branch that contains the operation.
    #[getter]
    fn _control_flow_context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self._get_control_flow_context(py)
    }

    /// Returns the outputs of the operation.
    ///
    /// Returns:
    ///   A tuple of tensors.
    ///
    /// Example:
    ///
    ///     >>> a, b = tf.split([1, 2], 2)
    ///     >>> a.op.values() == (a, b)
    ///     True
    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        Ok(Self::outputs(slf)?.to_tuple())
    }

    /// The `OpDef` of the op type.
    #[getter]
    fn op_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = py.import("millstream.framework.protos")?.getattr("OpDef")?;
        class.call_method1("FromString", (crate::interop::op_def(py, self.type_())?,))
    }

    /// Sets the requested device: a name or a `DeviceSpec`.
    fn _set_device(slf: &Bound<'_, Self>, device: &Bound<'_, PyAny>) -> PyResult<()> {
        let name: String = match device.hasattr("to_string")? {
            true => device.call_method0("to_string")?.extract()?,
            false if device.is_none() => String::new(),
            false => device.extract()?,
        };
        let graph = slf.get().graph(slf.py()).get();
        graph.inner().set_device(Op::new(graph.inner(), slf.get().id), &name).map_err(building)
    }

    /// Sets an attribute to an `AttrValue`.
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

    /// The requested device.
    #[getter]
    fn device(&self) -> String {
        handles::device(self.graph.get(), self.id)
    }

    /// A list of the output tensors.
    #[getter]
    fn outputs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let graph = slf.get().graph(slf.py());
        let outputs = slf.get().op().outputs();
        PyList::new(
            slf.py(),
            outputs.iter().map(|o| Tensor::of(graph, o.port())).collect::<PyResult<Vec<_>>>()?,
        )
    }

    /// The input tensors.
    #[getter]
    fn inputs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let graph = slf.get().graph(slf.py());
        let inputs = slf.get().op().inputs().into_iter().filter(|o| o.port() != Port::OPEN);
        PyList::new(slf.py(), inputs.map(|o| Tensor::of(graph, o.port())).collect::<PyResult<Vec<_>>>()?)
    }

    /// The operations that must run first because of control dependencies.
    #[getter]
    fn control_inputs<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let graph = slf.get().graph(slf.py());
        let ops = slf.get().op().control_inputs();
        PyList::new(slf.py(), ops.iter().map(|o| Operation::of(graph, o.id())).collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns the value of an attribute.
    ///
    /// Args:
    ///   name: The name of the attribute.
    ///
    /// Returns:
    ///   An int, a float, a bool, bytes, a `DType`, a `TensorShapeProto`, a `TensorProto`, or a list.
    ///
    /// Raises:
    ///   ValueError: The attribute does not exist.
    ///
    /// Example:
    ///
    ///     >>> tf.concat([[1], [2]], 0).op.get_attr("N")
    ///     2
    fn get_attr<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let attr =
            self.graph.get().inner().read(|g| g.node(self.id).map(|n| n.info.attrs.get(name).cloned()));
        let attr = attr.map_err(building)?.ok_or_else(|| {
            PyValueError::new_err(format!("Operation '{}' has no attr named '{name}'.", self.name()))
        })?;
        if crate::attr::is_message(&attr) {
            // As in TensorFlow, shapes and tensors are returned as messages.
            let from = py.import("millstream.framework.protos")?.getattr("_attr_message")?;
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

    /// The location as frames `(file, line, function, text)`, innermost last; at most the innermost eight
    /// frames of the user's code.
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
        handles::hash(&self.graph, self.id)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Operation>().is_ok_and(|o| o.get().id == self.id && o.get().graph.is(&self.graph))
    }

    fn __repr__(&self) -> String {
        format!("<tf.Operation '{}' type={}>", self.name(), self.type_())
    }

    /// An HTML table with type, inputs, outputs and source location.
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

    /// The node as a `NodeDef` in text format.
    fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let format = slf.py().import("google.protobuf.text_format")?;
        format.call_method1("MessageToString", (slf.getattr("node_def")?,))?.extract()
    }

    /// The `NodeDef` of the operation.
    #[getter]
    fn node_def<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = py.import("millstream.framework.protos")?.getattr("NodeDef")?;
        class.call_method1("FromString", (self._node_def(py)?,))
    }

    /// Runs the operation in the given or default session.
    ///
    /// Args:
    ///   feed_dict: Same as in `Session.run`.
    ///   session: A `Session`. Defaults to the default session.
    ///
    /// Raises:
    ///   ValueError: There is no session, or it belongs to another graph.
    ///
    /// Example:
    ///
    ///     >>> v = tf.Variable(3)
    ///     >>> with tf.Session() as sess:
    ///     ...     v.initializer.run()
    ///     ...     print(sess.run(v))
    ///     3
    #[pyo3(signature = (feed_dict = None, session = None))]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        feed_dict: Option<Bound<'py, PyAny>>,
        session: Option<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let words = NoSession {
            given: "Cannot use the given session to execute operation: the operation's graph is different from the session's graph.",
            default: "Cannot use the default session to execute operation: the operation's graph is different from the session's graph. Pass an explicit session to run(session=sess).",
            none: "Cannot execute operation using `run()`: No default session is registered. Use `with sess.as_default():` or pass an explicit session to `run(session=sess)`",
        };
        let session = handles::session_for(slf.get().graph(slf.py()), session, &words)?;
        session.call_method1("run", (slf, feed_dict)).map(drop)
    }

    /// Removes all control inputs.
    fn _remove_all_control_inputs(slf: &Bound<'_, Self>) -> PyResult<()> {
        let graph = slf.get().graph(slf.py()).get().inner();
        graph.remove_control_inputs(slf.get().op()).map_err(building)
    }

    /// Replaces input `index`; for a `Merge`, sets the back edge of a manually built loop.
    fn _update_input(slf: &Bound<'_, Self>, index: usize, tensor: &Bound<'_, Tensor>) -> PyResult<()> {
        let graph = slf.get().graph(slf.py());
        if !tensor.get().graph(slf.py()).is(graph) {
            return Err(PyValueError::new_err(format!(
                "{} must be from the same graph as {}.",
                tensor.str()?,
                slf.str()?
            )));
        }
        let (op, port) = (slf.get().op(), tensor.get().port());
        let n = op.inputs().len();
        if n <= index {
            let class = slf.py().import("millstream.framework.errors")?.getattr("OutOfRangeError")?;
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

    /// Returns the colocation groups of the operation.
    ///
    /// Returns:
    ///   A list of bytes, such as `b"loc:@name"`.
    ///
    /// Example:
    ///
    ///     >>> a = tf.constant(1, name="a")
    ///     >>> with tf.colocate_with(a):
    ///     ...     b = tf.constant(2)
    ///     >>> b.op.colocation_groups()
    ///     [b'loc:@a']
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
