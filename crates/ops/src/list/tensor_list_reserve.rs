//! `TensorListReserve`: a list of unwritten items.

use super::lists::{count, element_shape, handles, known_element_shape};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, TensorList, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListReserve")
        .doc(
            "Returns a list of `num_elements` unwritten items. An item that is read before it is written is \
             zeros.",
        )
        .input("element_shape", "shape_type")
        .on_host()
        .input("num_elements", DType::I32)
        .on_host()
        .output("handle", DType::Variant)
        .attr("element_dtype", AnyType)
        .attr("shape_type", IndexType)
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::none("no items yet"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    let n = cx.int(1);
    ensure!(n.is_none_or(|n| 0 <= n), "`num_elements` is {} but must not be negative", n.unwrap_or(0));
    let shape = known_element_shape(cx, 0)?;
    cx.set_handle(0, cx.attrs().dtype("element_dtype")?, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (dtype, shape) = (cx.attrs().dtype("element_dtype")?, element_shape(cx, 0)?);
    let list = TensorList::unwritten(dtype, shape, count("num_elements", cx.int(1)?)?)?;
    cx.set(0, list.into_tensor()?);
    Ok(())
}

cases! {
    has_items: "TensorListLength(TensorListReserve(-1, 3; element_dtype=f32)) = 3",
    reads_as_zeros: "TensorListStack(TensorListReserve([2], 2; element_dtype=f32), -1; element_dtype=f32) = f32 [[0 0] [0 0]]",
    strings_too: "TensorListStack(TensorListReserve([1], 2; element_dtype=str), -1; element_dtype=str) = [[''] ['']]",
    infers: "TensorListReserve(i32[..], i32[]; element_dtype=f32) : variant[]",
    none_less_than_nothing: "TensorListReserve(-1, -1; element_dtype=f32) ! `num_elements` is -1 but must not be negative",
    one_number: "TensorListReserve(-1, [1 2]; element_dtype=f32) ! `num_elements` must be a scalar",
    not_too_many: "TensorListReserve(-1, 2147483647; element_dtype=f32) ! 2147483647 items are too many",
}
