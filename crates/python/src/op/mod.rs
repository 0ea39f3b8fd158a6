//! Op types as functions: what TensorFlow's generated functions do, from the op's declaration.
//!
//! Inputs are converted in order: the dtype of an attribute is that of the first input that has it, and holds for those after it. Numbers,
//! arrays and lists become constants named after the input, under the node's name; what else can become a tensor (a variable, say) is asked of
//! the package, within the node's name scope.
//!
//! - `parameters`: what a function takes, `doc`: what `help` says of it, `arguments`: those of a call;
//! - `making`: the node, `expected`: what it takes, and what is said of anything else;
//! - `operators`: `x + y`, `constants`: `tf.constant`.

mod arguments;
pub mod constants;
mod doc;
mod expected;
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
use millstream::graph::op::{AttrKind, Count, OpDef};
use millstream::graph::{Attrs, NodeId, Port};
use parameters::{Parameter, Target, Words};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};

// An op type as a Python function. No doc comment: the class's docstring would hide those of its objects.
#[pyclass(frozen, dict, module = "millstream._engine")]
pub struct OpType {
    def: &'static OpDef,
    /// What Python calls it.
    name: String,
    /// Where Python finds it.
    module: String,
    parameters: Vec<Parameter>,
    /// As `raw_ops` have it.
    keyword_only: bool,
    /// The class of the results, where there are several.
    results: PyOnceLock<Py<PyAny>>,
}

/// The names of all op types.
#[pyfunction]
pub fn op_names() -> Vec<&'static str> {
    millstream::registry().iter().map(|d| d.name).collect()
}

#[pymethods]
impl OpType {
    /// The op type `op` under the name `name`. `parameters`: in order, what Python calls each, what the op calls it, and a tuple with the
    /// default if there is one; None takes the op's own words. `module` is where it stands.
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

    /// Where it stands: `millstream.nn`.
    #[getter]
    fn __module__(&self) -> &str {
        &self.module
    }

    /// The op type.
    #[getter]
    fn op(&self) -> &'static str {
        self.def.name
    }

    /// What `__doc__` gives: the package makes a property of it, which a getter of a class with (even no) docs of its own cannot be.
    fn _doc(&self, py: Python<'_>) -> PyResult<String> {
        doc::of(py, self)
    }

    /// The arguments as `inspect.signature` has them.
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

    /// An operation of flat inputs, with attributes under the op's own words.
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
                false => attr::of_python(&key, kind, &value)?,
            };
            all.set(key, value);
        }
        let share = graph.get();
        share.note_place(py)?;
        let node = share.inner().op(self.def.name).name(name.unwrap_or_default()).attrs(all);
        let ports = inputs.iter().map(|t| Ok((t.get().graph(py).get(), share.taken(t.get().port())?)));
        let ports = ports.collect::<PyResult<Vec<_>>>()?;
        let node = node.inputs(ports.into_iter().map(|(graph, port)| graph.output(port)));
        let id = node.try_finish().map_err(building)?.id();
        Graph::made(&graph)?;
        Operation::of(&graph, id)
    }
}

impl OpType {
    /// What the function returns: nothing but the operation, a tensor, a list, or a named tuple of these.
    fn result<'py>(&self, graph: &Bound<'py, Graph>, id: NodeId) -> PyResult<Bound<'py, PyAny>> {
        let py = graph.py();
        let inner = graph.get().inner();
        let one = |index: usize| Tensor::of(graph, Port::new(id, index as u32)).map(Bound::into_any);
        // Of a list of no outputs, too, there is nothing else to give.
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
