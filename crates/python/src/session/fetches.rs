//! Fetches: structures of tensors and operations or their names, and values packed into the same structure
//! ([`Form`]).

use super::feeds::Fed;
use crate::array::to_python;
use crate::dtypes::dtype_object;
use crate::errors::building;
use crate::graph::Graph;
use crate::kept::{handle_object, kept_dtype};
use crate::operation::Operation;
use crate::stack;
use crate::tensor::Tensor;
use millstream::engine::graph::{NodeId, Port};
use millstream::engine::runtime::{Fetched, Target};
use millstream::{DType, Op};
use pyo3::exceptions::{PyRecursionError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple, PyType};
use pyo3::{PyTraverseError, PyVisit};

/// How the values of fetches are packed.
pub enum Form {
    /// The next value, of this port.
    Value(Port),
    /// The next value, a handle of a tensor stored in the session, as an object with its dtype.
    Handle(DType),
    /// An operation: None.
    Nothing,
    /// The next value, one per iteration: in one array, or in a dict by iteration.
    Every {
        by_iteration: bool,
    },
    List(Vec<Form>),
    Tuple(Vec<Form>),
    /// A class that takes its fields as arguments, like named tuples.
    Named(Py<PyType>, Vec<Form>),
    Dict(Py<PyType>, Vec<(Py<PyAny>, Form)>),
    /// Packed by the package: a function of the list of values.
    Packed(Py<PyAny>, Vec<Form>),
}

/// A fetch of the values of a tensor or operation in all iterations of the loops around it.
#[pyclass(frozen, module = "millstream._engine")]
pub struct Every {
    tensor: Py<Tensor>,
    by_iteration: bool,
}

#[pymethods]
impl Every {
    #[new]
    fn new(tensor: Py<Tensor>, by_iteration: bool) -> Every {
        Every { tensor, by_iteration }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("tf.every({})", self.tensor.bind(py).repr()?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.tensor)
    }
}

/// Maximum nesting depth of fetches and of lists of feeds; each level uses stack.
pub(super) const DEEPEST: usize = 256;

impl Form {
    /// The form of a fetch; the nodes to run are appended to `targets`.
    pub fn of(
        graph: &Bound<'_, Graph>,
        fetch: &Bound<'_, PyAny>,
        targets: &mut Vec<Target>,
    ) -> PyResult<Form> {
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
                "fetches are nested more than {DEEPEST} deep (or contain themselves): fetch a flat list"
            )));
        };
        let py = fetch.py();
        if let Ok(tensor) = fetch.cast::<Tensor>() {
            own(graph, tensor.get().graph(py), fetch)?;
            return Form::of_port(graph, tensor.get().port(), targets);
        }
        if let Ok(every) = fetch.cast::<Every>() {
            let Every { tensor, by_iteration } = every.get();
            own(graph, tensor.bind(py).get().graph(py), tensor.bind(py))?;
            targets.push(Target::Every(tensor.get().port()));
            return Ok(Form::Every { by_iteration: *by_iteration });
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
        Ok(match kept_dtype(graph, port)? {
            Some(dtype) => Form::Handle(dtype),
            None => Form::Value(port),
        })
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
        // The graph raises the error that describes the problem.
        let shown = fetch.repr()?;
        let element = graph.call_method1("as_graph_element", (name,)).map_err(|why| {
            let why = why.value(fetch.py()).to_string();
            // A KeyError shows its text in quotes. The help goes behind TensorFlow's words.
            let (why, help) = match why.split_once("\\n  help: ") {
                Some((text, help)) => {
                    let quote = if text.starts_with('"') { '"' } else { '\'' };
                    (format!("{text}{quote}"), format!("\n  help: {}", help.trim_end_matches(quote)))
                }
                None => (why, String::new()),
            };
            PyValueError::new_err(format!(
                "Fetch argument {shown} cannot be interpreted as a Tensor. ({why}){help}"
            ))
        })?;
        Form::of(graph, &element, targets)
    }

    /// Visits Python objects for the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let all = |parts: &[Form]| parts.iter().try_for_each(|p| p.traverse(visit));
        match self {
            Form::Value(_) | Form::Handle(_) | Form::Nothing | Form::Every { .. } => Ok(()),
            Form::List(parts) | Form::Tuple(parts) => all(parts),
            Form::Named(class, parts) => visit.call(class).and_then(|()| all(parts)),
            Form::Packed(pack, parts) => visit.call(pack).and_then(|()| all(parts)),
            Form::Dict(class, parts) => {
                visit.call(class)?;
                parts.iter().try_for_each(|(key, p)| visit.call(key).and_then(|()| p.traverse(visit)))
            }
        }
    }

    /// Whether a port's value is fetched.
    pub fn has(&self, port: Port) -> bool {
        match self {
            Form::Value(own) => *own == port,
            Form::Handle(_) | Form::Nothing | Form::Every { .. } => false,
            Form::List(parts) | Form::Tuple(parts) | Form::Named(_, parts) | Form::Packed(_, parts) => {
                parts.iter().any(|p| p.has(port))
            }
            Form::Dict(_, parts) => parts.iter().any(|(_, p)| p.has(port)),
        }
    }

    /// Packs values into this form. Fed values are returned as fed, as arrays.
    pub fn fill<'py>(
        &self,
        py: Python<'py>,
        values: &mut impl Iterator<Item = Fetched>,
        fed: &Fed<'py>,
        session: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Form::Handle(dtype) => match values.next() {
                Some(Fetched::Value(value)) => handle_object(session, value, *dtype)?,
                _ => return Err(PyRuntimeError::new_err("a value is missing")),
            },
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
            Form::Every { by_iteration } => match values.next() {
                Some(Fetched::Every(all)) if *by_iteration => {
                    let dict = PyDict::new(py);
                    for (at, value) in all.iter() {
                        dict.set_item(PyTuple::new(py, at)?, to_python(py, value.clone())?)?;
                    }
                    dict.into_any()
                }
                Some(Fetched::Every(all)) => to_python(py, all.stack().map_err(building)?)?,
                _ => {
                    return Err(PyTypeError::new_err(
                        "`tf.every` is for `Session.run`: a callable gives one value for each fetch",
                    ));
                }
            },
            Form::List(parts) => PyList::new(py, fill_all(parts, py, values, fed, session)?)?.into_any(),
            Form::Tuple(parts) => PyTuple::new(py, fill_all(parts, py, values, fed, session)?)?.into_any(),
            Form::Named(class, parts) => {
                class.bind(py).call1(PyTuple::new(py, fill_all(parts, py, values, fed, session)?)?)?
            }
            Form::Dict(class, parts) => {
                let pairs =
                    parts.iter().map(|(k, p)| Ok((k.clone_ref(py), p.fill(py, values, fed, session)?)));
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
                        // As in TensorFlow: an empty instance of the class, filled afterwards.
                        let map = class.bind(py).call0()?;
                        for (k, v) in pairs {
                            map.set_item(k, v)?;
                        }
                        map
                    }
                }
            }
            Form::Packed(pack, parts) => {
                pack.bind(py).call1((PyList::new(py, fill_all(parts, py, values, fed, session)?)?,))?
            }
        })
    }
}

fn fill_all<'py>(
    parts: &[Form],
    py: Python<'py>,
    values: &mut impl Iterator<Item = Fetched>,
    fed: &Fed<'py>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    parts.iter().map(|p| p.fill(py, values, fed, session)).collect()
}

/// Whether each target has a value.
pub fn places(form: &Form) -> Vec<bool> {
    match form {
        Form::Value(_) | Form::Handle(_) | Form::Every { .. } => vec![true],
        Form::Nothing => vec![false],
        Form::List(parts) | Form::Tuple(parts) | Form::Named(_, parts) | Form::Packed(_, parts) => {
            parts.iter().flat_map(places).collect()
        }
        Form::Dict(_, parts) => parts.iter().flat_map(|(_, p)| places(p)).collect(),
    }
}

/// An error if a node cannot be fetched.
fn check_fetchable(graph: &Bound<'_, Graph>, node: NodeId) -> PyResult<()> {
    if graph.get().is_fetchable(node) {
        return Ok(());
    }
    let name = Op::new(graph.get().inner(), node).name();
    let class = graph.py().import("millstream.framework.errors")?.getattr("InaccessibleTensorError")?;
    let text = format!(
        "Operation '{name}' has been marked as not fetchable. Typically this happens when it is defined in another function or code block. Use return values,explicit Python locals or TensorFlow collections to access it.\n  help: a tensor in a loop has a value in each iteration; `tf.every(tensor)` fetches them all"
    );
    Err(PyErr::from_value(class.call1((text,))?))
}

pub fn own(graph: &Bound<'_, Graph>, of: &Bound<'_, Graph>, fetch: &Bound<'_, PyAny>) -> PyResult<()> {
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
