//! Sums of the gradients that arrive at one value: tensors, slices, list items, and gradients that come out
//! of one branch only.

use crate::arrays::filled_up;
use millstream_graph::op::grown;
use millstream_graph::{Grad, Graph, IndexedSlices, ListItem, Output};
use millstream_tensor::{DType, Result, invalid};

/// A gradient on its way to a value.
#[derive(Clone, Copy)]
pub(crate) struct Flow<'g> {
    pub grad: Grad<'g>,
    /// The branch of a cond that it came out of, and in which it is alive.
    pub branch: Option<Branch<'g>>,
}

/// One side of a cond.
#[derive(Clone, Copy)]
pub(crate) struct Branch<'g> {
    /// The predicate, as it is known where the value's gradient is built.
    pub pred: Output<'g>,
    pub side: u32,
}

impl<'g> From<Grad<'g>> for Flow<'g> {
    fn from(grad: Grad<'g>) -> Self {
        Flow { grad, branch: None }
    }
}

/// The value whose gradients are summed. Zeros and the shape are made only if they are needed.
pub(crate) trait Value<'g> {
    fn zeros(&mut self) -> Result<Output<'g>>;
    fn shape(&mut self) -> Result<Output<'g>>;
    /// Whether it is a TensorArray that grows, whose gradients are lists of any length.
    fn grows(&self) -> bool;
}

/// Returns the sum of the gradients that flow to a value.
pub(crate) fn sum<'g>(
    graph: &'g Graph,
    flows: &[Flow<'g>],
    value: &mut dyn Value<'g>,
) -> Result<Option<Grad<'g>>> {
    let mut whole: Vec<Grad<'g>> = flows.iter().filter(|f| f.branch.is_none()).map(|f| f.grad).collect();
    let mut conds: Vec<Output<'g>> = Vec::new();
    for branch in flows.iter().filter_map(|f| f.branch) {
        if !conds.iter().any(|p| p.port() == branch.pred.port()) {
            conds.push(branch.pred);
        }
    }
    for pred in conds {
        whole.push(Grad::Dense(join(graph, pred, flows, value)?));
    }
    plain(graph, &whole, value)
}

/// Merges the gradients that come out of the two branches of a cond, with zeros for a branch that gives none.
fn join<'g>(
    graph: &'g Graph,
    pred: Output<'g>,
    flows: &[Flow<'g>],
    value: &mut dyn Value<'g>,
) -> Result<Output<'g>> {
    let mut sides = Vec::new();
    for side in [0, 1] {
        let of_side =
            |f: &&Flow<'g>| f.branch.is_some_and(|b| b.pred.port() == pred.port() && b.side == side);
        let grads: Vec<Grad<'g>> = flows.iter().filter(of_side).map(|f| f.grad).collect();
        sides.push(match grads.is_empty() {
            false => dense(graph, &grads, value, Some(Branch { pred, side }))?,
            true => graph.op("Switch").input(value.zeros()?).input(pred).finish().output(side),
        });
    }
    Ok(graph.op("Merge").inputs(sides).output())
}

fn plain<'g>(graph: &'g Graph, grads: &[Grad<'g>], value: &mut dyn Value<'g>) -> Result<Option<Grad<'g>>> {
    let slices: Vec<IndexedSlices<'g>> = grads
        .iter()
        .filter_map(|g| match g {
            Grad::Slices(s) => Some(*s),
            _ => None,
        })
        .collect();
    match grads {
        [] => Ok(None),
        [Grad::Item(_)] => Ok(Some(Grad::Dense(dense(graph, grads, value, None)?))),
        [one] => Ok(Some(*one)),
        _ if slices.len() == grads.len() => Ok(Some(Grad::Slices(joined(graph, &slices)?))),
        _ => Ok(Some(Grad::Dense(dense(graph, grads, value, None)?))),
    }
}

/// Returns slices with the rows of all of these.
pub(crate) fn joined<'g>(graph: &'g Graph, slices: &[IndexedSlices<'g>]) -> Result<IndexedSlices<'g>> {
    if let [one] = slices {
        return Ok(*one);
    }
    let concat = |parts: Vec<Output<'g>>| graph.op("ConcatV2").inputs(parts).input(0).output();
    let wide = slices.iter().any(|s| s.indices.dtype().is_ok_and(|d| d == DType::I64));
    let index = |s: &IndexedSlices<'g>| match wide && s.indices.dtype().is_ok_and(|d| d != DType::I64) {
        true => graph.op("Cast").input(s.indices).attr("DstT", DType::I64).output(),
        false => s.indices,
    };
    Ok(IndexedSlices {
        values: concat(slices.iter().map(|s| s.values).collect()),
        indices: concat(slices.iter().map(index).collect()),
        dense_shape: slices.iter().find_map(|s| s.dense_shape),
    })
}

/// Returns the sum as a tensor, or as a list.
fn dense<'g>(
    graph: &'g Graph,
    grads: &[Grad<'g>],
    value: &mut dyn Value<'g>,
    branch: Option<Branch<'g>>,
) -> Result<Output<'g>> {
    let mut terms = Vec::new();
    let mut items: Vec<ListItem<'g>> = Vec::new();
    for grad in grads {
        match grad {
            Grad::Dense(grad) => terms.push(*grad),
            Grad::Slices(slices) => {
                let shape = slices.dense_shape.map_or_else(|| value.shape(), Ok)?;
                terms.push(slices.to_dense(shape));
            }
            Grad::Item(item) => items.push(*item),
        }
    }
    let mut total = match terms.as_slice() {
        [] if items.is_empty() => return Err(invalid!("a sum of no gradients")),
        // Zeros made in a branch are alive there only.
        [] => match branch {
            None => value.zeros()?,
            Some(b) => graph.op("Switch").input(value.zeros()?).input(b.pred).finish().output(b.side),
        },
        [one] => *one,
        [a, b] if a.dtype()? != DType::Variant => graph.op("AddV2").inputs([*a, *b]).output(),
        _ if value.grows() => graph.op("AddN").inputs(filled_up(&terms)).output(),
        _ => graph.op("AddN").inputs(terms).output(),
    };
    for item in items {
        total = added(graph, total, item)?;
    }
    Ok(total)
}

/// Returns the list with `item` added to one of its items.
pub(crate) fn added<'g>(graph: &'g Graph, list: Output<'g>, item: ListItem<'g>) -> Result<Output<'g>> {
    let dtype = item.value.dtype()?;
    // If the item was not written, its zeros have the shape of what is added.
    let shape = match item.value.shape() {
        shape if shape.is_full() => graph.element_shape(&shape),
        _ => graph.op("Shape").input(item.value).output(),
    };
    let list = if item.grows { grown(list, item.index) } else { list };
    let old = graph.op("TensorListGetItem").input(list).input(item.index).input(shape);
    let old = old.attr("element_dtype", dtype).output().set_shape(item.value.shape());
    let new = match dtype {
        DType::Variant => graph.op("AddN").inputs([old, item.value]).output(),
        _ => graph.op("AddV2").inputs([old, item.value]).output(),
    };
    Ok(graph.op("TensorListSetItem").input(list).input(item.index).input(new).output())
}
