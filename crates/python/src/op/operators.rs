//! Operators such as `x + y` that are a single op.

use super::expected::{self, Known};
use super::making::make;
use super::registered;
use crate::array;
use crate::errors::building;
use crate::graph::Graph;
use crate::stack;
use crate::tensor::Tensor;
use millstream::Arg;
use millstream::engine::graph::{Attrs, Port};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// `tensor <op> other`, with operands exchanged if `reverse`; `other` is converted to the dtype of `tensor`.
pub fn binary<'py>(
    tensor: &Bound<'py, Tensor>,
    op: &'static str,
    name: &str,
    other: &Bound<'py, PyAny>,
    reverse: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    if other.cast::<Tensor>().is_err() {
        let dtype = tensor.get().value_type()?.dtype;
        // As in TensorFlow 1.15, values that do not fit this dtype keep their own, and the op reports the
        // mismatch.
        let literal = match array::of_python(other, Some(dtype)) {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => array::of_python(other, None)?,
            literal => literal?,
        };
        if let Some(literal) = literal {
            return with_literal(tensor, op, name, literal, reverse);
        }
        if !reverse && other.hasattr("__millstream_operand__")? {
            return Ok(py.NotImplemented().into_bound(py));
        }
        if other.is_none() {
            return Err(PyValueError::new_err("None values not supported."));
        }
    }
    let mut sides = [Some(tensor.as_any().clone()), Some(other.clone())];
    if reverse {
        sides.swap(0, 1);
    }
    let (graph, id) = make(py, registered(op)?, Some(name.to_owned()), &sides, Attrs::new())?;
    Ok(Tensor::of(&graph, Port::new(id, 0))?.into_any())
}

fn with_literal<'py>(
    tensor: &Bound<'py, Tensor>,
    op: &'static str,
    name: &str,
    literal: millstream::Tensor,
    reverse: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    let body = stack::open_body(py);
    let graph = body.as_ref().unwrap_or_else(|| tensor.get().graph(py));
    let (def, share) = (registered(op)?, graph.get());
    let port = share.taken_in(py, tensor.get())?;
    let own = share.output(port).dtype().map_err(building)?;
    let mut types = [own, literal.dtype()];
    let mut args: [Arg<'_>; 2] = [share.output(port).into(), literal.into()];
    if reverse {
        types.swap(0, 1);
        args.swap(0, 1);
    }
    let mut known = Known::default();
    for (arg, dtype) in def.inputs.iter().zip(types) {
        expected::input(def, arg, dtype.into(), &mut known)?;
    }
    share.note_place(py)?;
    let id = share.inner().op(op).name(name).inputs(args).try_finish().map_err(building)?.id();
    Graph::made(graph)?;
    Ok(Tensor::of(graph, Port::new(id, 0))?.into_any())
}

/// A unary operator.
pub fn unary<'py>(tensor: &Bound<'py, Tensor>, op: &'static str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let inputs = [Some(tensor.as_any().clone())];
    let (graph, id) = make(tensor.py(), registered(op)?, Some(name.to_owned()), &inputs, Attrs::new())?;
    Ok(Tensor::of(&graph, Port::new(id, 0))?.into_any())
}
