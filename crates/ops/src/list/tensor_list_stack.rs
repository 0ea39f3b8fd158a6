//! `TensorListStack`: all items as the rows of a tensor.

use super::lists::{common_shape, copies, known_items, merged_shape, typed_list};
use crate::shared::lists::{stack, stacked, unstacked};
use millstream_graph::op::spec::{AnyType, AtLeast, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListStack")
        .doc(
            "Stacks all items, which must have one shape, into a tensor. Unwritten items are zeros. The \
             list must have `num_elements` items unless that is -1.",
        )
        .input("input_handle", DType::Variant)
        .input("element_shape", DType::I32)
        .on_host()
        .output("tensor", "element_dtype")
        .attr("element_dtype", AnyType)
        .attr("num_elements", AtLeast(-1).or(-1))
        .infer(infer)
        .kernel(copies(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n = usize::try_from(cx.attrs().int("num_elements")?).ok();
    let items = known_items(cx, 1)?;
    cx.set(0, stacked(n, &items));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let list = typed_list(cx)?;
    let wanted = cx.attrs().int("num_elements")?;
    ensure!(
        wanted < 0 || wanted == list.len() as i64,
        "the list has {} items but `num_elements` is {wanted}",
        list.len()
    );
    let shape = merged_shape(cx, 1, list)?;
    let out = match list.stacked().filter(|whole| shape.admits(&whole.shape()[1..].into())) {
        Some(whole) => whole.clone(),
        None => {
            let items = list.items()?;
            let shape = common_shape(shape, items.iter())?;
            stack(list.dtype(), &shape, items.iter().map(Option::as_ref))?
        }
    };
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dstack, shape) = (cx.grad(0), cx.output_shape(0));
    let item = cx.graph().element_shape(&unstacked(&shape));
    cx.give(0, cx.call("TensorListFromTensor", [dstack, item]));
    Ok(())
}

cases! {
    stacks: "TensorListStack(TensorListPushBack(TensorListFromTensor([[1 2] [3 4]], -1), [5 6]), -1; element_dtype=i32) = [[1 2] [3 4] [5 6]]",
    what_it_was_made_of: "TensorListStack(TensorListFromTensor([[1 2] [3 4]], -1), -1; element_dtype=i32, num_elements=2) = [[1 2] [3 4]]",
    strings: "TensorListStack(TensorListFromTensor(['a' 'b'], -1), -1; element_dtype=str) = ['a' 'b']",
    nothing: "TensorListStack(EmptyTensorList([2], -1; element_dtype=f32), -1; element_dtype=f32) = f32[0,2] []",
    unwritten_are_zeros: "TensorListStack(TensorListSetItem(TensorListReserve(-1, 2; element_dtype=i32), 1, [7 8]), -1; element_dtype=i32) = [[0 0] [7 8]]",
    lists: "TensorListLength(GatherV2(TensorListStack(TensorListPushBack(EmptyTensorList(-1, -1; element_dtype=variant), TensorListFromTensor([1 2], -1)), \
            i32[0] []; element_dtype=variant), 0, 0)) = 2",
    infers: "TensorListStack(TensorListReserve([-1 3], 1; element_dtype=f32), [2 -1]; element_dtype=f32) : f32[?,2,3]",
    infers_the_number: "TensorListStack(variant[], [2 -1]; element_dtype=f32, num_elements=4) : f32[4,2,?]",
    nothing_of_unknown_shape: "TensorListStack(EmptyTensorList(-1, -1; element_dtype=f32), -1; element_dtype=f32) ! the item shape [..] is not fully known",
    nothing_written: "TensorListStack(TensorListReserve(-1, 2; element_dtype=f32), -1; element_dtype=f32) ! no item has been written",
    another_number: "TensorListStack(TensorListFromTensor([1 2], -1), -1; element_dtype=i32, num_elements=3) ! the list has 2 items but `num_elements` is 3",
    shapes_differ: "TensorListStack(TensorListPushBack(TensorListFromTensor([1 2], -1), [5 6]), -1; element_dtype=i32) ! the items must all have one shape, [], but one has shape [2]",
    shape_contradicts: "TensorListStack(TensorListReserve([2], 1; element_dtype=f32), [3]; element_dtype=f32) ! the list holds items of shape [2], but `element_shape` is [3]",
    another_dtype: "TensorListStack(TensorListFromTensor([1 2], -1), -1; element_dtype=f32) ! is a list of i32 but f32 is wanted",
    no_list: "TensorListStack(variant[2], -1; element_dtype=f32) ! `input_handle` must be a scalar",
}
