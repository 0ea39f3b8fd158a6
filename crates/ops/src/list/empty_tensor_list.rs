//! `EmptyTensorList`: an empty list.

use super::lists::{element_shape, handles, known_element_shape};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, TensorList};

pub(crate) fn def() -> OpDef {
    OpDef::new("EmptyTensorList")
        .doc(
            "Returns an empty list. Its items must have dtype `element_dtype` and match `element_shape`, in \
             which -1 is an unknown dimension and a scalar -1 an unknown rank. Pushing more than \
             `max_num_elements` items is an error unless `max_num_elements` is negative.",
        )
        .input("element_shape", "shape_type")
        .on_host()
        .input("max_num_elements", DType::I32)
        .on_host()
        .output("handle", DType::Variant)
        .attr("element_dtype", AnyType)
        .attr("shape_type", IndexType)
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::none("no items"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    let shape = known_element_shape(cx, 0)?;
    cx.set_handle(0, cx.attrs().dtype("element_dtype")?, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let list = TensorList::new(cx.attrs().dtype("element_dtype")?, element_shape(cx, 0)?);
    let max = usize::try_from(cx.int(1)?).ok();
    cx.set(0, list.with_max_len(max).into_tensor()?);
    Ok(())
}

cases! {
    is_empty: "TensorListLength(EmptyTensorList(-1, -1; element_dtype=f32)) = 0",
    knows_its_element_shape: "TensorListElementShape(EmptyTensorList([2 -1], -1; element_dtype=f32); shape_type=i32) = [2 -1]",
    infers: "EmptyTensorList(i32[?], -1; element_dtype=f32) : variant[]",
    may_be_bounded: "TensorListPushBack(TensorListPushBack(EmptyTensorList(i32[0] [], 1; element_dtype=f32), 1.0), 2.0) ! the list is full",
    a_scalar_shape_is_minus_one: "EmptyTensorList(5, -1; element_dtype=f32) ! only -1, a shape of unknown rank, may be a scalar",
    shape_is_no_matrix: "EmptyTensorList([[2]], -1; element_dtype=f32) ! must be a scalar or a vector",
    no_negative_dimensions: "EmptyTensorList([-2], -1; element_dtype=f32) ! dimension -2 is neither -1 nor a size",
}
