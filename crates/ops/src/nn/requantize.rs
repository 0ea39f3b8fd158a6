//! `Requantize`, `RequantizationRange`, `QuantizeDownAndShrinkRange`: integers of 32 bits as integers of 8.

use super::quantum::{FromFloat, QUANTA, Quantum, ToFloat, each, end};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, QI8, QI32, QU8};
use millstream_tensor::pace::paced;
use millstream_tensor::{DType, Error, PartialShape, QInt8, QInt32, QUInt8, Result, Tensor, ensure};

pub(crate) fn def() -> [OpDef; 3] {
    let input = |name| {
        OpDef::new(name)
            .input("input", "Tinput")
            .input("input_min", F32)
            .on_host()
            .input("input_max", F32)
            .on_host()
            .attr("Tinput", OneOf(QUANTA))
    };
    let converts = |def: OpDef| {
        def.output("output", "out_type")
            .output("output_min", F32)
            .output("output_max", F32)
            .attr("out_type", OneOf(QUANTA))
    };
    let rest = |def: OpDef, run: fn(&mut KernelCx) -> Result<()>| {
        def.infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(2.0)))
            .gradient(Gradient::Missing("TensorFlow has none either: integers do not change by degrees"))
    };
    [
        rest(
            converts(
                input("Requantize")
                    .input("requested_output_min", F32)
                    .on_host()
                    .input("requested_output_max", F32)
                    .on_host(),
            ),
            requantize,
        )
        .doc(
            "Returns integers for the same floats in another range: those that stand for the floats from \
             `requested_output_min` to `requested_output_max`. Floats outside are moved to its ends. The kernels are \
             those from `qint32` to `quint8` and `qint8`.",
        ),
        rest(input("RequantizationRange").output("output_min", F32).output("output_max", F32), range)
            .doc("Returns the least float, or zero if it is greater, and the greatest one that the integers stand for."),
        rest(converts(input("QuantizeDownAndShrinkRange")), shrink)
            .doc("Returns the `Requantize` of integers to the range that `RequantizationRange` returns, and the range."),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    (1..cx.n_inputs()).try_for_each(|i| cx.scalar(i))?;
    let ends = cx.n_outputs() - 2;
    if ends == 1 {
        cx.same_as_input()?;
    }
    cx.set(ends, PartialShape::scalar());
    cx.set(ends + 1, PartialShape::scalar());
    Ok(())
}

fn check(cx: &KernelCx, to: Option<DType>) -> Result<()> {
    let from = cx.input(0).dtype();
    let fits = from == QI32 && to.is_none_or(|to| to == QU8 || (to == QI8 && cx.n_inputs() == 5));
    if !fits {
        let to = to.map_or(String::new(), |to| format!(" to {}", to.tf_name()));
        return Err(Error::unimplemented(format!(
            "{} has no kernel from {}{to}: as in TensorFlow, it takes qint32",
            cx.node.op.name,
            from.tf_name()
        )));
    }
    Ok(())
}

fn requantize(cx: &mut KernelCx) -> Result<()> {
    check(cx, Some(cx.attrs().dtype("out_type")?))?;
    let (min, max) = (end(cx, 3)?, end(cx, 4)?);
    ensure!(min <= 0.0, "requested_output_min must be <= 0, but got {min}");
    ensure!(min <= max, "requested_output_max must be >= requested_output_min, but got {max} and {min}");
    convert(cx, min, max)
}

fn convert(cx: &mut KernelCx, min: f32, max: f32) -> Result<()> {
    let (low, high) = (end(cx, 1)?, end(cx, 2)?);
    let input = cx.take(0);
    let out = match cx.attrs().dtype("out_type")? {
        QU8 => {
            let by = Fixed::new(low, high, min, max);
            each(&input, |q: QInt32| by.byte(q))?
        }
        _ => {
            let (from, to) = (ToFloat::new::<QInt32>(low, high), FromFloat::new::<QInt8>(min, max));
            each(&input, |q: QInt32| to.integer::<QInt8>(from.float(q)))?
        }
    };
    cx.set(0, out);
    cx.set(1, Tensor::scalar(min));
    cx.set(2, Tensor::scalar(max));
    Ok(())
}

/// The conversion to bytes, in integers with 16 bits behind the point. As in TensorFlow, products that do not
/// fit in 64 bits wrap around.
struct Fixed {
    scale: i64,
    shift: i64,
}

const ONE: i64 = 1 << 16;

impl Fixed {
    fn new(low: f32, high: f32, min: f32, max: f32) -> Fixed {
        let (from, to) = (high - low, max - min);
        if to == 0.0 {
            return Fixed { scale: 0, shift: ONE / 2 };
        }
        let each = (255.0 / f64::from(to)) as f32;
        let center = (f64::from(low + high) / 2.0) as f32;
        let scale = 255.0 * ONE as f64 * f64::from(from) / f64::from(to);
        let offset = (center * each * ONE as f32) as i64;
        let start = f64::from(min) * 255.0 * ONE as f64 / f64::from(to);
        Fixed { scale: scale as i64, shift: offset.wrapping_sub(start as i64).wrapping_add(ONE / 2) }
    }

    fn byte(&self, q: QInt32) -> QUInt8 {
        let v = (i64::from(q.0).wrapping_mul(self.scale) >> 32).wrapping_add(self.shift) >> 16;
        QUInt8(v.clamp(0, 255) as u8)
    }
}

/// The float of an integer between two others.
fn float(q: i32, low: f32, high: f32) -> f32 {
    if low == high {
        return low;
    }
    let steps = (1u64 << 32) as f64;
    let range = f64::from(high - low) * (steps / (steps - 1.0));
    let scale = range / steps;
    let start = (f64::from(low) / f64::from(scale as f32)).round() * f64::from(scale as f32);
    (start + (f64::from(q) - QInt32::LEAST as f64) * scale) as f32
}

/// The floats that the least and the greatest integer stand for.
fn used(cx: &KernelCx) -> Result<(f32, f32)> {
    let (low, high) = (end(cx, 1)?, end(cx, 2)?);
    let integers = cx.input(0).as_slice::<QInt32>()?;
    let (mut least, mut most) = (i32::MAX, i32::MIN);
    paced(integers.len(), |range| {
        for q in &integers[range] {
            (least, most) = (least.min(q.0), most.max(q.0));
        }
    })?;
    Ok((float(least, low, high).min(0.0), float(most, low, high)))
}

fn range(cx: &mut KernelCx) -> Result<()> {
    check(cx, None)?;
    let (min, max) = used(cx)?;
    cx.set(0, Tensor::scalar(min));
    cx.set(1, Tensor::scalar(max));
    Ok(())
}

fn shrink(cx: &mut KernelCx) -> Result<()> {
    check(cx, Some(cx.attrs().dtype("out_type")?))?;
    let (min, max) = used(cx)?;
    convert(cx, min, max)
}

cases! {
    to_bytes: "Requantize(qi32[3] [-2147483648 0 2147483647], -1.0, 1.0, -0.5, 0.5; out_type=qu8) = qu8[3] [0 128 255], -0.5, 0.5",
    to_signed_bytes: "Requantize(qi32[3] [-2147483648 0 2147483647], -1.0, 1.0, -1.0, 1.0; out_type=qi8) = qi8[3] [-128 0 127], -1.0, 1.0",
    of_a_point: "Requantize(qi32[1] [5], 0.0, 0.0, 0.0, 0.0; out_type=qu8) = qu8[1] [0], 0.0, 0.0",
    ends: "RequantizationRange(qi32[2] [1073741824 0], -1.0, 1.0) ~ 0.0, 0.5",
    shrunk: "QuantizeDownAndShrinkRange(qi32[3] [0 536870912 1073741824], -1.0, 1.0; out_type=qu8) ~ qu8[3] [0 128 255], 0.0, 0.5",
    infers: "Requantize(qi32[?,3], f32[], f32[], f32[], f32[]; out_type=qu8) : qu8[?,3], f32[], f32[]",
    infers_ends: "RequantizationRange(qi32[?,3], f32[], f32[]) : f32[], f32[]",
    infers_shrunk: "QuantizeDownAndShrinkRange(qi32[?,3], f32[], f32[]; out_type=qu8) : qu8[?,3], f32[], f32[]",
    with_zero: "Requantize(qi32[1] [5], 0.0, 1.0, 0.5, 1.0; out_type=qu8) ! requested_output_min must be <= 0, but got 0.5",
    a_range: "Requantize(qi32[1] [5], 0.0, 1.0, -0.5, -0.6; out_type=qu8) ! requested_output_max must be >= requested_output_min, but got -0.6 and -0.5",
    of_32_bits: "QuantizeDownAndShrinkRange(qi16[1] [5], 0.0, 1.0; out_type=qu8) ! it takes qint32",
    scalar_ends: "RequantizationRange(qi32[1], f32[2], f32[]) ! must be rank 0 but is rank 1",
}
