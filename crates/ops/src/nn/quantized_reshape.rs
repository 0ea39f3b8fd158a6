//! `QuantizedReshape`: integers that stand for floats, in another shape.

use super::quantum::{NO_SLOPE, end, infer_ends, set_ends};
use crate::array::{infer_reshaped, reshaped};
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I32};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("QuantizedReshape")
        .doc("Reshapes a quantized tensor, and returns its range `input_min` to `input_max` as it is.")
        .input("tensor", "T")
        .input("shape", "Tshape")
        .on_host()
        .input("input_min", F32)
        .on_host()
        .input("input_max", F32)
        .on_host()
        .output("output", "T")
        .output("output_min", F32)
        .output("output_max", F32)
        .attr("T", AnyType)
        .attr("Tshape", IndexType.or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::Missing(NO_SLOPE))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    infer_ends(cx, 2)?;
    infer_reshaped(cx)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let range = (end(cx, 2)?, end(cx, 3)?);
    let out = reshaped(cx)?;
    cx.set(0, out);
    set_ends(cx, range);
    Ok(())
}

cases! {
    reshaped: "QuantizedReshape(qu8[4] [1 2 3 4], [2 -1], -1.0, 1.0) = qu8[2,2] [[1 2] [3 4]], -1.0, 1.0",
    infers: "QuantizedReshape(qu8[?,6], [2 -1], f32[], f32[]) : qu8[2,?], f32[], f32[]",
    as_many: "QuantizedReshape(qu8[4], [3], f32[], f32[]) ! do not fit `shape` [3]",
    scalar_ends: "QuantizedReshape(qu8[4], [4], f32[2], f32[]) ! must be rank 0 but is rank 1",
}
