//! `GatherNd`: slices of a tensor selected by index tuples.

use crate::shared::axes::joined;
use crate::shared::gradient::{as_index, shape_in};
use crate::shared::places::{Places, as_rows, depth, policy, same_policy, skips};
use millstream_graph::IndexedSlices;
use millstream_graph::op::spec::{AnyType, OneOf};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I16, I32, I64};
use millstream_tensor::{Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("GatherNd")
        .doc(
            "Gathers the slices of `params` at the index tuples in the last axis of `indices`. The output's \
             shape is the rest of the shape of `indices`, followed by the shape of a slice. If \
             `bad_indices_policy` ignores indices out of range, their slices are zero.",
        )
        .input("params", "Tparams")
        .input("indices", "Tindices")
        .output("output", "Tparams")
        .attr("Tparams", AnyType)
        .attr("Tindices", OneOf(&[I16, I32, I64]));
    policy(def).infer(infer).kernel(Kernel::pure(run)).gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let Some(indices) = cx.input(1).dims() else { return Ok(()) };
    let Some((&depth, rows)) = indices.split_last() else {
        return Err(invalid!(
            "{}", cx.input(1).below_rank(1);
            "`indices` must have at least rank 1: its last axis holds the indices"
        ));
    };
    let (Some(params), Some(depth)) = (cx.input(0).dims(), depth) else { return Ok(()) };
    let rest = params.get(depth..).ok_or_else(|| {
        invalid!(
            "indices.shape[-1] must be <= params.rank, but saw indices shape: {} and params shape: {}",
            cx.input(1), cx.input(0);
            "the last axis of `indices` has size {depth}, but `params` has shape {}", cx.input(0)
        )
    })?;
    cx.set(0, joined(&[rows, rest]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (params, indices) = (cx.input(0), cx.input(1));
    for (t, what) in [(params, "params"), (indices, "indices")] {
        ensure!(t.rank() > 0 || (what == "params" && indices.shape().last() == Some(&0)), "{what} must be at least a vector"; "`{what}` is a scalar");
    }
    let depth = depth(indices, params.shape())?;
    let rows = &indices.shape()[..indices.rank() - 1];
    let shape = Shape::new(rows.iter().chain(&params.shape()[depth..]).copied());
    let out = if depth == 0 {
        // Each row is a copy of all of `params`, and nothing limits the number of rows: `broadcast_to` checks
        // the size.
        params.broadcast_to(shape)?
    } else {
        let wanted = rows.iter().fold(1usize, |n, &d| n.saturating_mul(d));
        ensure!(
            wanted == 0 || params.elements() > 0 || skips(cx.attrs())?,
            "Requested more than 0 entries, but params is empty.  Params shape: {}",
            params.shape();
            "`indices` has {wanted} rows, but `params` of shape {} has no elements",
            params.shape()
        );
        let places = Places::taken(indices, params.shape(), skips(cx.attrs())?)?;
        if places.skipped.is_empty() {
            params.take_runs(shape, places.run, &places.starts)?
        } else {
            let mut out = Tensor::zeros(params.dtype(), shape)?;
            let n = places.starts.len();
            let found = params.take_runs([n, places.run], places.run, &places.starts)?;
            let to: Vec<usize> = (0..n + places.skipped.len())
                .filter(|row| places.skipped.binary_search(row).is_err())
                .map(|row| row * places.run)
                .collect();
            out.scatter_runs(places.run, &to, &found)?;
            out
        }
    };
    cx.set(0, out);
    Ok(())
}

// Each gathered slice adds its gradient at its index. For whole rows the result is IndexedSlices.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, indices) = (cx.grad(0), cx.input(1));
    let dtype = if cx.dtype(1) == I64 { I64 } else { I32 };
    let indices = as_index(cx, indices, dtype);
    if matches!(cx.input_shape(1).dims(), Some([_, Some(1)])) && !skips(cx.attrs())? {
        let indices = cx.op("Reshape").input(indices).input([-1]).output();
        let dense_shape = Some(cx.shape_of_input(0));
        cx.give(0, IndexedSlices { values: dy, indices, dense_shape });
    } else {
        let shape = shape_in(cx, 0, dtype);
        let [indices, dy] = as_rows(cx, indices, dy);
        let dx = cx.op("ScatterNd").inputs([indices, dy, shape]);
        cx.give(0, same_policy(cx, dx)?.output());
    }
    Ok(())
}

cases! {
    elements: "GatherNd([[1 2] [3 4]], [[0 1] [1 0]]) = [2 3]",
    rows: "GatherNd([[1 2] [3 4]], i64 [[1] [1]]) = [[3 4] [3 4]]",
    one: "GatherNd([[1 2] [3 4]], [1 1]) = 4",
    all_of_it: "GatherNd([1 2], i32[2,0] []) = [[1 2] [1 2]]",
    no_rows: "GatherNd([1 2], i32[0,1] []) = i32[0] []",
    strings: "GatherNd(['a' 'b'], [[1] [0]]) = ['b' 'a']",
    infers: "GatherNd(f32[?,3,4], i32[5,?,2]) : f32[5,?,4]",
    unknown_depth: "GatherNd(f32[2,3], i32[5,?]) : f32[..]",
    zeros_for_bad_ones: "GatherNd([[1 2] [3 4]], [[0] [2] [1]]; bad_indices_policy=\"IGNORE\") = [[1 2] [0 0] [3 4]]",
    of_nothing: "GatherNd(f32[0,2] [], [[0 0]]) ! Requested more than 0 entries, but params is empty",
    short_indices: "GatherNd([1 2], i16 [[1]]) = [2]",
    out_of_range: "GatherNd([[1 2] [3 4]], [[0 0] [0 2]]) ! row 1 of `indices` is [0, 2], which does not index into shape [2,2]",
    negative: "GatherNd([1 2], [[-1]]) ! row 0 of `indices` is [-1]",
    too_deep: "GatherNd([1 2], [[0 0]]) ! the last axis of `indices` has size 2",
}
