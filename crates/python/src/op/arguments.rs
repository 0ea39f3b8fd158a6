//! Assignment of a call's arguments to parameters, with Python's rules and error messages.

use super::expected;
use super::making::Inputs;
use super::{OpType, Parameter, Target};
use crate::attr;
use millstream::engine::graph::op::AttrKind;
use millstream::engine::graph::{Attr, Attrs};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The arguments of a call, sorted for the op.
pub struct Arguments<'py> {
    pub inputs: Inputs<'py>,
    pub attrs: Attrs,
    pub name: Option<String>,
}

impl<'py> Arguments<'py> {
    pub fn of(
        op: &OpType,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Arguments<'py>> {
        check_positional(op, args)?;
        let mut inputs = Inputs::new();
        inputs.resize_with(op.def.inputs.len(), || None);
        let mut attrs = Attrs::new();
        let mut call = Call { op, args, kwargs, n_used: 0 };
        for (i, parameter) in op.parameters.iter().enumerate() {
            let value = match (call.given(i, &parameter.name)?, &parameter.default) {
                (Some(value), _) => value,
                (None, Some(default)) => default.bind(py).clone(),
                (None, None) => {
                    return Err(
                        call.wrong(format!("missing 1 required positional argument: '{}'", parameter.name))
                    );
                }
            };
            match parameter.target {
                Target::Input(k) => inputs[k] = Some(value),
                // None asks for the default. Without one it is a value, which has to fit.
                Target::Attr(..) if value.is_none() && parameter.default.is_some() => {}
                Target::Attr(attr, kind) => attrs.set(attr, attribute(op.def.name, parameter, kind, &value)?),
            }
        }
        let name = call.given(op.parameters.len(), "name")?;
        call.check_used()?;
        let name = name.filter(|n| !n.is_none()).map(|n| n.extract::<String>()).transpose()?;
        Ok(Arguments { inputs, attrs, name })
    }
}

fn attribute(op: &str, parameter: &Parameter, kind: AttrKind, value: &Bound<'_, PyAny>) -> PyResult<Attr> {
    let value = attr::of_python(op, &parameter.name, kind, value)?;
    if let (AttrKind::Type(allowed), Attr::Type(ty)) = (kind, &value) {
        expected::one_of(&parameter.name, *ty, allowed)?;
    }
    Ok(value)
}

/// A call as passed by Python.
struct Call<'a, 'py> {
    op: &'a OpType,
    args: &'a Bound<'py, PyTuple>,
    kwargs: Option<&'a Bound<'py, PyDict>>,
    /// Number of keyword arguments used.
    n_used: usize,
}

impl<'py> Call<'_, 'py> {
    /// The argument of a parameter, by position or by name.
    fn given(&mut self, index: usize, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let placed = self.args.get_item(index).ok();
        let Some(kwargs) = self.kwargs else { return Ok(placed) };
        let named = kwargs.get_item(name)?;
        self.n_used += usize::from(named.is_some());
        match (&placed, &named) {
            (Some(_), Some(_)) => Err(self.wrong(format!("got multiple values for argument '{name}'"))),
            _ => Ok(placed.or(named)),
        }
    }

    /// An error if keyword arguments are left over.
    fn check_used(&self) -> PyResult<()> {
        let Some(kwargs) = self.kwargs.filter(|k| self.n_used < k.len()) else { return Ok(()) };
        for key in kwargs.keys() {
            let key: String = key.extract()?;
            if key != "name" && self.op.parameters.iter().all(|p| p.name != key) {
                return Err(self.wrong(format!("got an unexpected keyword argument '{key}'")));
            }
        }
        Ok(())
    }

    fn wrong(&self, what: String) -> PyErr {
        PyTypeError::new_err(format!("{}() {what}", self.op.name))
    }
}

fn check_positional(op: &OpType, args: &Bound<'_, PyTuple>) -> PyResult<()> {
    if op.keyword_only && !args.is_empty() {
        let keys: Vec<&str> = op.parameters.iter().map(|p| p.name.as_str()).chain(["name"]).collect();
        return Err(PyTypeError::new_err(format!(
            "{} only takes keyword args (possible keys: ['{}']). Please pass these args as kwargs instead.",
            op.name,
            keys.join("', '")
        )));
    }
    let most = op.parameters.len() + 1;
    match args.len() <= most {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!(
            "{}() takes at most {most} arguments but {} were given",
            op.name,
            args.len()
        ))),
    }
}
