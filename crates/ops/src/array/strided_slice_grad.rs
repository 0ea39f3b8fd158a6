//! `StridedSliceGrad`: the gradient of `StridedSlice` with respect to its input.

use crate::shared::subscript::inferred;
use crate::shared::subscript::masks_of;
use crate::shared::subscript::{Subscript, masks};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, Shape, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("StridedSliceGrad")
        .doc(
            "Returns a tensor of shape `shape` that holds `dy` at the positions that StridedSlice selects \
             with the same index, and zeros elsewhere.",
        )
        .input("shape", "Index")
        .on_host()
        .input("begin", "Index")
        .on_host()
        .input("end", "Index")
        .on_host()
        .input("strides", "Index")
        .on_host()
        .input("dy", "T")
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Index", IndexType);
    masks(def).infer(infer).kernel(Kernel::pure(run)).gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    inferred(cx, 1)?;
    let shape = cx.as_shape(0)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    crate::shared::axes::vector("shape", cx.input(0))?;
    let shape = Shape::from_signed(&cx.ints(0)?)?;
    let index = Subscript::of(cx.attrs(), cx.input(1), cx.input(2), cx.input(3))?;
    let selection = index.resolve(shape.iter().map(|&d| Some(d)))?;
    let (read, dy) = (selection.full_shape()?, cx.input(4));
    ensure!(*dy.shape() == read, "`dy` has shape {} but the index reads {read} of shape {shape}", dy.shape());
    let mut out = Tensor::zeros(dy.dtype(), shape)?;
    if let Some(s) = selection.strides(&out.shape().clone()) {
        out.assign_strided(s.offset, &s.strides, s.shape, dy)?;
    }
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    let index = [cx.input(1), cx.input(2), cx.input(3)];
    cx.give(4, masks_of(cx, cx.op("StridedSlice").input(dz).inputs(index))?.output());
    Ok(())
}

cases! {
    a_range: "StridedSliceGrad([5], [1], [4], [2], [7 8]) = [0 7 0 8 0]",
    backwards: "StridedSliceGrad([3], [2], [0], [-1], [7.5 8.5]) = [0 8.5 7.5]",
    a_column: "StridedSliceGrad(i64 [2 2], i64 [0 1], i64 [0 2], i64 [1 1], [5 6]; begin_mask=1, end_mask=1, shrink_axis_mask=2) = [[0 5] [0 6]]",
    nothing: "StridedSliceGrad([2], [1], [1], [1], i32[0] []) = [0 0]",
    of_a_scalar: "StridedSliceGrad(i32[0] [], [0], [0], [1], [5]; new_axis_mask=1) = 5",
    infers: "StridedSliceGrad(i32[2], i32[1], i32[1], i32[1], f32[..]) : f32[?,?]",
    shapes_differ: "StridedSliceGrad([5], [1], [4], [1], [7 8]) ! `dy` has shape [2] but the index reads [3]",
}
