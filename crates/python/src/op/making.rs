//! Creation of a node from Python arguments. Inputs are converted in order to ports or literals, since the
//! dtype of an attribute is determined by the first input that has it.

use super::expected::{self, Known};
use crate::array;
use crate::dtypes::dtype_object;
use crate::errors::building;
use crate::graph::Graph;
use crate::stack;
use crate::tensor::Tensor;
use millstream::engine::graph::op::{ArgSpec, AttrKind, Count, OpDef, TypeSpec};
use millstream::engine::graph::{Attr, Attrs, NodeId, Port, ValueType, Within};
use millstream::{Arg, DType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use smallvec::SmallVec;

/// The arguments of the op's inputs; None for inputs without a parameter.
pub type Inputs<'py> = SmallVec<[Option<Bound<'py, PyAny>>; 4]>;

/// Creates a node in the graph of its inputs or in the default graph.
pub fn make<'py>(
    py: Python<'py>,
    def: &'static OpDef,
    name: Option<String>,
    inputs: &[Option<Bound<'py, PyAny>>],
    attrs: Attrs,
) -> PyResult<(Bound<'py, Graph>, NodeId)> {
    let graph = match stack::open_body(py) {
        Some(body) => body,
        None => match graph_of(inputs)? {
            Some(graph) => graph,
            None => stack::default_graph(py)?,
        },
    };
    let mut making = Making {
        py,
        def,
        name,
        graph: &graph,
        known: Known::default(),
        scope: None,
        values: SmallVec::new(),
        lists: Vec::new(),
    };
    for (name, spec) in &def.attrs {
        if let (AttrKind::Type(_), Ok(dtype)) = (spec.kind, attrs.dtype(name)) {
            making.known.push(name, dtype, name);
        }
    }
    // Values are converted first: this may create nodes and Python objects, and the node's builder borrows
    // the graph.
    for (arg, given) in def.inputs.iter().zip(inputs) {
        match (given, arg.count) {
            (None, _) => {}
            (Some(given), Count::One) => making.one(arg, given)?,
            (Some(given), Count::Number(_) | Count::List(_)) => making.several(arg, given)?,
        }
    }
    let mut attrs = making.counts(inputs, attrs)?;
    // Of several lists, only their types say where one ends.
    if 1 < making.lists.len() {
        for (name, types) in std::mem::take(&mut making.lists) {
            if attrs.get(name).is_none() {
                attrs.set(name, types);
            }
        }
    }
    let id = making.finish(attrs)?;
    Graph::made(&graph)?;
    Ok((graph, id))
}

/// The graph of the first tensor among the inputs; an error if inputs belong to several graphs.
fn graph_of<'py>(inputs: &[Option<Bound<'py, PyAny>>]) -> PyResult<Option<Bound<'py, Graph>>> {
    let mut found: Option<Bound<'py, Tensor>> = None;
    let mut see = |item: &Bound<'py, PyAny>| -> PyResult<()> {
        let Ok(tensor) = item.cast::<Tensor>() else { return Ok(()) };
        match &found {
            Some(first) if !first.get().graph(item.py()).is(tensor.get().graph(item.py())) => {
                Err(of_another_graph(tensor, &first.str()?.to_string()))
            }
            Some(_) => Ok(()),
            None => {
                found = Some(tensor.clone());
                Ok(())
            }
        }
    };
    for input in inputs.iter().flatten() {
        if let Ok(list) = input.cast::<PyList>() {
            list.iter().try_for_each(|item| see(&item))?;
        } else if let Ok(tuple) = input.cast::<PyTuple>() {
            tuple.iter().try_for_each(|item| see(&item))?;
        } else {
            see(input)?;
        }
    }
    Ok(found.map(|t| t.get().graph(t.py()).clone()))
}

fn of_another_graph(tensor: &Bound<'_, Tensor>, others: &str) -> PyErr {
    match tensor.str() {
        Ok(shown) => PyValueError::new_err(format!(
            "{shown} must be from the same graph as {others}.\n  help: build both within one `with graph.as_default():`"
        )),
        Err(error) => error,
    }
}

/// A node under construction.
struct Making<'a, 'py> {
    py: Python<'py>,
    def: &'static OpDef,
    name: Option<String>,
    graph: &'a Bound<'py, Graph>,
    known: Known,
    values: SmallVec<[Value; 4]>,
    /// The types of the list inputs, by the attributes that hold them.
    lists: Vec<(&'static str, Attr)>,
    /// The name scope of the node, entered when something is created in it.
    scope: Option<Within>,
}

/// A converted input.
enum Value {
    Port(Port),
    Literal(millstream::Tensor),
}

impl<'py> Making<'_, 'py> {
    /// Converts a single tensor input.
    fn one(&mut self, arg: &'static ArgSpec, given: &Bound<'py, PyAny>) -> PyResult<()> {
        let wanted = self.known.dtype(arg.ty);
        let preferred = self.preferred(arg.ty);
        let value = self.value(given, wanted, preferred, arg.name, arg.is_ref);
        let value = value.map_err(|e| self.of_no_dtype(given, arg.name, e))?;
        expected::input(self.def, arg, self.type_of(&value)?, &mut self.known)?;
        self.values.push(value);
        Ok(())
    }

    /// Converts a list input, whose tensors have one dtype if the op has a length attribute.
    fn several(&mut self, arg: &'static ArgSpec, given: &Bound<'py, PyAny>) -> PyResult<()> {
        let list = self.list(given, arg.name)?;
        let uniform = matches!(arg.count, Count::Number(_));
        let mut wanted = if uniform { self.known.dtype(arg.ty) } else { None };
        if uniform && wanted.is_none() {
            wanted = first_dtype(&list)?;
            expected::one_type(self.def, arg, &list)?;
        }
        let from = self.values.len();
        for (i, item) in list.iter().enumerate() {
            let value = self.value(item, wanted, None, &format!("{}_{i}", arg.name), arg.is_ref)?;
            if uniform {
                let ty = self.type_of(&value)?;
                expected::input(self.def, arg, ty, &mut self.known)?;
                wanted = Some(ty.dtype);
            }
            self.values.push(value);
        }
        if let Count::List(attr) = arg.count {
            let types = self.values[from..].iter().map(|value| Ok(Attr::Type(self.type_of(value)?)));
            self.lists.push((attr, Attr::List(types.collect::<PyResult<_>>()?)));
        }
        Ok(())
    }

    /// Creates the node from the converted inputs.
    fn finish(self, attrs: Attrs) -> PyResult<NodeId> {
        let share = self.graph.get();
        share.note_place(self.py)?;
        let inner = share.inner();
        let name = match self.scope {
            Some(_) => inner.scope(),
            None => self.name.unwrap_or_default(),
        };
        drop(self.scope);
        expected::name(&name)?;
        let args = self.values.into_iter().map(|value| match value {
            Value::Port(port) => Arg::from(share.output(port)),
            Value::Literal(tensor) => Arg::from(tensor),
        });
        let node = inner.op(self.def.name).name(name).inputs(args).attrs(attrs).try_finish();
        Ok(node.map_err(building)?.id())
    }

    fn type_of(&self, value: &Value) -> PyResult<ValueType> {
        match value {
            Value::Port(port) => self.graph.get().inner().read(|g| g.type_of(*port)).map_err(building),
            Value::Literal(tensor) => Ok(tensor.dtype().into()),
        }
    }

    /// The default dtype of an input if nothing else determines it.
    fn preferred(&self, ty: TypeSpec) -> Option<DType> {
        let TypeSpec::Attr(attr) = ty else { return None };
        match self.def.attr_spec(attr)?.default.as_ref()? {
            Attr::Type(ty) => Some(ty.dtype),
            _ => None,
        }
    }

    fn list(&self, given: &Bound<'py, PyAny>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
            return given.try_iter()?.collect();
        }
        Err(PyTypeError::new_err(format!(
            "Expected list for '{name}' argument to '{}' Op, not {}.",
            self.def.name,
            given.str()?
        )))
    }

    /// Converts an input to a port or a literal. `preferred` is a dtype that is used if the value fits; an
    /// array is cast to it, as in TensorFlow.
    fn value(
        &mut self,
        given: &Bound<'py, PyAny>,
        wanted: Option<DType>,
        preferred: Option<DType>,
        name: &str,
        as_ref: bool,
    ) -> PyResult<Value> {
        if let Ok(tensor) = given.cast::<Tensor>() {
            return self.port(tensor);
        }
        if !as_ref {
            if let (None, Some(preferred)) = (wanted, preferred)
                && let Ok(Some(tensor)) = array::of_python(given, Some(preferred))
            {
                return Ok(Value::Literal(tensor));
            }
            match array::of_python(given, wanted) {
                Ok(Some(tensor)) => return Ok(Value::Literal(tensor)),
                Ok(None) => {}
                Err(error) => return Err(self.passed(given, wanted, name, error)),
            }
        }
        self.by_package(given, wanted, name, as_ref)
    }

    fn port(&self, tensor: &Bound<'py, Tensor>) -> PyResult<Value> {
        match tensor.get().graph(self.py).is(self.graph) {
            true => Ok(Value::Port(self.graph.get().taken(tensor.get().port())?)),
            false if self.graph.get().is_body() => {
                Ok(Value::Port(self.graph.get().taken_in(self.py, tensor.get())?))
            }
            false => Err(of_another_graph(tensor, &format!("the other inputs of {}", self.def.name))),
        }
    }

    /// Converts other values (variables, lists that contain tensors, registered conversions) by the package,
    /// in the name scope of the node.
    fn by_package(
        &mut self,
        given: &Bound<'py, PyAny>,
        wanted: Option<DType>,
        name: &str,
        as_ref: bool,
    ) -> PyResult<Value> {
        let scope = self.name.as_deref().unwrap_or(self.def.name);
        self.scope.get_or_insert_with(|| self.graph.get().inner().enter_name_scope(scope));
        let dtype = wanted.map(|w| dtype_object(self.py, w)).transpose()?;
        let tensor = stack::hooks(self.py)?.convert.bind(self.py).call1((given, dtype, name, as_ref))?;
        self.port(&tensor.cast_into::<Tensor>()?)
    }

    /// Adds the name of the parameter to the error of a value, such as None, that converts to no dtype.
    fn of_no_dtype(&self, given: &Bound<'py, PyAny>, name: &str, error: PyErr) -> PyErr {
        if !error.is_instance_of::<PyValueError>(self.py) {
            return error;
        }
        let why = match array::of_python(given, None) {
            Err(why) if why.is_instance_of::<PyValueError>(self.py) => why,
            _ if given.is_none() => error,
            _ => return error,
        };
        let why = why.value(self.py);
        PyValueError::new_err(format!("Tried to convert '{name}' to a tensor and failed. Error: {why}"))
    }

    /// Adds the name of the parameter to a conversion error.
    fn passed(&self, given: &Bound<'py, PyAny>, wanted: Option<DType>, name: &str, error: PyErr) -> PyErr {
        let Some(wanted) = wanted.filter(|_| error.is_instance_of::<PyTypeError>(self.py)) else {
            return error;
        };
        let why = error.value(self.py).to_string();
        let (Ok(shown), Ok(kind)) = (given.repr(), given.get_type().name()) else { return error };
        match why.starts_with("Expected ") {
            true => PyTypeError::new_err(format!(
                "Expected {} passed to parameter '{name}' of op '{}', got {shown} of type '{kind}' instead. Error: {why}",
                wanted.tf_name(),
                self.def.name
            )),
            false => error,
        }
    }

    /// Sets the length attributes of list inputs.
    fn counts(&self, inputs: &[Option<Bound<'py, PyAny>>], mut attrs: Attrs) -> PyResult<Attrs> {
        for (arg, given) in self.def.inputs.iter().zip(inputs) {
            if let (Count::Number(number), Some(given)) = (arg.count, given) {
                let len = given.len()? as i64;
                if let Ok(first) = attrs.int(number)
                    && first != len
                    && let Some(other) = self.def.inputs.iter().find(|a| a.count == arg.count)
                    && other.name != arg.name
                {
                    return Err(expected::of_length(self.def, arg, len, first, other));
                }
                attrs.set(number, len);
            }
        }
        Ok(attrs)
    }
}

/// The dtype of the first tensor in a list.
fn first_dtype(list: &[Bound<'_, PyAny>]) -> PyResult<Option<DType>> {
    let first = list.iter().find_map(|item| item.cast::<Tensor>().ok());
    first.map(|tensor| Ok(tensor.get().value_type()?.dtype)).transpose()
}
