//! Conversion of attributes between Python values and [`Attr`], by the declared kind.

use crate::array;
use crate::dtypes::{dtype_object, dtype_of, shape_object, shape_of};
use crate::op::expected::snake_case;
use millstream::engine::graph::op::AttrKind;
use millstream::engine::graph::{Attr, Attrs, FuncRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyTuple};

/// Converts the Python value of attribute `name` of `op`.
pub fn of_python(op: &str, name: &str, kind: AttrKind, value: &Bound<'_, PyAny>) -> PyResult<Attr> {
    let one = |value: &Bound<'_, PyAny>, kind| of_python(op, name, kind, value);
    let list = |item: AttrKind| -> PyResult<Attr> {
        if !(value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>())
            && value.try_iter().is_err()
        {
            let shown = value.repr().map_or_else(|_| "a value".into(), |r| r.to_string());
            return Err(PyTypeError::new_err(format!(
                "Expected list for '{name}' argument to '{}' Op, not {shown}.",
                snake_case(op)
            )));
        }
        let items = value.try_iter()?.map(|value| one(&value?, item)).collect::<PyResult<Vec<_>>>()?;
        Ok(Attr::List(items))
    };
    Ok(match kind {
        AttrKind::Type(_) if value.is_none() => return Err(wrong(name, "DataType", value)),
        AttrKind::Type(_) => Attr::Type(dtype_of(value)?.dtype.into()),
        AttrKind::Int(least) => {
            if value.is_instance_of::<PyBool>() && least == i64::MIN {
                return Ok(Attr::Int(value.extract::<bool>()?.into()));
            }
            let int: i64 = match value.is_instance_of::<PyInt>() {
                true => value.extract()?,
                false => match value.call_method0("__int__").or_else(|_| value.call_method0("__index__")) {
                    Ok(int) if array::text_of(value).is_none() => int.extract()?,
                    _ => return Err(wrong(name, "int", value)),
                },
            };
            Attr::Int(int)
        }
        AttrKind::Float => match value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
            true => Attr::Float(value.extract::<f64>()? as f32),
            false => match value.call_method0("__float__") {
                Ok(float) => Attr::Float(float.extract::<f64>()? as f32),
                Err(_) => return Err(wrong(name, "float", value)),
            },
        },
        AttrKind::Bool => match value.cast::<PyBool>() {
            Ok(b) => Attr::Bool(b.is_true()),
            Err(_) => match value.get_type().name()?.to_cow()?.as_ref() {
                "bool_" | "bool" => Attr::Bool(value.is_truthy()?),
                _ => return Err(wrong(name, "bool", value)),
            },
        },
        AttrKind::Str(words) => {
            let bytes = array::text_of(value).ok_or_else(|| wrong(name, "string", value))?;
            if !words.is_empty() && !words.iter().any(|w| w.as_bytes() == bytes) {
                return Err(PyValueError::new_err(format!(
                    "Attr '{name}' of '{op}' Op passed string '{}' not in: {}.",
                    bytes.escape_ascii(),
                    words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", ")
                )));
            }
            Attr::Str(bytes.into())
        }
        AttrKind::Shape => Attr::Shape(shape_of(value)?),
        AttrKind::Tensor => {
            let tensor = array::of_python(value, None)?;
            Attr::Tensor(tensor.ok_or_else(|| wrong(name, "tensor", value))?)
        }
        AttrKind::TypeList(_) => list(AttrKind::Type(&[]))?,
        AttrKind::IntList => list(AttrKind::Int(i64::MIN))?,
        AttrKind::FloatList => list(AttrKind::Float)?,
        AttrKind::StrList => list(AttrKind::Str(&[]))?,
        AttrKind::ShapeList => list(AttrKind::Shape)?,
        // Functions of the graph's library are given by their names.
        AttrKind::Func => {
            let text = array::text_of(value).ok_or_else(|| wrong(name, "function", value))?;
            let name = String::from_utf8_lossy(&text).into_owned();
            Attr::Func(FuncRef { name, attrs: Attrs::new() })
        }
        AttrKind::FuncList => list(AttrKind::Func)?,
    })
}

fn wrong(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let shown = value.repr().map_or_else(|_| "a value".into(), |r| r.to_string());
    PyTypeError::new_err(format!("Expected {wanted} for argument '{name}' not {shown}."))
}

/// Whether TensorFlow returns the attribute as a protobuf message.
pub fn is_message(attr: &Attr) -> bool {
    match attr {
        Attr::Shape(_) | Attr::Tensor(_) => true,
        Attr::List(items) => items.iter().any(is_message),
        _ => false,
    }
}

/// The attribute as returned by `Operation.get_attr`.
pub fn to_python<'py>(py: Python<'py>, attr: &Attr) -> PyResult<Bound<'py, PyAny>> {
    Ok(match attr {
        Attr::Str(v) => PyBytes::new(py, v).into_any(),
        Attr::Int(v) => v.into_pyobject(py)?.into_any(),
        Attr::Float(v) => f64::from(*v).into_pyobject(py)?.into_any(),
        Attr::Bool(v) => PyBool::new(py, *v).to_owned().into_any(),
        Attr::Type(v) => dtype_object(py, *v)?,
        Attr::Shape(v) => shape_object(py, v)?,
        Attr::Tensor(v) => array::to_python(py, v.clone())?,
        Attr::Func(v) => v.name.clone().into_pyobject(py)?.into_any(),
        Attr::List(v) => {
            PyList::new(py, v.iter().map(|a| to_python(py, a)).collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
    })
}
