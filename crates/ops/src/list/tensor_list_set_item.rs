//! `TensorListSetItem`: writes one item of a list.

use super::lists::{check_unwritten, edit, handles, is_array, known_list, place};
use millstream_graph::op::spec::{AnyType, Bool, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListSetItem")
        .doc(
            "Returns the list with `item` as item `index`. If `resize_if_index_out_of_bounds` is true, a \
             list that is too short is extended with unwritten items.",
        )
        .input("input_handle", DType::Variant)
        .input("index", DType::I32)
        .on_host()
        .input("item", "element_dtype")
        .output("output_handle", DType::Variant)
        .attr("element_dtype", AnyType)
        .attr("resize_if_index_out_of_bounds", Bool.or(false))
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    let dtype = cx.dtype(2);
    let shape = known_list(cx, 0, dtype)?;
    ensure!(
        shape.is_compatible(cx.input(2)),
        "a list of {dtype}{shape} cannot hold an item of {dtype}{}",
        cx.input(2)
    );
    cx.set_handle(0, dtype, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let index = cx.int(1)?;
    let grows = cx.attrs().bool("resize_if_index_out_of_bounds")?;
    check_unwritten(cx, index)?;
    let item = cx.take(2);
    edit(cx, |list| {
        if grows && list.len() as i64 <= index {
            list.admit(&item)?;
            list.resize(place(index, usize::MAX)? + 1)?;
        }
        list.set(place(index, list.len())?, item)
    })
}

// The result does not depend on the replaced item. In a TensorArray nothing was replaced.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dlist, index) = (cx.grad(0), cx.input(1));
    if cx.wants(0) && is_array(cx.attrs()) {
        cx.give(0, dlist);
    } else if cx.wants(0) {
        let zeros = cx.zeros_like_input(2);
        cx.give(0, cx.call("TensorListSetItem", [dlist, index, zeros]));
    }
    if cx.wants(2) {
        let (dtype, shape) = (cx.dtype(2), cx.input_shape(2));
        let item =
            cx.op("TensorListGetItem").input(dlist).input(index).input(cx.graph().element_shape(&shape));
        cx.give(2, item.attr("element_dtype", dtype).output().set_shape(shape));
    }
    Ok(())
}

cases! {
    writes: "TensorListStack(TensorListSetItem(TensorListFromTensor([1 2], -1), 1, 7), -1; element_dtype=i32) = [1 7]",
    grows: "TensorListStack(TensorListSetItem(TensorListFromTensor([1 2], -1), 3, 7; resize_if_index_out_of_bounds=true), -1; element_dtype=i32) = [1 2 0 7]",
    the_old_list_stays: "old <- TensorListFromTensor([1 2], -1) | AddV2(TensorListStack(old, -1; element_dtype=i32), \
                         TensorListStack(TensorListSetItem(old, 1, 7), -1; element_dtype=i32)) = [2 9]",
    infers: "TensorListSetItem(variant[], i32[], f32[2]) : variant[]",
    out_of_range: "TensorListSetItem(TensorListFromTensor([1 2], -1), 2, 7) ! index 2 is out of range for a list of length 2",
    before_the_first: "TensorListSetItem(TensorListFromTensor([1 2], -1), -1, 7; resize_if_index_out_of_bounds=true) ! index -1 is out of range for a list",
    far_away: "TensorListSetItem(TensorListFromTensor([1 2], -1), 2147483647, 7; resize_if_index_out_of_bounds=true) ! items are too many",
    shapes_must_fit: "TensorListSetItem(TensorListReserve([2], 1; element_dtype=i32), 0, [1]) ! a list of i32[2] cannot hold an item of i32[1]",
    arrays_are_written_once: "TensorListSetItem(TensorListFromTensor([1 2], -1), 1, 7; _tensor_array_grows=false) ! element 1 of the TensorArray has been written already",
    dtypes_must_fit: "TensorListSetItem(TensorListReserve([2], 1; element_dtype=i32), 0, [1.0 2.0]) ! is a list of i32 but f32 is wanted",
}
