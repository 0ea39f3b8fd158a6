//! `TensorStridedSliceUpdate`: a copy of a tensor with a strided slice replaced.

use crate::shared::subscript::inferred;
use crate::shared::subscript::masks_of;
use crate::shared::subscript::{Subscript, masks};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("TensorStridedSliceUpdate")
        .doc(
            "Returns a copy of `input` in which `value`, broadcast as needed, replaces the elements that \
             StridedSlice selects with the same index.",
        )
        .input("input", "T")
        .input("begin", "Index")
        .on_host()
        .input("end", "Index")
        .on_host()
        .input("strides", "Index")
        .on_host()
        .input("value", "T")
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Index", IndexType);
    masks(def).infer(infer).kernel(Kernel::pure(run)).gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    if let (Some(index), Some(dims)) = (inferred(cx, 1)?, cx.input(0).dims()) {
        let part = index.resolve(dims.iter().copied())?.shape();
        let fits = part.broadcast(cx.input(4)).is_some_and(|all| all.is_compatible(&part));
        ensure!(fits, "`value` has shape {} but the index selects a part of shape {part}", cx.input(4));
    }
    cx.same_as_input()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let index = Subscript::of(cx.attrs(), cx.input(1), cx.input(2), cx.input(3))?;
    let mut out = cx.take(0);
    let shape = out.shape().clone();
    let selection = index.resolve(shape.iter().map(|&d| Some(d)))?;
    let (part, value) = (selection.full_shape()?, cx.input(4));
    let value = match value.shape().broadcast(&part) {
        Some(all) if all == part => value.broadcast_to(part)?,
        _ => {
            return Err(invalid!(
                "`value` has shape {} but the index selects a part of shape {part}",
                value.shape()
            ));
        }
    };
    if let Some(s) = selection.strides(&shape) {
        out.assign_strided(s.offset, &s.strides, s.shape, &value)?;
    }
    cx.set(0, out);
    Ok(())
}

// The value gets the gradient of the replaced slice; the input gets zero there.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let index = [cx.input(1), cx.input(2), cx.input(3)];
    if cx.wants(0) {
        let zeros = cx.zeros_like_input(4);
        let dx = cx.op("TensorStridedSliceUpdate").input(dy).inputs(index).input(zeros);
        cx.give(0, masks_of(cx, dx)?.output());
    }
    if cx.wants(4) {
        // The value may have been broadcast.
        let part = masks_of(cx, cx.op("StridedSlice").input(dy).inputs(index))?.output();
        cx.give_unstretched(4, part);
    }
    Ok(())
}

cases! {
    a_range: "TensorStridedSliceUpdate([1 2 3], [0], [3], [2], [8 9]) = [8 2 9]",
    one_for_all: "TensorStridedSliceUpdate([1 2 3], [0], [2], [1], 5) = [5 5 3]",
    a_column: "TensorStridedSliceUpdate([[1 2] [3 4]], [0 1], [0 2], [1 1], [5 6]; begin_mask=1, end_mask=1, shrink_axis_mask=2) = [[1 5] [3 6]]",
    strings: "TensorStridedSliceUpdate(['a' 'b'], [1], [2], [1], ['c']) = ['a' 'c']",
    nothing: "TensorStridedSliceUpdate([1 2], [1], [1], [1], i32[0] []) = [1 2]",
    infers: "TensorStridedSliceUpdate(f32[?,3], i32[1], i32[1], i32[1], f32[..]) : f32[?,3]",
    shapes_differ: "TensorStridedSliceUpdate([1 2 3], [0], [2], [1], [1 2 3]) ! `value` has shape [3] but the index selects a part of shape [2]",
}
