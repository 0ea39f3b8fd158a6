//! SparseTensors in queues: a queue holds the number under which a map stores the tensor.

use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use crate::sugar::{Functions, Methods, column};
use millstream_graph::nest::Structure;
use millstream_graph::{Graph, Op, Output, SparseTensor};
use millstream_tensor::{DType, PartialShape, Result, ensure, invalid};

/// A component of an example.
pub(crate) enum Part<'g> {
    Dense(Output<'g>),
    Sparse(SparseTensor<'g>),
}

/// Returns the components of a structure with these values.
pub(crate) fn parts<'g>(
    structure: &Structure,
    values: &mut impl Iterator<Item = Output<'g>>,
) -> Result<Vec<Part<'g>>> {
    let mut next = || values.next().ok_or_else(|| invalid!("a structure needs more values than it has"));
    Ok(match structure {
        Structure::Value => vec![Part::Dense(next()?)],
        Structure::Sparse => {
            vec![Part::Sparse(SparseTensor { indices: next()?, values: next()?, dense_shape: next()? })]
        }
        Structure::Operation | Structure::Slices { .. } | Structure::Array => {
            return Err(invalid!("examples are made of tensors and SparseTensors, not of {structure}"));
        }
        _ => {
            let mut all = Vec::new();
            for (_, part) in structure.parts() {
                all.extend(parts(part, values)?);
            }
            all
        }
    })
}

/// The filter of examples.
pub(crate) struct Keep<'g> {
    pub input: Output<'g>,
    /// Whether the filter applies to rows.
    pub by_row: bool,
}

impl<'g> Keep<'g> {
    pub fn new(input: Output<'g>, enqueue_many: bool) -> Result<Keep<'g>> {
        input.graph().check()?;
        let dtype = input.dtype()?;
        ensure!(dtype == DType::Bool, "`keep_input` is bool, not {dtype}");
        let by_row = match input.shape().rank() {
            None => Err(invalid!("`keep_input` dimensions must be known at graph construction.")
                .with_help("give them with `set_shape`")),
            Some(1) if !enqueue_many => {
                Err(invalid!("`keep_input` cannot be a vector when `enqueue_many=False`."))
            }
            Some(rank @ (0 | 1)) => Ok(rank == 1),
            Some(_) => Err(invalid!("`keep_input` must be 0 or 1 dimensions.")),
        };
        Ok(Keep { input, by_row: by_row? })
    }
}

/// The map that stores SparseTensors while the queue holds their numbers.
#[derive(Clone)]
pub(crate) struct Map<'g> {
    /// The operation that adds them.
    op: Op<'g>,
    dtype: DType,
    /// The rank of an example, if it is known.
    pub rank: Option<usize>,
}

/// Returns the components of an example as the queue holds them, and the maps of the sparse ones; those of
/// another source, if `maps` is not empty.
pub(crate) fn store<'g>(
    g: &'g Graph,
    parts: &[Part<'g>],
    keep: &Keep<'g>,
    many: bool,
    maps: &[Option<Map<'g>>],
) -> Result<(Vec<Output<'g>>, Vec<Option<Map<'g>>>)> {
    let shared = |i: usize| maps.get(i).cloned().flatten();
    let mut stored = Vec::with_capacity(parts.len());
    for (i, part) in parts.iter().enumerate() {
        stored.push(match part {
            Part::Dense(output) => *output,
            Part::Sparse(sparse) => put(g, sparse, keep, many, shared(i))?,
        });
    }
    let mut known = Vec::with_capacity(parts.len());
    for (i, part) in parts.iter().enumerate() {
        let Part::Sparse(sparse) = part else {
            known.push(None);
            continue;
        };
        let whole = sparse.dense_shape.shape().dim(0);
        // The result of the branch is a Merge of the number of a stored tensor and -1.
        let puts = |op: &Op<'g>| op.op_type().ends_with("SparseToTensorsMap");
        let op = stored[i].op();
        let op = op.inputs().iter().map(Output::op).find(puts).unwrap_or(op);
        let rank = whole.map(|rank| rank.saturating_sub(usize::from(many)));
        let op = shared(i).map_or(op, |map| map.op);
        known.push(Some(Map { op, dtype: sparse.values.dtype()?, rank }));
        // Each number is a row, like other components of an example.
        stored[i] = g.expand_dims(stored[i], [-1]);
    }
    Ok((stored, known))
}

/// Adds a sparse tensor, or the rows of many, to a map if it is kept. Returns the numbers, -1 for those not
/// kept.
fn put<'g>(
    g: &'g Graph,
    sparse: &SparseTensor<'g>,
    keep: &Keep<'g>,
    many: bool,
    map: Option<Map<'g>>,
) -> Result<Output<'g>> {
    let name = map.map(|map| map.op.name()).unwrap_or_default();
    let put = |sparse: SparseTensor<'g>| {
        let op = if many { "AddManySparseToTensorsMap" } else { "AddSparseToTensorsMap" };
        let inputs = [sparse.indices, sparse.values, sparse.dense_shape];
        g.op(op).inputs(inputs).attr("shared_name", name).output()
    };
    if keep.by_row {
        let rows = column(sparse.indices, 0);
        return Ok(put(retain(g, sparse, g.gather(keep.input, rows, 0))));
    }
    if !many {
        return g.smart_cond(keep.input, || put(*sparse), || g.constant(-1i64));
    }
    let none = || {
        let shape = g.name_scope("Shape", || sparse.dense_shape.cast::<i32>());
        let rows = shape.slice_axis(0, 0..1);
        let ones = g.name_scope("ones", || {
            let one = g.constant(1i64);
            g.named(g.scope()).fill(rows, one)
        });
        g.named("mul").mul(-1i64, ones)
    };
    Ok(g.smart_cond(keep.input, || put(*sparse), none)?.set_shape(shape_of_numbers()))
}

fn shape_of_numbers() -> PartialShape {
    PartialShape::new([None])
}

/// Returns the entries for which `keep` is true.
fn retain<'g>(g: &'g Graph, sparse: &SparseTensor<'g>, keep: Output<'g>) -> SparseTensor<'g> {
    let places = g.array().where_(keep);
    let places = places.reshape([-1]);
    SparseTensor {
        indices: g.gather(sparse.indices, places, 0),
        values: g.gather(sparse.values, places, 0),
        dense_shape: sparse.dense_shape.identity(),
    }
}

/// Returns the components of a batch, taking the tensors of its numbers out of the maps. Those of a batch are
/// taken together, or not at all.
pub(crate) fn restore<'g>(g: &'g Graph, taken: Vec<Output<'g>>, maps: &[Option<Map<'g>>]) -> Vec<Output<'g>> {
    if maps.iter().all(Option::is_none) {
        return taken;
    }
    let parts: Vec<Part<'g>> = taken
        .into_iter()
        .zip(maps)
        .map(|(taken, map)| match map {
            None => Part::Dense(taken),
            Some(map) => {
                let numbers = g.with("squeeze_dims", vec![1i64]).squeeze(taken);
                let sparse = g.with("shared_name", shared_name(g, map.op)).sparse();
                let [indices, values, dense_shape] =
                    sparse.take_many_sparse_from_tensors_map(numbers, map.dtype);
                let rank = map.rank.and_then(|rank| rank.checked_add(1));
                Part::Sparse(SparseTensor {
                    indices: indices.set_shape(PartialShape::new([None, rank])),
                    values,
                    dense_shape: dense_shape.set_shape(PartialShape::new([rank])),
                })
            }
        })
        .collect();
    let all = parts.iter().map(|part| match part {
        Part::Dense(output) => *output,
        Part::Sparse(sparse) => sparse.values,
    });
    let all: Vec<Output<'g>> = all.collect();
    let after = |x: Output<'g>| {
        g.name_scope("control_dependency", || g.control_dependencies(&all, || g.named(g.scope()).identity(x)))
    };
    let outputs = parts.iter().flat_map(|part| match part {
        Part::Dense(output) => vec![*output],
        Part::Sparse(s) => vec![s.indices, s.values, s.dense_shape],
    });
    outputs.map(after).collect()
}

/// Returns the name of the map of an operation: its shared name, or its own.
fn shared_name(g: &Graph, op: Op<'_>) -> String {
    let shared =
        g.read(|g| g.node(op.id()).ok()?.info.attrs.str("shared_name").ok().map(|s| s.text().into_owned()));
    shared.filter(|name| !name.is_empty()).unwrap_or_else(|| op.name())
}
