//! Op types as functions: what TensorFlow's generated functions do, from the op's declaration.
//!
//! Inputs are converted in order: the dtype of an attribute is that of the first input that has it, and holds for those after it. Numbers,
//! arrays and lists become constants named after the input, under the node's name; what else can become a tensor (a variable, say) is asked of
//! the package, within the node's name scope.

use crate::array;
use crate::attr;
use crate::dtypes::{dtype_object, dtype_of};
use crate::errors::building;
use crate::graph::Graph;
use crate::stack;
use crate::tensor::{Operation, Tensor};
use millstream::graph::op::{AttrKind, Count, OpDef, TypeSpec};
use millstream::graph::{Attr, Attrs, NodeId, Port, ValueType, Within};
use millstream::{Arg, DType, Output};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use smallvec::SmallVec;

// An op type as a Python function. No doc comment: the class's docstring would hide those of its objects.
#[pyclass(frozen, dict, module = "millstream._engine")]
pub struct OpType {
    pub(crate) def: &'static OpDef,
    /// What Python calls it.
    pub(crate) name: String,
    /// Where Python finds it.
    pub(crate) module: String,
    pub(crate) parameters: Vec<Parameter>,
    /// As `raw_ops` have it.
    pub(crate) keyword_only: bool,
    /// The class of the results, where there are several.
    results: PyOnceLock<Py<PyAny>>,
}

/// What Python calls a parameter, what the op calls it, and a tuple with the default if there is one.
type Words = (String, String, Option<Py<PyTuple>>);

/// A parameter of the function.
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// What the op calls it: an input or an attribute.
    pub(crate) target: Target,
    pub(crate) default: Option<Py<PyAny>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Target {
    Input(usize),
    Attr(&'static str, AttrKind),
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
        let def = millstream::registry().get(op);
        let def = def.ok_or_else(|| PyAttributeError::new_err(format!("there is no op '{op}'")))?;
        let parameters = match parameters {
            Some(given) => given_parameters(py, def, given)?,
            None => own_parameters(py, def)?,
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
        crate::doc::of(py, self)
    }

    /// The arguments as `inspect.signature` has them.
    #[getter]
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inspect = py.import("inspect")?;
        let class = inspect.getattr("Parameter")?;
        let kind = class.getattr(if self.keyword_only { "KEYWORD_ONLY" } else { "POSITIONAL_OR_KEYWORD" })?;
        let one = |name: &str, default: Option<Py<PyAny>>| -> PyResult<Bound<'py, PyAny>> {
            let kwargs = PyDict::new(py);
            if let Some(default) = default {
                kwargs.set_item("default", default)?;
            }
            class.call((name, &kind), Some(&kwargs))
        };
        let mut all = Vec::new();
        for p in &self.parameters {
            all.push(one(&p.name, p.default.as_ref().map(|d| d.clone_ref(py)))?);
        }
        all.push(one("name", Some(py.None()))?);
        inspect.getattr("Signature")?.call1((all,))
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
        if self.keyword_only && !args.is_empty() {
            return Err(PyTypeError::new_err(format!(
                "{} only takes keyword args (possible keys: ['{}']). Please pass these args as kwargs instead.",
                self.name,
                self.keys().replace(", ", "', '")
            )));
        }
        if self.parameters.len() + 1 < args.len() {
            return Err(PyTypeError::new_err(format!(
                "{}() takes at most {} arguments but {} were given",
                self.name,
                self.parameters.len() + 1,
                args.len()
            )));
        }
        let mut name: Option<Bound<'py, PyAny>> = None;
        let mut inputs: SmallVec<[Option<Bound<'py, PyAny>>; 4]> = SmallVec::new();
        inputs.resize_with(self.def.inputs.len(), || None);
        let mut attrs = Attrs::new();
        let mut used = 0;
        for (i, parameter) in self.parameters.iter().enumerate() {
            let key = parameter.name.as_str();
            let mut value = args.get_item(i).ok();
            if let Some(given) = kwargs.map(|k| k.get_item(key)).transpose()?.flatten() {
                used += 1;
                if value.replace(given).is_some() {
                    return Err(PyTypeError::new_err(format!(
                        "{}() got multiple values for argument '{key}'",
                        self.name
                    )));
                }
            }
            let value = match (value, &parameter.default) {
                (Some(value), _) => value,
                (None, Some(default)) => default.bind(py).clone(),
                (None, None) => {
                    return Err(PyTypeError::new_err(format!(
                        "{}() missing 1 required positional argument: '{key}'",
                        self.name
                    )));
                }
            };
            match parameter.target {
                Target::Input(k) => inputs[k] = Some(value),
                Target::Attr(_, _) if value.is_none() => {}
                Target::Attr(attr, kind) => {
                    let value = attr::of_python(key, kind, &value)?;
                    if let (AttrKind::Type(allowed), Attr::Type(ty)) = (kind, &value) {
                        allowed_type(key, ty.dtype, allowed)?;
                    }
                    attrs.set(attr, value);
                }
            }
        }
        if let Ok(given) = args.get_item(self.parameters.len()) {
            name = Some(given);
        }
        if let Some(kwargs) = kwargs {
            if let Some(given) = kwargs.get_item("name")? {
                used += 1;
                name = Some(given);
            }
            if used < kwargs.len() {
                let known = |key: &str| key == "name" || self.parameters.iter().any(|p| p.name == key);
                for key in kwargs.keys() {
                    let key: String = key.extract()?;
                    if !known(&key) {
                        return Err(PyTypeError::new_err(format!(
                            "{}() got an unexpected keyword argument '{key}'",
                            self.name
                        )));
                    }
                }
            }
        }
        let name = name.filter(|n| !n.is_none()).map(|n| n.extract::<String>()).transpose()?;
        let (graph, id) = Making::new(py, self.def, name)?.make(&inputs, attrs)?;
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
    fn keys(&self) -> String {
        self.parameters.iter().map(|p| p.name.as_str()).chain(["name"]).collect::<Vec<_>>().join(", ")
    }

    /// What the function returns: nothing but the operation, a tensor, a list, or a named tuple of these.
    fn result<'py>(&self, graph: &Bound<'py, Graph>, id: NodeId) -> PyResult<Bound<'py, PyAny>> {
        let py = graph.py();
        let one = |index: usize| Tensor::of(graph, Port::new(id, index as u32)).map(Bound::into_any);
        // Of a list of no outputs, too, there is nothing else to give.
        let n_outputs = graph.get().inner().read(|g| g.node(id).map(|n| n.info.output_types.len()));
        match self.def.outputs.as_slice() {
            _ if n_outputs.map_err(building)? == 0 => Ok(Operation::of(graph, id)?.into_any()),
            [out] if out.count == Count::One => one(0),
            outputs => {
                let inner = graph.get().inner();
                let ranges = inner.read(|g| {
                    let info = &g.node(id)?.info;
                    outputs.iter().map(|a| info.output_range(a.name)).collect::<Result<Vec<_>, _>>()
                });
                let parts =
                    ranges.map_err(building)?.into_iter().zip(outputs).map(|(range, out)| match out.count {
                        Count::One => one(range.start),
                        _ => Ok(PyList::new(py, range.map(one).collect::<PyResult<Vec<_>>>()?)?.into_any()),
                    });
                let mut parts = parts.collect::<PyResult<Vec<_>>>()?;
                if outputs.len() == 1 {
                    return Ok(parts.remove(0));
                }
                let class = self.results.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
                    let fields: Vec<&str> = outputs.iter().map(|a| a.name).collect();
                    let make = py.import("collections")?.getattr("namedtuple")?;
                    Ok(make.call1((self.def.name, fields))?.unbind())
                })?;
                class.bind(py).call1(PyTuple::new(py, parts)?)
            }
        }
    }
}

/// The words of TensorFlow's function for the op.
fn given_parameters(py: Python<'_>, def: &'static OpDef, given: Vec<Words>) -> PyResult<Vec<Parameter>> {
    let mut parameters = Vec::new();
    for (name, word, default) in given {
        let input = def.inputs.iter().position(|a| a.name == word).map(Target::Input);
        let attr = || def.attrs.iter().find(|(n, _)| *n == word).map(|(n, s)| Target::Attr(n, s.kind));
        // What the op does not have is of another version of TensorFlow.
        let Some(target) = input.or_else(attr) else { continue };
        let default = default.map(|d| d.bind(py).get_item(0).map(Bound::unbind)).transpose()?;
        parameters.push(Parameter { name, target, default });
    }
    let has = |name: &str| {
        parameters.iter().any(|p| match p.target {
            Target::Input(i) => def.inputs[i].name == name,
            Target::Attr(a, _) => a == name,
        })
    };
    match def.inputs.iter().all(|a| has(a.name)) {
        true => Ok(parameters),
        false => own_parameters(py, def),
    }
}

/// The op's own words: inputs, then attributes without defaults, then the others; not those that the inputs tell.
fn own_parameters(py: Python<'_>, def: &'static OpDef) -> PyResult<Vec<Parameter>> {
    let told = |attr: &str| {
        def.inputs.iter().any(|arg| {
            matches!(arg.ty, TypeSpec::Attr(a) if a == attr && !matches!(arg.count, Count::List(_)))
                || matches!(arg.count, Count::Number(a) | Count::List(a) if a == attr)
        })
    };
    let inputs = def.inputs.iter().enumerate();
    let mut parameters: Vec<Parameter> = inputs
        .map(|(i, a)| Parameter { name: a.name.to_owned(), target: Target::Input(i), default: None })
        .collect();
    let (later, first): (Vec<_>, Vec<_>) =
        def.attrs.iter().filter(|(n, _)| !told(n)).partition(|(_, s)| s.default.is_some());
    for (name, spec) in first.into_iter().chain(later) {
        let default = match &spec.default {
            Some(Attr::Str(text)) => Some(PyString::new(py, &text.text()).into_any().unbind()),
            Some(value) => Some(attr::to_python(py, value)?.unbind()),
            None => None,
        };
        parameters.push(Parameter {
            name: (*name).to_owned(),
            target: Target::Attr(name, spec.kind),
            default,
        });
    }
    Ok(parameters)
}

/// A node being made of what Python gives.
struct Making<'py> {
    py: Python<'py>,
    def: &'static OpDef,
    name: Option<String>,
    /// The name scope of the node, once something had to be made in it.
    scope: Option<Within>,
}

/// The dtypes that attributes have so far, and the input that said so.
type Known = SmallVec<[(&'static str, DType, &'static str); 2]>;

impl<'py> Making<'py> {
    fn new(py: Python<'py>, def: &'static OpDef, name: Option<String>) -> PyResult<Self> {
        Ok(Making { py, def, name, scope: None })
    }

    fn make(
        mut self,
        inputs: &[Option<Bound<'py, PyAny>>],
        attrs: Attrs,
    ) -> PyResult<(Bound<'py, Graph>, NodeId)> {
        let graph = match self.graph_of(inputs)? {
            Some(graph) => graph,
            None => stack::default_graph(self.py)?,
        };
        let mut known = Known::new();
        for (name, spec) in &self.def.attrs {
            if let (AttrKind::Type(_), Ok(dtype)) = (spec.kind, attrs.dtype(name)) {
                known.push((name, dtype, name));
            }
        }
        // Values first: graph and Python objects may have to be made for them, and the node's builder borrows the graph.
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        let def = self.def;
        for (arg, given) in def.inputs.iter().zip(inputs) {
            let Some(given) = given else { continue };
            let as_ref = arg.is_ref;
            match arg.count {
                Count::One => {
                    let wanted = wanted_dtype(arg.ty, &known);
                    let preferred = self.preferred(arg.ty);
                    let value = self.value(&graph, given, wanted, preferred, arg.name, as_ref)?;
                    let ty = value.ty(&graph)?;
                    self.check(arg, ty, as_ref, &mut known)?;
                    values.push(value);
                }
                Count::Number(_) | Count::List(_) => {
                    let list = self.list(given, arg.name)?;
                    let uniform = matches!(arg.count, Count::Number(_));
                    let mut wanted = if uniform { wanted_dtype(arg.ty, &known) } else { None };
                    if uniform && wanted.is_none() {
                        wanted = first_dtype(&list)?;
                        self.one_type(arg.name, &list)?;
                    }
                    for (i, item) in list.iter().enumerate() {
                        let name = format!("{}_{i}", arg.name);
                        let value = self.value(&graph, item, wanted, None, &name, as_ref)?;
                        let ty = value.ty(&graph)?;
                        if uniform {
                            self.check(arg, ty, as_ref, &mut known)?;
                            wanted = Some(ty.dtype);
                        }
                        values.push(value);
                    }
                }
            }
        }
        let attrs = self.counts(inputs, attrs)?;
        let share = graph.get();
        share.note_place(self.py)?;
        let name = match (&self.scope, self.name) {
            (Some(_), _) => share.inner().scope(),
            (None, Some(name)) => name,
            (None, None) => String::new(),
        };
        drop(self.scope);
        check_name(&name)?;
        let args = values.into_iter().map(|value| match value {
            Value::Port(port) => Arg::from(share.output(port)),
            Value::Literal(tensor) => Arg::from(tensor),
        });
        let node = share.inner().op(def.name).name(name).inputs(args).attrs(attrs).try_finish();
        let id = node.map_err(building)?.id();
        Graph::made(&graph)?;
        Ok((graph, id))
    }

    /// The graph of the first tensor among the inputs; an error if they are of several.
    fn graph_of(&self, inputs: &[Option<Bound<'py, PyAny>>]) -> PyResult<Option<Bound<'py, Graph>>> {
        let mut found: Option<Bound<'py, Tensor>> = None;
        let mut see = |item: &Bound<'py, PyAny>| -> PyResult<()> {
            let Ok(tensor) = item.cast::<Tensor>() else { return Ok(()) };
            match &found {
                Some(first) if !first.get().graph(self.py).is(tensor.get().graph(self.py)) => {
                    Err(PyValueError::new_err(format!(
                        "{} must be from the same graph as {}.",
                        tensor.str()?,
                        first.str()?
                    )))
                }
                Some(_) => Ok(()),
                None => {
                    found = Some(tensor.clone());
                    Ok(())
                }
            }
        };
        for input in inputs.iter().flatten() {
            match input.cast::<PyList>() {
                Ok(list) => list.iter().try_for_each(|item| see(&item))?,
                Err(_) => match input.cast::<PyTuple>() {
                    Ok(tuple) => tuple.iter().try_for_each(|item| see(&item))?,
                    Err(_) => see(input)?,
                },
            }
        }
        Ok(found.map(|t| t.get().graph(self.py).clone()))
    }

    /// The dtype that an input takes by default, where nothing else says.
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

    /// An input as a port or a literal. `preferred` is a dtype that it may do without.
    fn value(
        &mut self,
        graph: &Bound<'py, Graph>,
        given: &Bound<'py, PyAny>,
        wanted: Option<DType>,
        preferred: Option<DType>,
        name: &str,
        as_ref: bool,
    ) -> PyResult<Value> {
        if let Ok(tensor) = given.cast::<Tensor>() {
            if !tensor.get().graph(self.py).is(graph) {
                return Err(PyValueError::new_err(format!(
                    "{} must be from the same graph as the other inputs of {}.",
                    tensor.str()?,
                    self.def.name
                )));
            }
            return Ok(Value::Port(graph.get().taken(tensor.get().port())?));
        }
        if !as_ref {
            if let (None, Some(preferred)) = (wanted, preferred)
                && let Ok(Some(tensor)) = array::of_python(given, Some(preferred))
                && given.cast::<numpy::PyUntypedArray>().is_err()
            {
                return Ok(Value::Literal(tensor));
            }
            match array::of_python(given, wanted) {
                Ok(Some(tensor)) => return Ok(Value::Literal(tensor)),
                Ok(None) => {}
                Err(error) => return Err(self.passed(given, wanted, name, error)),
            }
        }
        if self.scope.is_none() {
            let wanted = self.name.clone().unwrap_or_else(|| self.def.name.to_owned());
            self.scope = Some(graph.get().inner().enter_name_scope(&wanted));
        }
        let tensor = convert_by_package(graph, given, wanted, Some(name), as_ref)?;
        Ok(Value::Port(graph.get().taken(tensor.get().port())?))
    }

    /// What is wrong with a value, with the parameter that it was given for.
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

    /// Whether an input is what the op declares; keeps what it says of the attributes.
    fn check(
        &self,
        arg: &millstream::graph::op::ArgSpec,
        ty: ValueType,
        as_ref: bool,
        known: &mut Known,
    ) -> PyResult<()> {
        let shown = || format!("{}{}", ty.dtype.tf_name(), if ty.is_ref { "_ref" } else { "" });
        if as_ref && !ty.is_ref {
            return Err(PyTypeError::new_err(format!(
                "'{}' Op requires that input '{}' be a mutable tensor (e.g.: a tf.Variable)",
                self.def.name, arg.name
            )));
        }
        match arg.ty {
            TypeSpec::Fixed(_) => {
                let input = self.def.inputs.iter().position(|a| a.name == arg.name).unwrap_or_default();
                allowed(self.def, input, ty.dtype, ty.is_ref)
            }
            TypeSpec::Attr(attr) => match known.iter().find(|(a, ..)| *a == attr) {
                Some((_, dtype, by)) if *dtype != ty.dtype => Err(PyTypeError::new_err(format!(
                    "Input '{}' of '{}' Op has type {} that does not match type {} of argument '{by}'.",
                    arg.name,
                    self.def.name,
                    shown(),
                    dtype.tf_name()
                ))),
                Some(_) => Ok(()),
                None => {
                    let input = self.def.inputs.iter().position(|a| a.name == arg.name).unwrap_or_default();
                    allowed(self.def, input, ty.dtype, ty.is_ref)?;
                    known.push((attr, ty.dtype, arg.name));
                    Ok(())
                }
            },
        }
    }

    /// An error unless the tensors in a list have one type.
    fn one_type(&self, name: &str, list: &[Bound<'py, PyAny>]) -> PyResult<()> {
        let mut types = Vec::new();
        for item in list {
            let Ok(tensor) = item.cast::<Tensor>() else { return Ok(()) };
            types.push(
                tensor.get().graph(self.py).get().output(tensor.get().port()).dtype().map_err(building)?,
            );
        }
        if types.windows(2).all(|pair| pair[0] == pair[1]) {
            return Ok(());
        }
        Err(PyTypeError::new_err(format!(
            "Tensors in list passed to '{name}' of '{}' Op have types [{}] that don't all match.",
            self.def.name,
            types.iter().map(|d| d.tf_name()).collect::<Vec<_>>().join(", ")
        )))
    }

    /// Says how long lists are where an op takes several.
    fn counts(&self, inputs: &[Option<Bound<'py, PyAny>>], mut attrs: Attrs) -> PyResult<Attrs> {
        for (arg, given) in self.def.inputs.iter().zip(inputs) {
            if let (Count::Number(number), Some(given)) = (arg.count, given) {
                let len = given.len()? as i64;
                if let Ok(first) = attrs.int(number)
                    && first != len
                    && let Some(other) = self.def.inputs.iter().find(|a| a.count == arg.count)
                    && other.name != arg.name
                {
                    return Err(PyValueError::new_err(format!(
                        "List argument '{}' to '{}' Op with length {len} must match length {first} of argument '{}'.",
                        arg.name,
                        snake_case(self.def.name),
                        other.name
                    )));
                }
                attrs.set(number, len);
            }
        }
        Ok(attrs)
    }
}

/// An error unless the op takes this dtype for an input.
fn allowed(def: &OpDef, input: usize, dtype: DType, is_ref: bool) -> PyResult<()> {
    let arg = &def.inputs[input];
    let shown = || format!("{}{}", dtype.tf_name(), if is_ref { "_ref" } else { "" });
    match arg.ty {
        TypeSpec::Fixed(wanted) if wanted != dtype => Err(PyTypeError::new_err(format!(
            "Input '{}' of '{}' Op has type {} that does not match expected type of {}.",
            arg.name,
            def.name,
            shown(),
            wanted.tf_name()
        ))),
        TypeSpec::Fixed(_) => Ok(()),
        TypeSpec::Attr(attr) => match def.attr_spec(attr).map(|s| s.kind) {
            Some(AttrKind::Type(allowed)) if !allowed.is_empty() && !allowed.contains(&dtype) => {
                Err(PyTypeError::new_err(format!(
                    "Value passed to parameter '{}' has DataType {} not in list of allowed values: {}",
                    arg.name,
                    shown(),
                    allowed.iter().map(|d| d.tf_name()).collect::<Vec<_>>().join(", ")
                )))
            }
            _ => Ok(()),
        },
    }
}

/// `DynamicStitch` as `dynamic_stitch`.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.char_indices() {
        if c.is_ascii_uppercase() && 0 < i {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// An error unless an op takes this type there; an empty list allows all.
fn allowed_type(parameter: &str, dtype: DType, allowed: &[DType]) -> PyResult<()> {
    if allowed.is_empty() || allowed.contains(&dtype) {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "Value passed to parameter '{parameter}' has DataType {} not in list of allowed values: {}",
        dtype.tf_name(),
        allowed.iter().map(|d| d.tf_name()).collect::<Vec<_>>().join(", ")
    )))
}

/// Whether a node may have this name.
fn check_name(name: &str) -> PyResult<()> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "_.-/".contains(c);
    match name.chars().all(fine) && !name.starts_with(['_', '-', '/']) {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "'{name}' is not a valid node name: it may hold letters, digits and any of `_.-/`, and begins with a letter, a digit or a dot"
        ))),
    }
}

/// An input on its way to the node.
enum Value {
    Port(Port),
    Literal(millstream::Tensor),
}

impl Value {
    fn ty(&self, graph: &Bound<'_, Graph>) -> PyResult<ValueType> {
        match self {
            Value::Port(port) => graph.get().inner().read(|g| g.type_of(*port)).map_err(building),
            Value::Literal(tensor) => Ok(tensor.dtype().into()),
        }
    }
}

fn wanted_dtype(ty: TypeSpec, known: &Known) -> Option<DType> {
    match ty {
        TypeSpec::Fixed(dtype) => Some(dtype),
        TypeSpec::Attr(attr) => known.iter().find(|(a, ..)| *a == attr).map(|(_, dtype, _)| *dtype),
    }
}

/// The dtype of the first tensor in a list.
fn first_dtype(list: &[Bound<'_, PyAny>]) -> PyResult<Option<DType>> {
    for item in list {
        if let Ok(tensor) = item.cast::<Tensor>() {
            return tensor
                .get()
                .graph(item.py())
                .get()
                .output(tensor.get().port())
                .dtype()
                .map(Some)
                .map_err(building);
        }
    }
    Ok(None)
}

/// What else can become a tensor: a variable, a list with tensors in it, whatever a conversion was registered for.
fn convert_by_package<'py>(
    graph: &Bound<'py, Graph>,
    value: &Bound<'py, PyAny>,
    wanted: Option<DType>,
    name: Option<&str>,
    as_ref: bool,
) -> PyResult<Bound<'py, Tensor>> {
    let py = value.py();
    let dtype = wanted.map(|w| dtype_object(py, w)).transpose()?;
    let tensor = stack::hooks(py)?.convert.bind(py).call1((value, dtype, name, as_ref))?;
    let tensor = tensor.cast_into::<Tensor>()?;
    match tensor.get().graph(py).is(graph) {
        true => Ok(tensor),
        false => Err(PyValueError::new_err(format!(
            "{} must be from the same graph as the other inputs.",
            tensor.str()?
        ))),
    }
}

/// A binary operator of which the side `tensor` is a tensor; the other (`other` says which of the two) takes its dtype.
pub fn operator<'py>(
    tensor: &Bound<'py, Tensor>,
    op: &'static str,
    name: &str,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
    other: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    let share = tensor.get().graph(py);
    let port = share.get().taken(tensor.get().port())?;
    let mut sides = [Some(x), Some(y)];
    if let Some(side) = &sides[other]
        && side.cast::<Tensor>().is_err()
    {
        let dtype = share.get().output(port).dtype().map_err(building)?;
        // As TensorFlow 1.15: what cannot be of this dtype keeps its own, and the op says what does not fit.
        let literal = match array::of_python(side, Some(dtype)) {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => array::of_python(side, None)?,
            other => other?,
        };
        if let Some(literal) = literal {
            return finish_operator(share, op, name, port, literal, other);
        }
    }
    let def = registered(op)?;
    if let Some(side) = &sides[other]
        && side.cast::<Tensor>().is_err()
        && side.hasattr(if other == 1 { "__millstream_operand__" } else { "__none__" })?
    {
        return Ok(py.NotImplemented().into_bound(py));
    }
    for side in &mut sides {
        if let Some(value) = side
            && value.is_none()
        {
            return Err(PyValueError::new_err("None values not supported."));
        }
    }
    let (graph, id) = Making::new(py, def, Some(name.to_owned()))?.make(&sides, Attrs::new())?;
    Ok(Tensor::of(&graph, Port::new(id, 0))?.into_any())
}

fn finish_operator<'py>(
    graph: &Bound<'py, Graph>,
    op: &'static str,
    name: &str,
    port: Port,
    literal: millstream::Tensor,
    other: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (def, share) = (registered(op)?, graph.get());
    let own = share.output(port).dtype().map_err(building)?;
    if literal.dtype() != own {
        let (first, second) = if other == 1 { (own, literal.dtype()) } else { (literal.dtype(), own) };
        return Err(PyTypeError::new_err(format!(
            "Input '{}' of '{op}' Op has type {} that does not match type {} of argument '{}'.",
            def.inputs[1].name,
            second.tf_name(),
            first.tf_name(),
            def.inputs[0].name
        )));
    }
    allowed(def, 0, own, false)?;
    share.note_place(graph.py())?;
    let mut args: [Arg<'_>; 2] = [share.output(port).into(), literal.into()];
    if other == 0 {
        args.swap(0, 1);
    }
    let id = share.inner().op(op).name(name).inputs(args).try_finish().map_err(building)?.id();
    Graph::made(graph)?;
    Ok(Tensor::of(graph, Port::new(id, 0))?.into_any())
}

/// A unary operator.
pub fn unary<'py>(tensor: &Bound<'py, Tensor>, op: &'static str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let inputs = [Some(tensor.as_any().clone())];
    let (graph, id) =
        Making::new(tensor.py(), registered(op)?, Some(name.to_owned()))?.make(&inputs, Attrs::new())?;
    Ok(Tensor::of(&graph, Port::new(id, 0))?.into_any())
}

fn registered(op: &str) -> PyResult<&'static OpDef> {
    millstream::registry().get(op).ok_or_else(|| PyAttributeError::new_err(format!("there is no op '{op}'")))
}

/// A constant of a number, text, an array or lists of them; None if `value` is nothing of the kind.
#[pyfunction]
#[pyo3(signature = (value, dtype = None, name = None))]
pub fn convert<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    name: Option<&str>,
) -> PyResult<Option<Bound<'py, Tensor>>> {
    let dtype = dtype.filter(|d| !d.is_none()).map(dtype_of).transpose()?.map(|t| t.dtype);
    let Some(tensor) = array::of_python(value, dtype)? else { return Ok(None) };
    make_constant(py, tensor, name).map(Some)
}

/// A constant of a number, text, an array or lists of them.
#[pyfunction]
#[pyo3(signature = (value, dtype = None, name = None))]
pub fn constant<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    name: Option<&str>,
) -> PyResult<Bound<'py, Tensor>> {
    if value.is_none() {
        return Err(PyValueError::new_err("None values not supported."));
    }
    convert(py, value, dtype, name)?.ok_or_else(|| array::no_tensor(value))
}

fn make_constant<'py>(
    py: Python<'py>,
    tensor: millstream::Tensor,
    name: Option<&str>,
) -> PyResult<Bound<'py, Tensor>> {
    let graph = stack::default_graph(py)?;
    graph.get().note_place(py)?;
    let g = graph.get().inner();
    if let Some(name) = name {
        check_name(name)?;
    }
    let node =
        g.op("Const").name(name.unwrap_or("Const")).attr("dtype", tensor.dtype()).attr("value", tensor);
    let output: Output<'_> = node.try_finish().map_err(building)?.output(0);
    let port = output.port();
    Graph::made(&graph)?;
    Tensor::of(&graph, port)
}
