//! Op types as functions, equivalent to TensorFlow's generated functions and derived from the op's
//! declaration.
//!
//! Inputs are converted in order: the dtype of an attribute is that of the first input that has it, and
//! applies to later inputs. Numbers, arrays and lists become constants named after the input, in the node's
//! name scope; other values that convert to tensors (such as variables) are converted by the package in the
//! same scope.
//!
//! - `parameters`: the signature; `doc`: the docstring; `arguments`: the arguments of a call;
//! - `making`: creation of the node; `expected`: checks of inputs, and their error messages;
//! - `operators`: `x + y`; `constants`: `tf.constant`.

mod arguments;
pub mod constants;
mod doc;
pub mod expected;
mod making;
mod operators;
mod parameters;

pub use operators::{binary, unary};

use crate::attr;
use crate::errors::building;
use crate::graph::Graph;
use crate::operation::Operation;
use crate::stack;
use crate::tensor::Tensor;
use arguments::Arguments;
use millstream::engine::graph::op::{AttrKind, Count, OpDef};
use millstream::engine::graph::{Attrs, NodeId, Port};
use parameters::{Parameter, Target, Words};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};

// An op type as a Python function. It has no doc comment: the class's docstring would hide those of its
// instances.
#[pyclass(frozen, dict, module = "millstream._engine")]
pub struct OpType {
    def: &'static OpDef,
    /// The function's name in Python.
    name: String,
    /// The function's module in Python.
    module: String,
    parameters: Vec<Parameter>,
    /// Whether parameters are keyword-only, as in `raw_ops`.
    keyword_only: bool,
    /// The named tuple of the results, if there are several.
    results: PyOnceLock<Py<PyAny>>,
}

/// The names of all op types.
#[pyfunction]
pub fn op_names() -> Vec<&'static str> {
    millstream::registry().iter().map(|d| d.name).collect()
}

#[pymethods]
impl OpType {
    /// The function `name` for op type `op`. `parameters` has in order for each parameter its Python name,
    /// its name in the op, and a tuple with the default if there is one; with None, names are those of the
    /// op. `module` is the function's module.
    #[new]
    #[pyo3(signature = (op, name = None, parameters = None, keyword_only = false, module = None))]
    fn new(
        py: Python<'_>,
        op: &str,
        name: Option<String>,
        parameters: Option<Vec<Words>>,
        keyword_only: bool,
        module: Option<String>,
    ) -> PyResult<OpType> {
        let def = registered(op)?;
        let parameters = match parameters {
            Some(given) => parameters::given(py, def, given)?,
            None => parameters::own(py, def)?,
        };
        let name = name.unwrap_or_else(|| def.name.to_owned());
        let module = module.unwrap_or_else(|| "millstream".to_owned());
        Ok(OpType { def, name, module, parameters, keyword_only, results: PyOnceLock::new() })
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    #[getter]
    fn __qualname__(&self) -> &str {
        &self.name
    }

    /// The module, such as `millstream.nn`.
    #[getter]
    fn __module__(&self) -> &str {
        &self.module
    }

    /// The op type.
    #[getter]
    fn op(&self) -> &'static str {
        self.def.name
    }

    /// The docstring. The package wraps it in a property: a getter `__doc__` would be shadowed by the
    /// docstring of the class.
    fn _doc(&self, py: Python<'_>) -> PyResult<String> {
        doc::of(py, self)
    }

    /// The signature for `inspect.signature`.
    #[getter]
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        parameters::signature(py, &self.parameters, self.keyword_only)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<function {}{} of op '{}'>", self.name, self.__signature__(py)?.str()?, self.def.name))
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Arguments { inputs, attrs, name } = Arguments::of(self, py, args, kwargs)?;
        let (graph, id) = making::make(py, self.def, name, &inputs, attrs)?;
        self.result(&graph, id)
    }

    /// Creates an operation from flat inputs, with attributes under the op's names.
    fn _flat<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Bound<'py, Tensor>>,
        attrs: &Bound<'py, PyDict>,
        name: Option<&str>,
    ) -> PyResult<Bound<'py, Operation>> {
        let graph = stack::default_graph(py)?;
        let mut all = Attrs::new();
        for (key, value) in attrs.iter() {
            let key: String = key.extract()?;
            let kind = self.def.attr_spec(&key).map_or(AttrKind::Str(&[]), |s| s.kind);
            let value = match value.hasattr("SerializeToString")? {
                true => {
                    let bytes: Vec<u8> = value.call_method0("SerializeToString")?.extract()?;
                    crate::interop::attr(&bytes)?
                }
                false => attr::of_python(self.def.name, &key, kind, &value)?,
            };
            all.set(key, value);
        }
        let share = graph.get();
        share.note_place(py)?;
        let node = share.inner().op(self.def.name).name(name.unwrap_or_default()).attrs(all);
        let ports = inputs.iter().map(|t| match share.is_body() {
            true => Ok((share, share.taken_in(py, t.get())?)),
            false => Ok((t.get().graph(py).get(), share.taken(t.get().port())?)),
        });
        let ports = ports.collect::<PyResult<Vec<_>>>()?;
        let node = node.inputs(ports.into_iter().map(|(graph, port)| graph.output(port)));
        let id = node.try_finish().map_err(building)?.id();
        Graph::made(&graph)?;
        Operation::of(&graph, id)
    }
}

impl OpType {
    /// The function's result: the operation if there are no outputs, otherwise a tensor, a list, or a named
    /// tuple of these.
    fn result<'py>(&self, graph: &Bound<'py, Graph>, id: NodeId) -> PyResult<Bound<'py, PyAny>> {
        let py = graph.py();
        let inner = graph.get().inner();
        let one = |index: usize| Tensor::of(graph, Port::new(id, index as u32)).map(Bound::into_any);
        // For an empty list of outputs the operation is returned as well.
        let n_outputs = inner.read(|g| g.node(id).map(|n| n.info.output_types.len()));
        let outputs = match self.def.outputs.as_slice() {
            _ if n_outputs.map_err(building)? == 0 => return Ok(Operation::of(graph, id)?.into_any()),
            [out] if out.count == Count::One => return one(0),
            outputs => outputs,
        };
        let ranges = inner.read(|g| {
            let info = &g.node(id)?.info;
            outputs.iter().map(|a| info.output_range(a.name)).collect::<Result<Vec<_>, _>>()
        });
        let parts = ranges.map_err(building)?.into_iter().zip(outputs).map(|(range, out)| match out.count {
            Count::One => one(range.start),
            _ => Ok(PyList::new(py, range.map(one).collect::<PyResult<Vec<_>>>()?)?.into_any()),
        });
        let mut parts = parts.collect::<PyResult<Vec<_>>>()?;
        match parts.len() {
            1 => Ok(parts.remove(0)),
            _ => self.results_class(py)?.call1(PyTuple::new(py, parts)?),
        }
    }

    fn results_class<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let class = self.results.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
            let fields: Vec<&str> = self.def.outputs.iter().map(|a| a.name).collect();
            let make = py.import("collections")?.getattr("namedtuple")?;
            Ok(make.call1((self.def.name, fields))?.unbind())
        })?;
        Ok(class.bind(py))
    }
}

/// The declaration of an op.
fn registered(op: &str) -> PyResult<&'static OpDef> {
    millstream::registry().get(op).ok_or_else(|| PyAttributeError::new_err(format!("there is no op '{op}'")))
}
