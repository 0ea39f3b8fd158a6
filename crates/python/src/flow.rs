//! Loops and branches over flat lists of tensors. The package flattens structures before the call and packs
//! the results.
//!
//! Conditions, bodies and branches are Python functions, called during graph construction; their exceptions
//! are raised unchanged.

use crate::dtypes::shape_of;
use crate::errors::{building, carried};
use crate::graph::Graph;
use crate::operation::Operation;
use crate::tensor::Tensor;
use millstream::engine::graph::Nest;
use millstream::engine::graph::nest::{Converter, IntoNest, Leaf, Structure, Values};
use millstream::{Op, Output, PartialShape, Result};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A flat list with a name for each part.
#[derive(Clone)]
struct Flat<'g> {
    leaves: Vec<Leaf<'g>>,
    names: Vec<String>,
}

impl<'g> Nest<'g> for Flat<'g> {
    fn structure(&self) -> Structure {
        // The package compares whether branches return values or operations.
        let name = |i: usize| self.names.get(i).cloned().unwrap_or_else(|| i.to_string());
        Structure::Map((0..self.leaves.len()).map(|i| (name(i), Structure::Value)).collect())
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        leaves.extend(self.leaves.iter().copied());
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        let leaves = self.leaves.iter().map(|_| values.take().map(Leaf::Output)).collect::<Result<_>>()?;
        Ok(Flat { leaves, names: self.names.clone() })
    }
}

impl<'g> IntoNest<'g> for Flat<'g> {
    type Nest = Flat<'g>;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Flat<'g>> {
        cx.pass(self)
    }
}

impl<'g> Flat<'g> {
    fn of(
        graph: &'g Graph,
        py: Python<'_>,
        list: &Bound<'_, PyAny>,
        names: Vec<String>,
    ) -> PyResult<Flat<'g>> {
        let leaf = |item: Bound<'_, PyAny>| -> PyResult<Leaf<'g>> {
            let (owner, leaf) = match (item.cast::<Tensor>(), item.cast::<Operation>()) {
                (Ok(t), _) => {
                    let owner = t.get().graph(py).get();
                    if graph.is_body() {
                        let port = graph.taken_in(py, t.get())?;
                        return Ok(Leaf::Output(graph.output(port)));
                    }
                    let port = match owner.inner().same(graph.inner()) {
                        true => graph.taken(t.get().port())?,
                        false => t.get().port(),
                    };
                    (owner, Leaf::Output(graph.output(port)))
                }
                (_, Ok(op)) => (op.get().graph(py).get(), Leaf::Op(Op::new(graph.inner(), op.get().id()))),
                _ => {
                    return Err(PyTypeError::new_err(format!(
                        "{} is neither a Tensor nor an Operation",
                        item.repr()?
                    )));
                }
            };
            match owner.inner().same(graph.inner()) {
                true => Ok(leaf),
                false => Err(PyValueError::new_err(format!("{} belongs to another graph", item.str()?))),
            }
        };
        let leaves = list.try_iter()?.map(|item| leaf(item?)).collect::<PyResult<_>>()?;
        Ok(Flat { leaves, names })
    }

    fn tensors<'py>(&self, graph: &Bound<'py, Graph>) -> PyResult<Bound<'py, PyList>> {
        let tensors = self.leaves.iter().map(|leaf| match leaf {
            Leaf::Output(o) => Tensor::of(graph, o.port()),
            Leaf::Op(op) => Tensor::of(graph, op.output(0).port()),
        });
        PyList::new(graph.py(), tensors.collect::<PyResult<Vec<_>>>()?)
    }
}

/// Builds a loop. `cond` and `body` take a list of tensors; `cond` returns a tensor, `body` a list.
/// `checkpoint` is the number of iterations between two that gradients save; with 0 the engine chooses it.
#[pyfunction]
#[pyo3(signature = (
    graph, cond, body, init, names, shape_invariants = None, parallel_iterations = 10, back_prop = true,
    swap_memory = false, maximum_iterations = None, name = "while", checkpoint = None,
))]
#[expect(clippy::too_many_arguments, reason = "the arguments of TensorFlow's function")]
pub fn while_loop<'py>(
    graph: &Bound<'py, Graph>,
    cond: &Bound<'py, PyAny>,
    body: &Bound<'py, PyAny>,
    init: &Bound<'py, PyList>,
    names: Vec<String>,
    shape_invariants: Option<Vec<Bound<'py, PyAny>>>,
    parallel_iterations: i64,
    back_prop: bool,
    swap_memory: bool,
    maximum_iterations: Option<&Bound<'py, Tensor>>,
    name: &str,
    checkpoint: Option<i64>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, share) = (graph.py(), graph.get());
    share.note_place(py)?;
    let vars = Flat::of(share, py, init, names.clone())?;
    let mut builder = share.inner().while_loop(vars);
    if let Some(shapes) = shape_invariants {
        for (i, shape) in shapes.iter().enumerate() {
            if !shape.is_none() {
                let shape: PartialShape = shape_of(shape)?;
                let path = names.get(i).cloned().unwrap_or_else(|| i.to_string());
                builder = builder.shape_of(path, shape);
            }
        }
    }
    if let Some(n) = maximum_iterations {
        builder = builder.maximum_iterations(share.output(share.taken_in(py, n.get())?));
    }
    let builder =
        builder.parallel_iterations(parallel_iterations).back_prop(back_prop).swap_memory(swap_memory);
    let builder = match checkpoint {
        None => builder,
        Some(0) => builder.checkpoint_auto(),
        Some(k) => builder.checkpoint_every(k),
    };
    let call = |f: &Bound<'py, PyAny>, vars: Flat<'_>| -> PyResult<Bound<'py, PyAny>> {
        f.call1((vars.tensors(graph)?,))
    };
    let pred = |vars: Flat<'_>| -> Result<Output<'_>> {
        let pred = call(cond, vars).and_then(|p| Ok(p.cast_into::<Tensor>()?)).map_err(carried)?;
        let port = share.taken_in(py, pred.get()).map_err(carried)?;
        Ok(share.output(port))
    };
    let next = |vars: Flat<'_>| -> Result<Flat<'_>> {
        call(body, vars).and_then(|list| Flat::of(share, py, &list, names.clone())).map_err(carried)
    };
    builder.name(name).run(pred, next).map_err(building)?.tensors(graph)
}

/// Builds a conditional; both functions take no arguments and return a list of tensors and operations.
#[pyfunction]
pub fn cond<'py>(
    graph: &Bound<'py, Graph>,
    pred: &Bound<'py, Tensor>,
    on_true: &Bound<'py, PyAny>,
    on_false: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Bound<'py, PyList>> {
    let (py, share) = (graph.py(), graph.get());
    share.note_place(py)?;
    let branch = |f: &Bound<'py, PyAny>| -> Result<Flat<'_>> {
        f.call0().and_then(|list| Flat::of(share, py, &list, Vec::new())).map_err(carried)
    };
    let pred = share.output(share.taken_in(py, pred.get())?);
    let merged = share.inner().cond_named(name, pred, || branch(on_true), || branch(on_false));
    merged.map_err(building)?.tensors(graph)
}
