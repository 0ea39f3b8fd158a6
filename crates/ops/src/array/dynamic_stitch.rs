//! `DynamicStitch` and `ParallelDynamicStitch`: interleaves the rows of several tensors by index.

use crate::shared::axes::product;
use millstream_graph::op::spec::{AnyType, AtLeast};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("DynamicStitch").doc(
            "Merges rows by index: `merged[indices[m][i]] = data[m][i]`. If an index occurs more than \
             once, the last row wins; rows that no index names are zero.",
        ),
        OpDef::new("ParallelDynamicStitch")
            .doc("Merges rows as DynamicStitch does; the last row with an index also wins."),
    ]
    .map(|def| {
        def.inputs("indices", "N", DType::I32)
            .inputs("data", "N", "T")
            .output("merged", "T")
            .attr("N", AtLeast(1))
            .attr("T", AnyType)
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n = cx.n_inputs() / 2;
    let mut rest = PartialShape::unknown();
    let mut rows = Some(0);
    for i in 0..n {
        let (indices, data) = (cx.input(i), cx.input(n + i));
        let largest = cx.ints(i).map(|v| v.into_iter().max().map_or(0, |m| m.saturating_add(1)));
        rows = rows.zip(largest.and_then(|v| usize::try_from(v).ok())).map(|(a, b)| a.max(b));
        let (Some(front), Some(dims)) = (indices.dims(), data.dims()) else { continue };
        let begins = dims.len() >= front.len()
            && dims.iter().zip(front).all(|(d, p)| d.is_none() || p.is_none() || d == p);
        ensure!(begins, "{}", crate::shared::axes::prefix_difference(data, indices); "`data` {i} has shape {data}, which does not begin with {indices} of `indices` {i}");
        let own = PartialShape::new(dims[front.len()..].iter().copied());
        rest = rest.merge(&own).ok_or_else(|| {
            invalid!("the rows of `data` {i} have shape {own}, but those of the others have {rest}")
                .led_by(rest.difference(&own))
        })?;
    }
    let shape = rest.dims().map(|rest| crate::shared::axes::joined(&[&[rows], rest]));
    cx.set(0, shape.unwrap_or_default());
    Ok(())
}

/// Returns TensorFlow's message for a shape of `data` that does not begin with that of its indices, or whose
/// rows differ from those of the first.
fn unlike(i: usize, data: &Shape, indices: &Shape, first: (&Shape, &Shape)) -> String {
    match data.starts_with(indices) {
        false => format!("data[{i}].shape = {data} does not start with indices[{i}].shape = {indices}"),
        true => format!(
            "Need data[0].shape[{}:] = data[{i}].shape[{}:], got data[0].shape = {}, data[{i}].shape = {data}, indices[0].shape = {}, indices[{i}].shape = {indices}",
            first.1.rank(),
            indices.rank(),
            first.0,
            first.1
        ),
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let n = cx.n_inputs() / 2;
    let (indices, data) = cx.inputs().split_at(n);
    let row: Option<&[usize]> = data.first().and_then(|d| d.shape().get(indices[0].rank()..));
    let row = Shape::from(row.unwrap_or(&[]));
    let first = (data[0].shape(), indices[0].shape());
    let mut rows = 0usize;
    for (i, (index, data)) in indices.iter().zip(data).enumerate() {
        ensure!(
            data.shape().strip_prefix(&index.shape()[..]) == Some(&row[..]),
            "{}",
            unlike(i, data.shape(), index.shape(), first);
            "`data` {i} has shape {}, which is not {} of `indices` {i} followed by the rows' shape {row}",
            data.shape(),
            index.shape()
        );
        for &v in index.as_slice::<i32>()? {
            let place =
                usize::try_from(v).map_err(|_| invalid!("`indices` {i} holds {v}, which is negative"))?;
            rows = rows.max(place + 1);
        }
    }
    let run = product(&row);
    let shape = Shape::new(std::iter::once(rows).chain(row.iter().copied()));
    let mut merged = Tensor::zeros(data[0].dtype(), shape)?;
    for (index, data) in indices.iter().zip(data) {
        let starts: Vec<usize> =
            index.as_slice::<i32>()?.iter().map(|&v| usize::try_from(v).unwrap_or(0) * run).collect();
        merged.scatter_runs(run, &starts, data)?;
    }
    cx.set(0, merged);
    Ok(())
}

// Each row gets the gradient at its index.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, n) = (cx.grad(0), cx.n_inputs() / 2);
    for i in 0..n {
        if cx.wants(n + i) {
            let places = cx.input(i);
            cx.give(n + i, cx.op("GatherV2").input(dy).input(places).input(0).output());
        }
    }
    Ok(())
}

cases! {
    elements: "DynamicStitch([0 2], [1], [10 30], [20]) = [10 20 30]",
    scalars: "DynamicStitch(1, 0, 5, 6) = [6 5]",
    rows: "DynamicStitch([1 0], [[1 2] [3 4]]) = [[3 4] [1 2]]",
    last_one_stays: "DynamicStitch([0], [0], [1], [2]) = [2]",
    gaps_are_zero: "ParallelDynamicStitch([2], [7]) = [0 0 7]",
    nothing: "DynamicStitch(i32[0] [], f32[0,2] []) = f32[0,2] []",
    strings: "DynamicStitch([1 0], ['a' 'b']) = ['b' 'a']",
    infers: "DynamicStitch(i32[?], i32[], f32[?,3], f32[?]) : f32[?,3]",
    infers_the_size: "DynamicStitch([0 4], [1 2]) : i32[5]",
    negative: "DynamicStitch([-1], [1]) ! `indices` 0 holds -1",
    shapes_differ: "DynamicStitch([0 1], [1]) ! does not begin with",
    rows_differ: "DynamicStitch([0], [1], [[1 2]], [[1]]) ! the rows of `data` 1 have shape [1]",
}
