//! `SparseToDense`: scatters values into a tensor filled with a default.

use crate::shared::axes::{ints, listed, vector};
use crate::shared::gradient::sum_of_all;
use millstream_graph::op::spec::{AnyType, Bool, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseToDense")
        .doc(
            "Returns a tensor of shape `output_shape` that holds `sparse_values[i]` (or the single value, \
             if it is a scalar) at the index in row `i` of `sparse_indices`, and `default_value` elsewhere. \
             If `validate_indices` is true, the indices must be sorted and distinct.",
        )
        .input("sparse_indices", "Tindices")
        .input("output_shape", "Tindices")
        .on_host()
        .input("sparse_values", "T")
        .input("default_value", "T")
        .output("dense", "T")
        .attr("validate_indices", Bool.or(true))
        .attr("T", AnyType)
        .attr("Tindices", IndexType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(1)?;
    let shape = cx.as_shape(1)?;
    cx.set(0, shape);
    Ok(())
}

const OUT_OF_ORDER: &str = "out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n";

fn run(cx: &mut KernelCx) -> Result<()> {
    vector("output_shape", cx.input(1))?;
    let shape = Shape::from_signed(&cx.ints(1)?)?;
    let (indices, values) = (cx.input(0), cx.input(2));
    ensure!(
        cx.input(3).rank() == 0,
        "default_value should be a scalar.";
        "`default_value` must be a scalar but has shape {}",
        cx.input(3).shape()
    );
    // A vector of indices indexes a vector; a scalar is one such index.
    let (rows, depth) = match indices.shape()[..] {
        [] => (1, 1),
        [n] => (n, 1),
        [n, depth] => (n, depth),
        _ => {
            return Err(invalid!(
                "sparse_indices should be a scalar, vector, or matrix, got shape {}",
                indices.shape();
                "each row is an index"
            ));
        }
    };
    ensure!(
        depth == shape.rank(),
        "output_shape has incorrect number of elements: {} should be: {depth}",
        shape.rank();
        "`sparse_indices` has shape {}, but `output_shape` {shape} has {} axes to index",
        indices.shape(),
        shape.rank()
    );
    ensure!(
        values.rank() == 0 || values.shape()[..] == [rows],
        "sparse_values has incorrect shape {}, should be [] or [{rows}]",
        values.shape();
        "`sparse_values` has shape {} but must be a scalar or have shape [{rows}]",
        values.shape()
    );
    let steps = shape.strides();
    let flat = ints(indices)?;
    let mut starts = Vec::new();
    for (row, index) in flat.chunks_exact(depth.max(1)).enumerate() {
        let at = index.iter().enumerate().try_fold(0, |at, (a, &v)| match usize::try_from(v) {
            Ok(p) if p < shape[a] => Ok(at + p * steps[a]),
            _ => Err(invalid!(
                "indices[{row}] = [{}] is out of bounds: need 0 <= index < {shape}",
                listed(index, ",");
                "row {row} of `sparse_indices` is {index:?}, which does not index into shape {shape}"
            )),
        })?;
        if let Some(&last) = starts.last().filter(|_| cx.attrs().bool("validate_indices").unwrap_or(true)) {
            ensure!(
                last < at,
                "indices[{row}] = [{}] is {}",
                listed(index, ","),
                if last == at { "repeated" } else { OUT_OF_ORDER };
                "row {row} of `sparse_indices` is {index:?}, which {}: the rows must be in order and differ",
                if last == at { "is there already" } else { "comes before the row above it" }
            );
        }
        starts.push(at);
    }
    let mut dense = Tensor::fill(shape, cx.input(3))?;
    // Without axes, every row is the index of a scalar, and the last row wins.
    if depth == 0 && rows > 0 {
        starts.push(0);
    }
    let values = match values.rank() {
        0 => Tensor::fill([starts.len()], values)?,
        _ if depth == 0 && rows > 0 => values.rows(rows - 1, 1)?,
        _ => values.clone(),
    };
    dense.scatter_runs(1, &starts, &values)?;
    cx.set(0, dense);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, indices) = (cx.grad(0), cx.input(0));
    // Reshaped to one index tuple a row: a vector of indices indexes a vector, and a scalar is one such
    // index.
    let rank = cx.call("Rank", [dy]);
    let rows = cx.op("Pack").input(-1).input(rank).output();
    let values = cx.call("GatherNd", [dy, cx.call("Reshape", [indices, rows])]);
    if cx.wants(2) {
        cx.give_unstretched(2, values);
    }
    if cx.wants(3) {
        cx.give(3, sum_of_all(cx, dy) - sum_of_all(cx, values));
    }
    Ok(())
}

cases! {
    a_vector: "SparseToDense([1 3], [4], [7 8], 0) = [0 7 0 8]",
    a_matrix: "SparseToDense(i64 [[0 1] [1 0]], i64 [2 2], [7 8], -1) = [[-1 7] [8 -1]]",
    one_value: "SparseToDense([0 2], [3], true, false) = [true false true]",
    one_index: "SparseToDense(1, [3], 'a', '') = ['' 'a' '']",
    nothing: "SparseToDense(i32[0] [], [2], f32[0] [], 0.5) = [0.5 0.5]",
    unordered: "SparseToDense([2 0], [3], [7 8], 0; validate_indices=false) = [8 0 7]",
    infers: "SparseToDense(i32[?,2], i32[2], f32[?], f32[]) : f32[?,?]",
    in_order: "SparseToDense([2 0], [3], [7 8], 0) ! comes before the row above it",
    no_repeats: "SparseToDense([1 1], [3], [7 8], 0) ! is there already",
    out_of_range: "SparseToDense([3], [3], 1, 0) ! row 0 of `sparse_indices` is [3]",
    wrong_depth: "SparseToDense([[0 1]], [3], 1, 0) ! has 1 axes to index",
    values_differ: "SparseToDense([0 1], [3], [1], 0) ! `sparse_values` has shape [1] but must be a scalar or have shape [2]",
}
