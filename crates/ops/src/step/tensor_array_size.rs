//! `TensorArraySize` and its newer forms: the number of elements.

use super::tensor_arrays::{HandleArg, array, kernel, versions};
use millstream_graph::op::{Gradient, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Tensor, invalid};

pub(crate) fn def() -> [OpDef; 3] {
    versions(["TensorArraySize", "TensorArraySizeV2", "TensorArraySizeV3"]).map(|(name, by)| {
        OpDef::new(name)
            .doc("Returns the number of elements of a TensorArray, including unwritten ones.")
            .handle_in(by, "handle")
            .input("flow_in", DType::F32)
            .output("size", DType::I32)
            .infer(|cx| {
                cx.scalar(1)?;
                cx.scalars()
            })
            .kernel(kernel(run).undoable())
            .gradient(Gradient::none("integer output"))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let len = array(cx)?.len()?;
    let len = i32::try_from(len).map_err(|_| invalid!("{len} elements do not fit in an i32"))?;
    cx.set(0, Tensor::scalar(len));
    Ok(())
}

cases! {
    counts: "a f <- TensorArrayV3(3; dtype=f32) | TensorArraySizeV3(a, f) = 3",
    counts_what_is_written: "a f <- TensorArrayV3(1; dtype=i32, dynamic_size=true) | TensorArraySizeV3(a, TensorArrayWriteV3(a, 3, 7, f)) = 4",
    infers: "TensorArraySizeV3(resource[], f32[]) : i32[]",
    wants_an_array: "TensorArraySizeV3(@i32 1, 0.0) ! refers to a variable",
    wants_one_handle: "TensorArraySizeV2('a', 0.0) ! must be a handle to what lives for the step, got str[]",
}
