//! Gradients, Jacobians and Jacobian-vector products over lists of tensors.

use crate::errors::building;
use crate::graph::Graph;
use crate::tensor::Tensor;
use millstream::engine::graph::Grad;
use millstream::{Derivatives, Gradients, Output};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Returns the gradient of the sum of `ys` with respect to each of `xs`: None, a tensor, or for sparse
/// gradients a tuple `(values, indices, dense_shape or None)`. `op_types` are op types without a gradient in
/// the engine for which the package has one.
#[pyfunction]
#[pyo3(signature = (graph, ys, xs, grad_ys = None, stop_gradients = None, name = "gradients", op_types = Vec::new()))]
pub fn gradients<'py>(
    graph: &Bound<'py, Graph>,
    ys: Vec<Bound<'py, Tensor>>,
    xs: Vec<Bound<'py, Tensor>>,
    grad_ys: Option<Vec<Option<Bound<'py, Tensor>>>>,
    stop_gradients: Option<Vec<Bound<'py, Tensor>>>,
    name: &str,
    op_types: Vec<String>,
) -> PyResult<Bound<'py, PyList>> {
    let py = graph.py();
    let share = graph.get();
    share.note_place(py)?;
    crate::custom::announce(graph, op_types)?;
    let inner = share.inner();
    let (ys, xs) = (outputs(share, &ys)?, outputs(share, &xs)?);
    let mut builder = inner.gradients(ys, xs).name(name);
    if let Some(grads) = grad_ys {
        let grads = grads.iter().map(|g| g.as_ref().map(|g| output(share, g)).transpose());
        builder = builder.grad_ys(grads.collect::<PyResult<Vec<_>>>()?);
    }
    if let Some(stop) = stop_gradients {
        builder = builder.stop_gradients(outputs(share, &stop)?);
    }
    let grads = builder.run().map_err(building)?;
    let tensor = |o: Output<'_>| Tensor::of(graph, o.port()).map(Bound::into_any);
    let one = |grad: Option<Grad<'_>>| -> PyResult<Bound<'py, PyAny>> {
        match grad {
            None => Ok(py.None().into_bound(py)),
            Some(Grad::Dense(o)) => tensor(o),
            Some(Grad::Slices(s)) => {
                let shape = s.dense_shape.map_or_else(|| Ok(py.None().into_bound(py)), tensor)?;
                Ok(PyTuple::new(py, [tensor(s.values)?, tensor(s.indices)?, shape])?.into_any())
            }
            Some(Grad::Item(_)) => Err(crate::array::cannot("the gradient of a list by one item")),
        }
    };
    PyList::new(py, grads.into_iter().map(one).collect::<PyResult<Vec<_>>>()?)
}

/// Returns the derivatives of each element of `y` with respect to each element of `x`; per entry of the batch
/// if `of_batch`.
#[pyfunction]
pub fn jacobian<'py>(
    graph: &Bound<'py, Graph>,
    y: &Bound<'py, Tensor>,
    x: &Bound<'py, Tensor>,
    of_batch: bool,
    op_types: Vec<String>,
) -> PyResult<Bound<'py, Tensor>> {
    let share = graph.get();
    share.note_place(graph.py())?;
    crate::custom::announce(graph, op_types)?;
    let (y, x) = (output(share, y)?, output(share, x)?);
    let made = match of_batch {
        true => share.inner().batch_jacobian(y, x),
        false => share.inner().jacobian(y, x),
    };
    Tensor::of(graph, made.map_err(building)?.port())
}

/// Returns the directional derivatives of `ys` for `xs` moving along `tangents`.
#[pyfunction]
pub fn jvp<'py>(
    graph: &Bound<'py, Graph>,
    ys: Vec<Bound<'py, Tensor>>,
    xs: Vec<Bound<'py, Tensor>>,
    tangents: Vec<Bound<'py, Tensor>>,
    op_types: Vec<String>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, share) = (graph.py(), graph.get());
    share.note_place(py)?;
    crate::custom::announce(graph, op_types)?;
    let made = share
        .inner()
        .jvp(&outputs(share, &ys)?, &outputs(share, &xs)?, &outputs(share, &tangents)?)
        .map_err(building)?;
    let tensors = made.into_iter().map(|o| Tensor::of(graph, o.port()));
    PyList::new(py, tensors.collect::<PyResult<Vec<_>>>()?)
}

fn output<'g>(graph: &'g Graph, tensor: &Bound<'_, Tensor>) -> PyResult<Output<'g>> {
    Ok(graph.output(graph.taken(tensor.get().port())?))
}

fn outputs<'g>(graph: &'g Graph, tensors: &[Bound<'_, Tensor>]) -> PyResult<Vec<Output<'g>>> {
    tensors.iter().map(|t| output(graph, t)).collect()
}
