//! `ResourceGather`: gathers rows of a variable.

use super::runs::row_starts;
use super::target::{held, missing};
use crate::shared::dims::Dims;
use crate::shared::gather_gradient::{Sizes, along};
use millstream_graph::IndexedSlices;
use millstream_graph::op::spec::{AnyType, Bool, IndexType, Int, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{DType, PartialShape, Result, Shape, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ResourceGather")
        .doc(
            "Gathers slices of the variable by `indices` along axis `batch_dims`. The axes before it are \
             shared with `indices`.",
        )
        .input("resource", DType::Resource)
        .input("indices", "Tindices")
        .output("output", "dtype")
        .attr("batch_dims", Int.or(0))
        .attr("validate_indices", Bool.or(true))
        .attr("dtype", AnyType)
        .attr("Tindices", IndexType)
        .infer(infer)
        .kernel(Kernel::reads(run))
        .gradient(Gradient::of(grad))
}

/// Returns the number of shared leading axes. A negative attribute counts from the end of `indices`.
fn batch_dims(given: i64, indices: usize, variable: usize) -> Result<usize> {
    let batch = if given < 0 { given.saturating_add(indices as i64) } else { given };
    let batch = usize::try_from(batch).ok().filter(|b| *b <= indices && *b < variable);
    batch.ok_or_else(|| {
        invalid!("`batch_dims` is {given}, but `indices` has {indices} axes and the variable {variable}")
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let variable = held(cx, 0, cx.attrs().dtype("dtype")?)?;
    let (Some(dims), Some(indices)) = (variable.dims(), cx.input(1).dims()) else { return Ok(()) };
    let batch = batch_dims(cx.attrs().int("batch_dims")?, indices.len(), dims.len())?;
    let [a, b] = [&dims[..batch], &indices[..batch]].map(|d| PartialShape::new(d.iter().copied()));
    let shared = a.merge(&b).ok_or_else(|| {
        invalid!("the first {batch} axes of the variable are {a}, those of `indices` {b}; they must be equal")
    })?;
    let shared = shared.dims().unwrap_or_default();
    cx.set(0, PartialShape::new(shared.iter().chain(&indices[batch..]).chain(&dims[batch + 1..]).copied()));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = cx.resource::<Variable>(0)?.read().map_err(|e| missing(cx, 0, e))?;
    let wanted = cx.node.output_types[0].dtype;
    ensure!(value.dtype() == wanted, "the variable holds {} but `dtype` is {wanted}", value.dtype());
    let (shape, indices) = (value.shape(), cx.input(1));
    let batch = batch_dims(cx.attrs().int("batch_dims")?, indices.rank(), shape.rank())?;
    ensure!(
        shape[..batch] == indices.shape()[..batch],
        "the first {batch} axes of the variable {shape} and of `indices` {} must be equal",
        indices.shape()
    );
    let (rows, row) = (shape[batch], &shape[batch + 1..]);
    let run = Shape::from(row).elements();
    let mut starts = row_starts(indices, rows, run)?;
    let each = Shape::from(&indices.shape()[batch..]).elements();
    if batch > 0 && each > 0 {
        let stride = rows.saturating_mul(run);
        starts.iter_mut().enumerate().for_each(|(i, start)| *start += i / each * stride);
    }
    let rows = value.take_runs(Shape::new(indices.shape().iter().chain(row).copied()), run, &starts)?;
    cx.set(0, rows);
    Ok(())
}

// Each gathered row adds its gradient at its index, as IndexedSlices of the variable.
fn grad(cx: &mut GradCx) -> Result<()> {
    let batch = cx.attrs().int("batch_dims")?;
    let shape = cx.shape_of_variable(0);
    if batch != 0 {
        let indices = cx.input_shape(1).rank().map(|rank| rank as i64);
        let batch = match (batch, indices) {
            (batch, Some(rank)) if batch < 0 => batch + rank,
            (batch, _) => batch,
        };
        let Some(batch) = i32::try_from(batch).ok().filter(|b| 0 <= *b) else {
            return Err(invalid!("`batch_dims` counts from the end of `indices`, whose rank is not known")
                .with_help("declare the rank with `set_shape`"));
        };
        let sizes = Sizes::at(cx, &Dims::of_vector(cx, shape), batch, batch);
        let dx = along(cx, sizes);
        cx.give(0, cx.call("Reshape", [dx, shape]));
        return Ok(());
    }
    let (mut values, mut indices) = (cx.grad(0), cx.input(1));
    if cx.input_shape(1).rank() != Some(1) {
        let row =
            cx.op("StridedSlice").input(shape).input([1]).input([0]).input([1]).attr("end_mask", 1).output();
        let rows = cx.op("ConcatV2").input(cx.ints(&[-1])).input(row).input(0).output();
        values = cx.call("Reshape", [values, rows]);
        indices = cx.op("Reshape").input(indices).input([-1]).output();
    }
    cx.give(0, IndexedSlices { values, indices, dense_shape: Some(shape) });
    Ok(())
}

cases! {
    rows: "ResourceGather(@[[1 2] [3 4] [5 6]], [2 0]; dtype=i32) = [[5 6] [1 2]]",
    one_row: "ResourceGather(@[1 2 3], 1; dtype=i32) = 2",
    in_step: "ResourceGather(@[[1 2 3] [4 5 6]], [[2 0] [1 1]]; dtype=i32, batch_dims=1) = [[3 1] [5 5]]",
    knows_the_shape: "ResourceGather(@f32[?,3], i32[2,?]; dtype=f32) : f32[2,?,3]",
    knows_the_batch: "ResourceGather(@f32[?,3,4], i32[2,?]; dtype=f32, batch_dims=1) : f32[2,?,4]",
    index_in_range: "ResourceGather(@[1 2 3], [0 3]; dtype=i32) ! `indices`[1] is 3, which is not in 0..3",
    needs_an_axis: "ResourceGather(@1, [0]; dtype=i32) ! `batch_dims` is 0, but `indices` has 1 axes and the variable 0",
}
