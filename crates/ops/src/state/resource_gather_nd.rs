//! `ResourceGatherNd`: gathers slices of a variable by index tuples.

use super::scatter_nd::{Slices, find, slices};
use super::target::{held, missing};
use millstream_graph::IndexedSlices;
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("ResourceGatherNd")
        .doc("Gathers the slices of the variable at the index tuples in the last axis of `indices`.")
        .input("resource", DType::Resource)
        .input("indices", "Tindices")
        .output("output", "dtype")
        .attr("dtype", AnyType)
        .attr("Tindices", IndexType)
        .infer(infer)
        .kernel(Kernel::reads(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let variable = held(cx, 0, cx.attrs().dtype("dtype")?)?;
    if let Some(shape) = slices(&variable, cx.input(1))? {
        cx.set(0, shape);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = cx.resource::<Variable>(0)?.read().map_err(|e| missing(cx, 0, e))?;
    let wanted = cx.node.output_types[0].dtype;
    ensure!(value.dtype() == wanted, "the variable holds {} but `dtype` is {wanted}", value.dtype());
    let Slices { starts, run, shape } = find(value.shape(), cx.input(1), false)?;
    let starts = Charged::of(starts.into_iter().flatten())?;
    cx.set(0, value.take_runs(shape, run, &starts)?);
    Ok(())
}

// Each gathered slice adds its gradient at its index. For whole rows the result is IndexedSlices.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, indices) = (cx.grad(0), cx.input(1));
    let shape = cx.shape_of_variable(0);
    if matches!(cx.input_shape(1).dims(), Some([_, Some(1)])) {
        let indices = cx.op("Reshape").input(indices).input([-1]).output();
        cx.give(0, IndexedSlices { values: dy, indices, dense_shape: Some(shape) });
    } else {
        let shape = cx.op("Cast").input(shape).attr("DstT", cx.dtype(1)).output();
        let [indices, dy] = crate::shared::places::as_rows(cx, indices, dy);
        cx.give(0, cx.call("ScatterNd", [indices, dy, shape]));
    }
    Ok(())
}

cases! {
    elements: "ResourceGatherNd(@[[1 2] [3 4]], [[0 1] [1 0]]; dtype=i32) = [2 3]",
    rows: "ResourceGatherNd(@[[1 2] [3 4]], [[1]]; dtype=i32) = [[3 4]]",
    knows_the_shape: "ResourceGatherNd(@f32[?,3], i32[?,1]; dtype=f32) : f32[?,3]",
    index_in_range: "ResourceGatherNd(@[1 2 3], [[3]]; dtype=i32) ! `indices`[0] is [3], which is outside of shape [3]",
}
