//! `TensorListPopBack`: removes the last item of a list.

use super::lists::{check_item, edit, handles, known_items, merged_shape, same_list, typed_list};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, Lowering, OpDef};
use millstream_tensor::{DType, Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListPopBack")
        .doc(
            "Returns the list without its last item, and that item. An unwritten item is zeros in the \
             element shape.",
        )
        .input("input_handle", DType::Variant)
        .input("element_shape", DType::I32)
        .on_host()
        .output("output_handle", DType::Variant)
        .output("tensor", "element_dtype")
        .attr("element_dtype", AnyType)
        .infer(infer)
        .kernel(handles(run).lowered(|_| Some(Lowering::PopBack)))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let item = known_items(cx, 1)?;
    same_list(cx)?;
    cx.set(1, item);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let list = typed_list(cx)?;
    let last = list.len().checked_sub(1);
    let last = last.ok_or_else(|| invalid!("the list is empty: there is nothing to pop"))?;
    let zero = match list.get(last)? {
        Some(item) => {
            check_item(cx, 1, item.shape())?;
            None
        }
        None => {
            let shape = merged_shape(cx, 1, list)?;
            let full = shape.full().ok_or_else(|| {
                invalid!("the last item has not been written, and its shape {shape} is not fully known")
            })?;
            Some(Tensor::zeros(list.dtype(), full)?)
        }
    };
    let last = edit(cx, |list| Ok(list.pop()?.flatten()))?;
    if let Some(item) = last.or(zero) {
        cx.set(1, item);
    }
    Ok(())
}

// A popped item has its gradient pushed.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dlist, ditem) = (cx.grad(0), cx.grad(1));
    let dlist = cx.call("TensorListPushBack", [dlist, ditem]);
    cx.give(0, dlist);
    Ok(())
}

cases! {
    pops: "list item <- TensorListPopBack(TensorListFromTensor([[1 2] [3 4]], [2]), [2]; element_dtype=i32) | AddV2(item, 0) = [3 4]",
    leaves_the_rest: "list item <- TensorListPopBack(TensorListFromTensor([1 2], -1), -1; element_dtype=i32) \
                      | TensorListStack(list, -1; element_dtype=i32) = [1]",
    unwritten_is_zeros: "list item <- TensorListPopBack(TensorListReserve([2], 1; element_dtype=i32), -1; element_dtype=i32) \
                         | AddV2(item, 0) = [0 0]",
    infers: "TensorListPopBack(TensorListReserve([-1 3], 1; element_dtype=f32), [2 -1]; element_dtype=f32) : variant[], f32[2,3]",
    infers_nothing: "TensorListPopBack(variant[], i32[..]; element_dtype=f32) : variant[], f32[..]",
    nothing_to_pop: "TensorListPopBack(EmptyTensorList(-1, -1; element_dtype=f32), -1; element_dtype=f32) ! the list is empty",
    unwritten_of_unknown_shape: "TensorListPopBack(TensorListReserve(-1, 1; element_dtype=f32), -1; element_dtype=f32) ! its shape [..] is not fully known",
    another_shape: "TensorListPopBack(TensorListFromTensor([1.0 2.0], -1), [3]; element_dtype=f32) ! the item has shape [] but `element_shape` is [3]",
    another_dtype: "TensorListPopBack(TensorListFromTensor([1 2], -1), -1; element_dtype=f32) ! is a list of i32 but f32 is wanted",
}
