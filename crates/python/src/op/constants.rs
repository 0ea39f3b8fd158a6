//! Constants from Python values: numbers, strings, arrays, and lists of them.

use super::expected;
use crate::array;
use crate::dtypes::dtype_of;
use crate::errors::building;
use crate::graph::Graph;
use crate::stack;
use crate::tensor::Tensor;
use millstream::engine::graph::Port;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A constant of a number, a string, an array or lists of them; None for values of other types.
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

/// A constant of a number, a string, an array or lists of them.
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
        expected::name(name)?;
    }
    let node = g.op("Const").name(name.unwrap_or("Const"));
    let node = node.attr("dtype", tensor.dtype()).attr("value", tensor).try_finish();
    let port = Port::new(node.map_err(building)?.id(), 0);
    Graph::made(&graph)?;
    Tensor::of(&graph, port)
}
