//! `QuantizedConcat`: concatenation of integers that stand for floats.

use super::quantum::{FromFloat, NO_SLOPE, Quantum, ToFloat, each, end, infer_ends, set_ends};
use crate::array::{infer_joined, joined};
use millstream_graph::op::spec::{AnyType, AtLeast};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I32, QI32, QU8};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Error, QInt32, QUInt8, Result, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("QuantizedConcat")
        .doc(
            "Concatenates integers that stand for floats of different ranges, along the axis `concat_dim`. Returns \
             them for the range that holds all of these, zero, and, if `T` is `qint32`, the negative of each of its \
             numbers. The kernels are those of `quint8` and `qint32`.",
        )
        .input("concat_dim", I32)
        .on_host()
        .inputs("values", "N", "T")
        .inputs("input_mins", "N", F32)
        .on_host()
        .inputs("input_maxes", "N", F32)
        .on_host()
        .output("output", "T")
        .output("output_min", F32)
        .output("output_max", F32)
        .attr("N", AtLeast(2))
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(2.0)))
        .gradient(Gradient::Missing(NO_SLOPE))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let mins = cx.node().input_range("input_mins")?;
    infer_ends(cx, mins.start)?;
    infer_joined(cx)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let values = cx.node.input_range("values")?;
    let n = values.len();
    let range = |i: usize| -> Result<(f32, f32)> { Ok((end(cx, i + n)?, end(cx, i + 2 * n)?)) };
    let ranges = Charged::try_of(values.clone().map(range))?;
    let low = ranges.iter().fold(f32::MAX, |low, range| if range.0 < low { range.0 } else { low });
    let high = ranges.iter().fold(f32::MIN, |high, range| if high < range.1 { range.1 } else { high });
    let dtype = cx.attrs().dtype("T")?;
    let whole = match dtype {
        QU8 => (low.min(0.0), high),
        QI32 => (-low.abs().max(high.abs()), low.abs().max(high.abs())),
        other => {
            return Err(Error::unimplemented(format!(
                "QuantizedConcat has no kernel of {}: as in TensorFlow, it takes quint8 and qint32",
                other.tf_name()
            )));
        }
    };
    let part = |(part, range): (&Tensor, &(f32, f32))| match dtype {
        _ if *range == whole => Ok(part.clone()),
        QU8 => moved::<QUInt8>(part, *range, whole),
        _ => moved::<QInt32>(part, *range, whole),
    };
    let parts = Charged::try_of(cx.inputs()[values].iter().zip(ranges.iter()).map(part))?;
    let out = joined(cx, &parts)?;
    cx.set(0, out);
    set_ends(cx, whole);
    Ok(())
}

/// Integers for the same floats in another range.
fn moved<T: Quantum>(part: &Tensor, from: (f32, f32), to: (f32, f32)) -> Result<Tensor> {
    let (from, to) = (ToFloat::new::<T>(from.0, from.1), FromFloat::new::<T>(to.0, to.1));
    each(part, |q: T| to.integer::<T>(from.float(q)))
}

cases! {
    of_two_ranges: "QuantizedConcat(0, qu8[2] [33 130], qu8[2] [33 130], -1.0, -1.0, 1.0, 2.0) = qu8[4] [22 87 33 130], -1.0, 2.0",
    of_one_range: "QuantizedConcat(1, qu8[1,1] [[7]], qu8[1,2] [[8 9]], -1.0, -1.0, 1.0, 1.0) = qu8[1,3] [[7 8 9]], -1.0, 1.0",
    with_zero: "QuantizedConcat(0, qu8[1] [33], qu8[1] [130], 1.0, 1.0, 2.0, 2.0) = qu8[2] [144 193], 0.0, 2.0",
    symmetric: "QuantizedConcat(0, qi32[1] [0], qi32[1] [1073741824], -1.0, -1.0, 1.0, 2.0) = qi32[2] [0 1342177280], -2.0, 2.0",
    infers: "QuantizedConcat(0, qu8[?,3], qu8[2,3], f32[], f32[], f32[], f32[]) : qu8[?,3], f32[], f32[]",
    that_fit: "QuantizedConcat(0, qu8[1,3], qu8[1,2], f32[], f32[], f32[], f32[]) ! does not agree with",
    scalar_ends: "QuantizedConcat(0, qu8[1], qu8[1], f32[2], f32[], f32[], f32[]) ! must be rank 0 but is rank 1",
    of_these: "QuantizedConcat(0, qi8[1] [1], qi8[1] [2], 0.0, 0.0, 1.0, 1.0) ! it takes quint8 and qint32",
}
