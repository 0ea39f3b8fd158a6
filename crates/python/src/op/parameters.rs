//! The parameters of an op's function: those of TensorFlow's function, or the op's own.

use crate::attr;
use millstream::engine::graph::Attr;
use millstream::engine::graph::op::{AttrKind, Count, OpDef, TypeSpec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// A parameter's Python name, its name in the op, and a tuple with the default if there is one.
pub type Words = (String, String, Option<Py<PyTuple>>);

/// A parameter of the function.
pub struct Parameter {
    pub name: String,
    /// The input or attribute of the op that the parameter sets.
    pub target: Target,
    pub default: Option<Py<PyAny>>,
}

/// The meaning of an argument for the op.
#[derive(Clone, Copy)]
pub enum Target {
    Input(usize),
    Attr(&'static str, AttrKind),
}

/// The parameters of TensorFlow's function for the op.
pub fn given(py: Python<'_>, def: &'static OpDef, given: Vec<Words>) -> PyResult<Vec<Parameter>> {
    let mut parameters = Vec::new();
    for (name, word, default) in given {
        let input = def.inputs.iter().position(|a| a.name == word).map(Target::Input);
        let attr = || def.attrs.iter().find(|(n, _)| *n == word).map(|(n, s)| Target::Attr(n, s.kind));
        // Parameters unknown to the op belong to another version of TensorFlow.
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
        false => own(py, def),
    }
}

/// The op's own parameters: inputs, attributes without defaults, then other attributes; attributes that
/// inputs determine are left out.
pub fn own(py: Python<'_>, def: &'static OpDef) -> PyResult<Vec<Parameter>> {
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

/// The parameters for `inspect.signature`.
pub fn signature<'py>(
    py: Python<'py>,
    parameters: &[Parameter],
    keyword_only: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let inspect = py.import("inspect")?;
    let class = inspect.getattr("Parameter")?;
    let kind = class.getattr(if keyword_only { "KEYWORD_ONLY" } else { "POSITIONAL_OR_KEYWORD" })?;
    let one = |name: &str, default: Option<Py<PyAny>>| -> PyResult<Bound<'py, PyAny>> {
        let kwargs = PyDict::new(py);
        if let Some(default) = default {
            kwargs.set_item("default", default)?;
        }
        class.call((name, &kind), Some(&kwargs))
    };
    let mut all = Vec::new();
    for p in parameters {
        all.push(one(&p.name, p.default.as_ref().map(|d| d.clone_ref(py)))?);
    }
    all.push(one("name", Some(py.None()))?);
    inspect.getattr("Signature")?.call1((all,))
}
