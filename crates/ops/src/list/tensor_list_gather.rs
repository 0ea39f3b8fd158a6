//! `TensorListGather`: selected items as the rows of a tensor.

use super::lists::{common_shape, copies, known_items, merged_shape, place, typed_list};
use crate::shared::lists::{stack, stacked, unstacked};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListGather")
        .doc(
            "Stacks the items at `indices`, which must have one shape, into a tensor. Unwritten items are \
             zeros.",
        )
        .input("input_handle", DType::Variant)
        .input("indices", DType::I32)
        .on_host()
        .input("element_shape", DType::I32)
        .on_host()
        .output("values", "element_dtype")
        .attr("element_dtype", AnyType)
        .infer(infer)
        .kernel(copies(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let items = known_items(cx, 2)?;
    cx.set(0, stacked(cx.input(1).elements(), &items));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let list = typed_list(cx)?;
    let all = list.items()?;
    let items = Charged::try_of(cx.ints(1)?.iter().map(|&i| Ok(&all[place(i, all.len())?])))?;
    let shape = common_shape(merged_shape(cx, 2, list)?, items.iter().copied())?;
    let out = stack(list.dtype(), &shape, items.iter().map(|item| item.as_ref()))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    // An item may be read more than once; its gradients are summed.
    let (dvalues, indices, list) = (cx.grad(0), cx.input(1), cx.input(0));
    let item = cx.graph().element_shape(&unstacked(&cx.output_shape(0)));
    let flat = cx.input_shape(1).rank() == Some(1);
    let indices = if flat { indices } else { cx.op("Reshape").input(indices).input([-1]).output() };
    let n = cx.call("TensorListLength", [list]);
    let rows = cx.call("UnsortedSegmentSum", [dvalues, indices, n]);
    cx.give(0, cx.call("TensorListFromTensor", [rows, item]));
    Ok(())
}

cases! {
    gathers: "TensorListGather(TensorListFromTensor([[1 2] [3 4] [5 6]], -1), [2 0 2], -1; element_dtype=i32) = [[5 6] [1 2] [5 6]]",
    any_shape_of_indices: "TensorListGather(TensorListFromTensor([1 2 3], -1), [[1 2]], -1; element_dtype=i32) = [2 3]",
    one_index: "TensorListGather(TensorListFromTensor([1 2 3], -1), 1, -1; element_dtype=i32) = [2]",
    none: "TensorListGather(TensorListFromTensor([1 2 3], i32[0] []), i32[0] [], -1; element_dtype=i32) = i32[0] []",
    unwritten_are_zeros: "TensorListGather(TensorListSetItem(TensorListReserve(-1, 3; element_dtype=i32), 1, [1 2]), [0 1], -1; element_dtype=i32) = [[0 0] [1 2]]",
    infers: "TensorListGather(variant[], i32[4], [2 -1]; element_dtype=f32) : f32[4,2,?]",
    none_of_unknown_shape: "TensorListGather(TensorListFromTensor([1 2 3], -1), i32[0] [], -1; element_dtype=i32) ! [..] is not fully known",
    none_written: "TensorListGather(TensorListSetItem(TensorListReserve(-1, 3; element_dtype=i32), 1, [1 2]), [0], -1; element_dtype=i32) ! no item has been written",
    out_of_range: "TensorListGather(TensorListFromTensor([1 2 3], -1), [0 3], -1; element_dtype=i32) ! index 3 is out of range for a list of length 3",
    before_the_first: "TensorListGather(TensorListFromTensor([1 2 3], -1), [-1], -1; element_dtype=i32) ! index -1 is out of range for a list",
}
