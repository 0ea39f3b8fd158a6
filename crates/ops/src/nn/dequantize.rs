//! `Dequantize`: the floats that integers of few bits stand for.

use super::quantum::{QUANTA, Quantum, ToFloat, each, end, to_int};
use crate::number::no_kernel;
use millstream_graph::op::spec::{OneOf, Spec, Words};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::{Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Dequantize")
        .doc(
            "Returns the floats that the integers of a `QuantizeV2` of the same `mode` stand for. `min_range` and \
             `max_range` are the ends of the range that it returned.",
        )
        .input("input", "T")
        .input("min_range", F32)
        .on_host()
        .input("max_range", F32)
        .on_host()
        .output("output", F32)
        .attr("T", OneOf(QUANTA))
        .attr("mode", Words(&["MIN_COMBINED", "MIN_FIRST", "SCALED"]).or("MIN_COMBINED"))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(2.0)))
        .gradient(Gradient::Missing("TensorFlow has none either: integers do not change by degrees"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.scalar(2)?;
    cx.same_as_input()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let mode = cx.attrs().str("mode")?.clone();
    let (min, max) = (end(cx, 1)?, end(cx, 2)?);
    let input = cx.take(0);
    let out = with_element!(input.dtype(), T in [QI8 QU8 QI32 QI16 QU16] => floats::<T>(&input, &mode, min, max),
        else => Err(no_kernel("Dequantize", input.dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn floats<T: Quantum>(input: &Tensor, mode: &[u8], min: f32, max: f32) -> Result<Tensor> {
    let (least, most) = (T::LEAST as f32, T::MOST as f32);
    match mode {
        b"MIN_COMBINED" => {
            let scale = (max - min) / (most - least);
            each(input, |q: T| (q.value() as f32 + T::half()) * scale + min)
        }
        b"MIN_FIRST" => {
            let by = ToFloat::new::<T>(min, max);
            each(input, |q: T| by.float(q))
        }
        _ => {
            let scale = match T::LEAST {
                0 => max / most,
                _ if min / least < max / most => max / most,
                _ => min / least,
            };
            // As in TensorFlow, integers are floats on the way: the greatest i32 becomes the least one.
            each(input, |q: T| to_int(q.value() as f32) as f32 * scale)
        }
    }
}

cases! {
    of_bytes: "Dequantize(qu8[3] [0 51 255], -1.0, 4.0) ~ [-1.0 0.0 4.0]",
    signed: "Dequantize(qi8[3] [-128 -1 127], 0.0, 255.0) ~ [0.0 127.0 255.0]",
    zero_is_exact: "Dequantize(qu8[3] [0 85 255], -1.0, 2.0; mode=\"MIN_FIRST\") ~ [-1.0 0.0 2.0]",
    scaled: "Dequantize(qi16[3] [-2 0 32767], -16384.0, 16383.5; mode=\"SCALED\") = [-1.0 0.0 16383.5]",
    of_nothing: "Dequantize(qi32[0] [], 0.0, 1.0) = f32[0] []",
    infers: "Dequantize(qi16[?,3], f32[], f32[]) : f32[?,3]",
    scalar_ends: "Dequantize(qu8[1], f32[], f32[1]) ! must be rank 0 but is rank 1",
}
