//! `ScatterNd`: adds slices to zeros at index tuples.

use super::tensor_scatter::{Combine, combine};
use crate::shared::axes::vector;
use crate::shared::places::{Places, parts, policy, skips, updates_fit, updates_may_fit};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, Shape, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ScatterNd")
        .doc(
            "Returns a tensor of the given shape that is zero except where `updates` are added, at the \
             index tuples in the last axis of `indices`. Updates of the same index are summed.",
        )
        .input("indices", "Tindices")
        .input("updates", "T")
        .input("shape", "Tindices")
        .on_host()
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Tindices", IndexType);
    policy(def).infer(infer).kernel(Kernel::pure(run)).gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(2)?;
    let shape = cx.as_shape(2)?;
    let some = [0, 1].iter().any(|&i| cx.input(i).elements().is_some_and(|n| n > 0));
    ensure!(
        !(some && shape.elements() == Some(0)),
        "Indices and updates specified for empty output shape";
        "`indices` has shape {} and `updates` {}, but `shape` {shape} has no elements",
        cx.input(0),
        cx.input(1)
    );
    updates_may_fit(cx, "output", 0, 1, &shape)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    vector("shape", cx.input(2)).map_err(|e| e.led_by("Shape must be a vector"))?;
    let shape = Shape::from_signed(&cx.ints(2)?)?;
    let (indices, updates) = (cx.input(0), cx.input(1));
    ensure!(
        shape.elements() > 0 || (indices.elements() == 0 && updates.elements() == 0),
        "Indices and updates specified for empty output.  indices shape: {}",
        indices.shape();
        "`indices` has shape {} and `updates` {}, but `shape` {shape} has no elements",
        indices.shape(),
        updates.shape()
    );
    let rows = updates_fit(indices, updates, &shape)?;
    let mut out = Tensor::zeros(updates.dtype(), shape)?;
    // If the updates have no elements, nothing bounds the number of rows.
    if updates.elements() > 0 {
        let places = Places::new(indices, out.shape(), rows, skips(cx.attrs())?)?;
        combine(&mut out, Combine::Add, &places, &places.kept(updates)?)?;
    }
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, indices) = (cx.grad(0), cx.input(0));
    cx.give(1, parts(cx, dy, indices)?);
    Ok(())
}

cases! {
    elements: "ScatterNd([[1] [3]], [7 8], [4]) = [0 7 0 8]",
    adds_up: "ScatterNd([[1] [1]], [1.5 2.0], [2]) = [0.0 3.5]",
    rows: "ScatterNd(i64 [[1] [0]], [[1 2] [3 4]], i64 [2 2]) = [[3 4] [1 2]]",
    matrix_elements: "ScatterNd([[0 1]], [5], [2 2]) = [[0 5] [0 0]]",
    bools: "ScatterNd([[1] [1]], [true true], [2]) = [false true]",
    strings: "ScatterNd([[1]], ['a'], [2]) = ['' 'a']",
    all_of_it: "ScatterNd(i32[2,0] [], [[1 2] [3 4]], [2]) = [4 6]",
    nothing: "ScatterNd(i32[0,1] [], i32[0] [], [2]) = [0 0]",
    infers: "ScatterNd(i32[?,1], f32[?,3], i32[2]) : f32[?,?]",
    bad_ones_left_out: "ScatterNd([[0] [9]], [1 2], [3]; bad_indices_policy=\"IGNORE\") = [1 0 0]",
    into_nothing: "ScatterNd([[0]], [7], [0]) ! Indices and updates specified for empty output",
    infers_into_nothing: "ScatterNd(i32[1,1], f32[1], [0]) ! Indices and updates specified for empty output shape",
    out_of_range: "ScatterNd([[4]], [7], [4]) ! row 0 of `indices` is [4], which does not index into shape [4]",
    updates_differ: "ScatterNd([[1]], [[7 8]], [4]) ! `updates` has shape [1,2] but must have [1]",
    negative_shape: "ScatterNd([[1]], [7], [-4]) ! -4",
}
