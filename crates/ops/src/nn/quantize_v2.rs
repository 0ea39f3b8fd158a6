//! `QuantizeV2`: floats as integers of few bits.

use super::quantum::{FromFloat, QUANTA, Quantum, each, end};
use crate::number::no_kernel;
use millstream_graph::op::spec::{OneOf, Spec, Words};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("QuantizeV2")
        .doc(
            "Returns integers of type `T` for floats from `min_range` to `max_range`, and the range that they stand \
             for. The range is widened to hold zero and to have a length. In the modes \"MIN_COMBINED\" and \
             \"MIN_FIRST\" its ends are the least and the greatest integer; in the second, zero is an integer \
             without a rest. In \"SCALED\" zero is the integer 0. Floats outside the range are moved to its ends. \
             `round_mode` is \"HALF_AWAY_FROM_ZERO\", or \"HALF_TO_EVEN\" with \"SCALED\".",
        )
        .input("input", F32)
        .input("min_range", F32)
        .on_host()
        .input("max_range", F32)
        .on_host()
        .output("output", "T")
        .output("output_min", F32)
        .output("output_max", F32)
        .attr("T", OneOf(QUANTA))
        .attr("mode", Words(&["MIN_COMBINED", "MIN_FIRST", "SCALED"]).or("MIN_COMBINED"))
        .attr("round_mode", Words(&["HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"]).or("HALF_AWAY_FROM_ZERO"))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(2.0)))
        .gradient(Gradient::none("integers do not change by degrees"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.scalar(2)?;
    cx.same_as_input()?;
    cx.set(1, PartialShape::scalar());
    cx.set(2, PartialShape::scalar());
    Ok(())
}

/// How floats become integers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Combined,
    First,
    Scaled { to_even: bool },
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (mode, rounds) = (cx.attrs().str("mode")?, cx.attrs().str("round_mode")?);
    let to_even = **rounds == *b"HALF_TO_EVEN";
    let mode = match &**mode {
        b"MIN_COMBINED" => Mode::Combined,
        b"MIN_FIRST" => Mode::First,
        _ => Mode::Scaled { to_even },
    };
    ensure!(
        !to_even || matches!(mode, Mode::Scaled { .. }),
        "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{}'.",
        String::from_utf8_lossy(cx.attrs().str("mode")?)
    );
    let (low, high) = (end(cx, 1)?, end(cx, 2)?);
    ensure!(
        low <= high || low.is_nan() || high.is_nan(),
        "input_max_range must be larger than input_min_range.";
        "`min_range` is {low} but `max_range` is {high}"
    );
    // Zero is in the range, whose length is at least a hundredth of its greatest number.
    let min = low.min(0.0);
    let max = high.max(min + low.abs().max(high.abs()).max(1.0) / 100.0).max(0.0);
    let input = cx.take(0);
    let dtype = cx.attrs().dtype("T")?;
    let (out, min, max) = with_element!(dtype, T in [QI8 QU8 QI32 QI16 QU16] => quantized::<T>(&input, mode, min, max),
        else => Err(no_kernel("QuantizeV2", dtype)))?;
    cx.set(0, out);
    cx.set(1, Tensor::scalar(min));
    cx.set(2, Tensor::scalar(max));
    Ok(())
}

/// Moves a float into a range. NaN stays NaN.
fn within(x: f32, min: f32, max: f32) -> f32 {
    let x = if max < x { max } else { x };
    if x < min { min } else { x }
}

fn quantized<T: Quantum>(input: &Tensor, mode: Mode, min: f32, max: f32) -> Result<(Tensor, f32, f32)> {
    let (least, most) = (T::LEAST as f32, T::MOST as f32);
    let out = match mode {
        Mode::Combined => {
            let scale = ((T::MOST - T::LEAST) as f64 / f64::from(max - min)) as f32;
            each(input, |x: f32| {
                let v = (within(x, min, max) - min) * scale;
                T::of_float(if T::LEAST < 0 { (v - T::half()).round() } else { v + 0.5 })
            })?
        }
        Mode::First => {
            let by = FromFloat::new::<T>(min, max);
            each(input, |x: f32| by.integer::<T>(x))?
        }
        Mode::Scaled { to_even } => {
            let factor = |integer: f32, end: f32| if 0.0 < integer * end { integer / end } else { f32::MAX };
            let scale = factor(least, min).min(factor(most, max));
            let (min, max) = (least / scale, most / scale);
            let out = each(input, |x: f32| {
                let v = within(x, min, max) * scale;
                T::of_float(if to_even { v.round_ties_even() } else { v.round() })
            })?;
            return Ok((out, min, max));
        }
    };
    Ok((out, min, max))
}

cases! {
    to_bytes: "QuantizeV2([-1.0 0.0 0.5 1.0 7.0], -1.0, 1.0; T=qu8) = qu8[5] [0 128 191 255 255], -1.0, 1.0",
    signed: "QuantizeV2([-1.0 0.0 1.0], -1.0, 1.0; T=qi8) = qi8[3] [-128 -1 127], -1.0, 1.0",
    zero_is_exact: "QuantizeV2([-1.0 0.0 2.0], -1.0, 2.0; T=qu8, mode=\"MIN_FIRST\") = qu8[3] [0 85 255], -1.0, 2.0",
    scaled: "QuantizeV2([-1.0 0.5 127.0 300.0], -127.0, 127.0; T=qi8, mode=\"SCALED\") = qi8[4] [-1 1 127 127], -128.0, 127.0",
    halves_to_even: "QuantizeV2([0.5 1.5 -0.5 2.5], -127.0, 127.0; T=qi8, mode=\"SCALED\", round_mode=\"HALF_TO_EVEN\") = qi8[4] [0 2 0 2], -128.0, 127.0",
    a_range_has_a_length: "QuantizeV2([0.0], 0.0, 0.0; T=qu16) = qu16[1] [0], 0.0, 0.01",
    not_a_number: "QuantizeV2([nan], 0.0, 1.0; T=qi32) = qi32[1] [0], 0.0, 1.0",
    infers: "QuantizeV2(f32[?,3], f32[], f32[]; T=qi16) : qi16[?,3], f32[], f32[]",
    a_range: "QuantizeV2([1.0], 2.0, 1.0; T=qu8) ! input_max_range must be larger than input_min_range.",
    even_if_scaled: "QuantizeV2([1.0], 0.0, 1.0; T=qu8, round_mode=\"HALF_TO_EVEN\") ! Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED'",
    scalar_ends: "QuantizeV2(f32[1], f32[2], f32[]; T=qu8) ! must be rank 0 but is rank 1",
}
