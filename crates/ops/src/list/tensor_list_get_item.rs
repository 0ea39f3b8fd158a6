//! `TensorListGetItem`: one item of a list.

use super::lists::{check_item, handles, known_items, merged_shape, place, typed_list};
use millstream_graph::ListItem;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Tensor, TensorList, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListGetItem")
        .doc(
            "Returns item `index` of a list. An unwritten item is zeros in the element shape, or, if that \
             is not fully known, in the merged shape of the written items.",
        )
        .input("input_handle", DType::Variant)
        .input("index", DType::I32)
        .on_host()
        .input("element_shape", "Tshape")
        .on_host()
        .output("item", "element_dtype")
        .attr("element_dtype", AnyType)
        .attr("Tshape", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    let item = known_items(cx, 2)?;
    cx.set(0, item);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let list = typed_list(cx)?;
    let i = place(cx.int(1)?, list.len())?;
    let item = match list.get(i)? {
        Some(item) => {
            check_item(cx, 2, item.shape())?;
            item
        }
        None => zeros(cx, list, i)?,
    };
    cx.set(0, item);
    Ok(())
}

fn zeros(cx: &KernelCx, list: &TensorList, i: usize) -> Result<Tensor> {
    let mut shape = merged_shape(cx, 2, list)?;
    if !shape.is_full() {
        for item in list.items()?.iter().flatten() {
            let more = shape.merge(&item.shape().into());
            shape = more.ok_or_else(|| {
                invalid!(
                    "item {i} has not been written, and the others do not agree on its shape: {shape}, {}",
                    item.shape()
                )
            })?;
        }
    }
    let full = shape.full();
    ensure!(full.is_some(), "item {i} has not been written, and its shape {shape} is not fully known");
    Tensor::zeros(list.dtype(), full.unwrap_or_default())
}

// Only the item that was read has a gradient.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (value, index) = (cx.grad(0), cx.input(1));
    cx.give(0, ListItem { index, value, grows: false });
    Ok(())
}

cases! {
    reads: "TensorListGetItem(TensorListFromTensor([[1 2] [3 4]], [2]), 1, [2]; element_dtype=i32) = [3 4]",
    wide_shape: "TensorListGetItem(TensorListReserve(-1, 3; element_dtype=i32), 1, i64[1] [2]; element_dtype=i32) = [0 0]",
    unwritten_is_zeros: "TensorListGetItem(TensorListReserve([2], 3; element_dtype=i32), 1, -1; element_dtype=i32) = [0 0]",
    zeros_as_asked_for: "TensorListGetItem(TensorListReserve(-1, 3; element_dtype=f32), 1, [1]; element_dtype=f32) = [0.0]",
    zeros_like_the_others: "TensorListGetItem(TensorListSetItem(TensorListReserve(-1, 2; element_dtype=i32), 1, [7 8]), 0, -1; element_dtype=i32) = [0 0]",
    infers: "TensorListGetItem(TensorListReserve([-1 3], 1; element_dtype=f32), i32[], [2 -1]; element_dtype=f32) : f32[2,3]",
    through_identity: "TensorListGetItem(Identity(TensorListReserve([-1 3], 1; element_dtype=f32)), i32[], -1; element_dtype=f32) : f32[?,3]",
    unwritten_of_unknown_shape: "TensorListGetItem(TensorListReserve(-1, 2; element_dtype=f32), 0, -1; element_dtype=f32) \
                                 ! item 0 has not been written, and its shape [..] is not fully known",
    others_disagree: "TensorListGetItem(TensorListSetItem(TensorListSetItem(TensorListReserve(-1, 3; element_dtype=i32), 0, [1]), 1, [1 2]), 2, -1; element_dtype=i32) \
                      ! the others do not agree on its shape: [1], [2]",
    out_of_range: "TensorListGetItem(TensorListFromTensor([1 2], -1), 2, -1; element_dtype=i32) ! index 2 is out of range for a list of length 2",
    before_the_first: "TensorListGetItem(TensorListFromTensor([1 2], -1), -1, -1; element_dtype=i32) ! index -1 is out of range for a list",
    another_shape: "TensorListGetItem(TensorListFromTensor([1 2], -1), 0, [3]; element_dtype=i32) ! the item has shape [] but `element_shape` is [3]",
    shapes_contradict: "TensorListGetItem(TensorListReserve([2], 1; element_dtype=i32), 0, [3]; element_dtype=i32) ! the list holds items of shape [2]",
    another_dtype: "TensorListGetItem(TensorListFromTensor([1 2], -1), 0, -1; element_dtype=f32) ! is a list of i32 but f32 is wanted",
}
