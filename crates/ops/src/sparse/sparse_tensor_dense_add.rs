//! `SparseTensorDenseAdd`: the sum of a sparse tensor and a dense one.

use super::entries::{Entries, inferred};
use crate::number::{Lane, Num};
use millstream_graph::op::spec::{IndexType, Number};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, Shape, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseTensorDenseAdd")
        .doc("Adds a sparse tensor to a dense one of the same shape.")
        .input("a_indices", "Tindices")
        .input("a_values", "T")
        .input("a_shape", "Tindices")
        .input("b", "T")
        .output("output", "T")
        .attr("T", Number)
        .attr("Tindices", IndexType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    inferred(cx, 0)?;
    let (a, b) = (cx.as_shape(2)?, cx.input(3));
    let shape =
        a.merge(b).ok_or_else(|| invalid!("`a_shape` is {a} but `b` has shape {b}; they must be equal"))?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let a = Entries::of(cx, 0)?;
    let mut out = cx.take(3);
    let shape = Shape::from_signed(&a.shape)?;
    ensure!(
        *out.shape() == shape,
        "`a_shape` is {shape} but `b` has shape {}; they must be equal",
        out.shape()
    );
    with_element!(out.dtype(), T in numbers => add::<T>(&a, &mut out), else => Err(crate::shared::elementwise::unsupported(cx)))?;
    cx.set(0, out);
    Ok(())
}

fn add<T: Lane + Num>(a: &Entries, out: &mut Tensor) -> Result<()> {
    let strides = out.shape().strides();
    let cells = out.make_mut_or_copy::<T>()?;
    for (row, v) in a.values.as_slice::<T>()?.iter().enumerate() {
        let cell = &mut cells[a.offset(row, &strides)];
        *cell = cell.add(*v);
    }
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, indices) = (cx.grad(0), cx.input(0));
    cx.give(1, cx.call("GatherNd", [dy, indices]));
    cx.give(3, dy);
    Ok(())
}

cases! {
    adds: "SparseTensorDenseAdd(i64 [[0 1] [1 0]], [5 6], i64 [2 2], [[1 1] [1 1]]) = [[1 6] [7 1]]",
    infers: "SparseTensorDenseAdd(i64[?,2], f32[?], i64[2], f32[2,?]) : f32[2,?]",
    shapes_agree: "SparseTensorDenseAdd([[0]], [5], i32[1] [3], [1 2]) ! `a_shape` is [3] but `b` has shape [2]",
}
