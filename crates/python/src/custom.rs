//! Gradients defined by Python functions: `RegisterGradient`, `custom_gradient`.
//!
//! The engine asks for a gradient by name. Names that it does not know are registered with one function
//! defined here, which gets the Python function from the package (`ops.custom_gradients`) and calls it with
//! the operation and the gradients of its outputs.
//!
//! Inside a loop, the forward values that the function uses (inputs of the operation, or values captured by
//! its closure) differ in each iteration and must be saved. They are known only while the function runs: each
//! is replaced by an `Identity` of a placeholder ([`StandIns`]). When the function returns, the engine
//! supplies the saved values as inputs of these `Identity` nodes.

use crate::errors::{building, carried};
use crate::graph::Graph;
use crate::operation::Operation;
use crate::tensor::Tensor;
use millstream::engine::graph::op::{GRADIENT_OVERRIDE, GradCx, Gradient};
use millstream::engine::graph::{ContextId, Grad, IndexedSlices, Op, Port};
use millstream::{Code, Error, Output, Result};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyWeakrefMethods, PyWeakrefReference};
use std::sync::Arc;

/// Replacements for forward values in a running gradient function.
pub struct StandIns {
    /// The context in which the gradient is built.
    context: Option<ContextId>,
    /// Pairs of a forward value and its replacement.
    made: Vec<(Port, Port)>,
}

impl StandIns {
    /// Returns an empty set for a gradient built in this context.
    fn new(context: Option<ContextId>) -> StandIns {
        StandIns { context, made: Vec::new() }
    }

    /// Returns the replacement for a value of a loop outside the current context; other values are returned
    /// unchanged.
    pub fn taken(&mut self, graph: &millstream::BareGraph, value: Port) -> Result<Port> {
        let here = graph.current_context();
        let foreign = graph.read(|g| -> Result<bool> {
            let home = g.loop_of(g.node(value.node)?.context);
            Ok(home.is_some() && !g.is_within(here, home))
        })?;
        if !foreign {
            return Ok(value);
        }
        if let Some((_, made)) = self.made.iter().find(|(of, _)| *of == value) {
            return Ok(*made);
        }
        let (dtype, shape) = graph.read(|g| g.type_of(value).map(|ty| (ty.dtype, g.shape_of(value))))?;
        let made = graph.inside(self.context, || {
            let place = graph.placeholder_of("forward", dtype, shape.clone());
            graph.op("Identity").name("forward").input(place).try_finish().map(|op| op.output(0))
        })?;
        self.made.push((value, made.port()));
        Ok(made.port())
    }

    /// Connects the forward values to their replacements.
    fn fill(self, cx: &mut GradCx<'_, '_>) -> Result<()> {
        let graph = cx.graph();
        for (value, made) in self.made {
            // A value of an outer loop is constant in the node's own loop: the value that enters that loop is
            // used.
            let (home, own) = graph.read(|g| -> Result<_> {
                let loop_of = |node| g.node(node).map(|n| g.loop_of(n.context));
                Ok((loop_of(value.node)?, loop_of(cx.id())?))
            })?;
            let value = match home == own {
                true => value,
                false => graph.brought_in(own, Output::new(graph, value))?.port(),
            };
            let value = graph.brought_in(self.context, cx.value(value))?;
            graph.update_input(Op::new(graph, made.node), 0, value)?;
        }
        Ok(())
    }
}

/// Whether the op type has a gradient or is marked as not differentiable; None if the op type is unknown.
#[pyfunction]
pub fn has_gradient(op: &str) -> Option<bool> {
    let def = millstream::registry().get(op)?;
    Some(!matches!(def.gradient_of(), None | Some(Gradient::Missing(_))))
}

/// Registers with the engine the named gradients of nodes created since the last call, and those of
/// `op_types`.
pub fn announce(graph: &Bound<'_, Graph>, op_types: Vec<String>) -> PyResult<()> {
    let share = graph.get();
    let inner = share.inner();
    let from = share.announced_from();
    let mut names: Vec<String> = inner.read(|g| {
        let asked = g.nodes()[from..].iter().filter_map(|node| node.info.attrs.str(GRADIENT_OVERRIDE).ok());
        asked.map(|name| name.text().into_owned()).collect()
    });
    names.retain(|name| has_gradient(name) != Some(true));
    names.extend(op_types);
    names.sort();
    names.dedup();
    for name in names {
        if inner.registered_gradient(&name).is_none() {
            let graph = PyWeakrefReference::new(graph)?.unbind();
            let own = name.clone();
            inner.register_gradient(name, Arc::new(move |cx: &mut GradCx| differentiate(&graph, &own, cx)));
        }
    }
    Ok(())
}

/// Computes the gradient of a node by the Python function of this name.
fn differentiate(graph: &Py<PyWeakrefReference>, name: &str, cx: &mut GradCx<'_, '_>) -> Result<()> {
    let gone = || Error::new(Code::Cancelled, "the graph is gone from Python");
    let attached = Python::try_attach(|py| {
        let graph = graph.bind(py).upgrade().and_then(|g| g.cast_into::<Graph>().ok());
        let graph = graph.ok_or_else(gone)?;
        call(py, &graph, name, cx)
    });
    attached.unwrap_or_else(|| Err(gone()))
}

fn call(py: Python<'_>, graph: &Bound<'_, Graph>, name: &str, cx: &mut GradCx<'_, '_>) -> Result<()> {
    let op = Operation::of(graph, cx.id()).map_err(carried)?;
    let prepare = || -> PyResult<(Bound<'_, PyAny>, Option<usize>)> {
        let module = py.import("millstream.ops.custom_gradients")?;
        module.call_method1("_find", (graph, name, &op))?.extract()
    };
    let (apply, n_grads) = prepare().map_err(carried)?;
    let n = cx.n_outputs();
    let grads = (0..n.min(n_grads.unwrap_or(n))).map(|i| flows_in(py, graph, cx, i));
    let grads = grads.collect::<Result<Vec<_>>>()?;
    cx.graph().check()?;
    let share = graph.get();
    share.begin_gradient(StandIns::new(share.inner().current_context()));
    let given = apply.call1((&op, grads)).and_then(|list| {
        let list = list.cast_into::<PyList>()?;
        list.iter().map(|grad| flows_out(share, &grad)).collect::<PyResult<Vec<_>>>()
    });
    let stand_ins = share.end_gradient();
    let given = given.map_err(carried)?;
    stand_ins.map_or(Ok(()), |s| s.fill(cx))?;
    let graph = cx.graph();
    let at = |port: Port| Output::new(graph, port);
    for (i, grad) in given.into_iter().enumerate() {
        match grad {
            None => {}
            Some(Parts::Dense(port)) => cx.give(i, at(port)),
            Some(Parts::Slices(values, indices, shape)) => {
                let (values, indices) = (at(values), at(indices));
                cx.give(i, IndexedSlices { values, indices, dense_shape: shape.map(at) });
            }
        }
    }
    Ok(())
}

/// The gradient of an output as a Python object; zeros if there is none.
fn flows_in<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    cx: &mut GradCx<'_, '_>,
    i: usize,
) -> Result<Bound<'py, PyAny>> {
    let tensor = |o: Output<'_>| Tensor::of(graph, o.port()).map(Bound::into_any).map_err(carried);
    match cx.grad_as_it_is(i) {
        None if !cx.output_dtype(i).carries_gradients() => Ok(py.None().into_bound(py)),
        Some(Grad::Slices(s)) => {
            let shape = match s.dense_shape {
                Some(shape) => tensor(shape)?,
                None => py.None().into_bound(py),
            };
            let make = || -> PyResult<Bound<'py, PyAny>> {
                let class = py.import("millstream.framework")?.getattr("IndexedSlices")?;
                class.call1((
                    tensor(s.values).map_err(building)?,
                    tensor(s.indices).map_err(building)?,
                    shape,
                ))
            };
            make().map_err(carried)
        }
        _ => tensor(cx.grad(i)),
    }
}

/// The gradient of an input.
enum Parts {
    Dense(Port),
    Slices(Port, Port, Option<Port>),
}

/// Converts the gradient of an input: None, a tensor, or the components of slices.
fn flows_out(graph: &Graph, grad: &Bound<'_, PyAny>) -> PyResult<Option<Parts>> {
    let port = |t: &Bound<'_, PyAny>| graph.taken(t.cast::<Tensor>()?.get().port());
    if grad.is_none() {
        return Ok(None);
    }
    let Ok(parts) = grad.cast::<PyTuple>() else { return Ok(Some(Parts::Dense(port(grad)?))) };
    let (values, indices, shape): (Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>) = parts.extract()?;
    let shape = if shape.is_none() { None } else { Some(port(&shape)?) };
    Ok(Some(Parts::Slices(port(&values)?, port(&indices)?, shape)))
}
