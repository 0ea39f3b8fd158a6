//! `TensorListLength`: the number of items of a list.

use super::lists::{handles, list};
use millstream_graph::op::{Gradient, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListLength")
        .doc("Returns the number of items of a list, including unwritten ones.")
        .input("input_handle", DType::Variant)
        .output("length", DType::I32)
        .infer(|cx| {
            cx.scalar(0)?;
            cx.scalars()
        })
        .kernel(handles(run))
        .gradient(Gradient::none("integer output"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let len = list(cx, 0)?.len();
    let len = i32::try_from(len).map_err(|_| invalid!("{len} items do not fit in an i32"))?;
    cx.set(0, Tensor::scalar(len));
    Ok(())
}

cases! {
    counts: "TensorListLength(TensorListFromTensor([1 2 3], -1)) = 3",
    counts_the_unwritten: "TensorListLength(TensorListReserve(-1, 2; element_dtype=f32)) = 2",
    infers: "TensorListLength(variant[]) : i32[]",
    one_list: "TensorListLength(variant[2]) ! `input_handle` must be a scalar",
}
