//! `TensorArrayPack`: all elements as the rows of a tensor, in the oldest graphs.

use super::tensor_arrays::{self, By, HandleArg, kernel, rows_of, typed_array};
use crate::shared::lists::stacked;
use millstream_graph::op::spec::{AnyShape, AnyType, Spec};
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorArrayPack")
        .doc("Stacks all elements, which must have one shape, into a tensor.")
        .handle_in(By::Reference, "handle")
        .input("flow_in", DType::F32)
        .output("value", "dtype")
        .attr("dtype", AnyType)
        .attr("element_shape", AnyShape.or(PartialShape::unknown()))
        .infer(infer)
        .kernel(kernel(run))
        .gradient(Gradient::Missing(tensor_arrays::OLD))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.set(0, stacked(None, cx.attrs().shape("element_shape")?));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let array = typed_array(cx, "dtype")?;
    let all = 0..array.whole_len()? as i64;
    let out = rows_of(&array, all, cx.attrs().shape("element_shape")?)?;
    cx.set(0, out);
    Ok(())
}

cases! {
    packs: "a <- TensorArray(2; dtype=i32) | TensorArrayPack(a, TensorArrayUnpack(a, [[1 2] [3 4]], 0.0); dtype=i32) = [[1 2] [3 4]]",
    infers: "TensorArrayPack(&str[2], f32[]; dtype=f32, element_shape=shape[3]) : f32[?,3]",
}
