//! `QuantizedBiasAdd`: adds a vector to each row of integers that stand for floats.

use super::quantum::{FromFloat, NO_SLOPE, QUANTA, Quantum, ToFloat, end, infer_ends, nearest, set_ends};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, QI8, QI32, QU8};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Error, QInt8, QInt32, QUInt8, Result, Tensor, ensure, unequal};

pub(crate) fn def() -> OpDef {
    OpDef::new("QuantizedBiasAdd")
        .doc(
            "Adds `bias`, a vector, to `input` along its last axis. Returns integers of 32 bits, and the range that \
             they stand for, which is so wide that many results can be added. The kernels are those of `quint8` and \
             `qint8`.",
        )
        .input("input", "T1")
        .input("bias", "T2")
        .input("min_input", F32)
        .on_host()
        .input("max_input", F32)
        .on_host()
        .input("min_bias", F32)
        .on_host()
        .input("max_bias", F32)
        .on_host()
        .output("output", "out_type")
        .output("min_out", F32)
        .output("max_out", F32)
        .attr("T1", OneOf(QUANTA))
        .attr("T2", OneOf(QUANTA))
        .attr("out_type", OneOf(QUANTA))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(3.0)))
        .gradient(Gradient::Missing(NO_SLOPE))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    infer_ends(cx, 2)?;
    cx.at_least_rank(0, 2)?;
    if let (Some(n), Some(last)) = (cx.vector(1)?, cx.input(0).dims().and_then(|dims| *dims.last()?)) {
        ensure!(n == last, "{}", unequal(last, n); "`bias` has {n} entries, but the last axis of `input` has size {last}");
    }
    cx.same_as_input()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (of_input, of_bias) = ((end(cx, 2)?, end(cx, 3)?), (end(cx, 4)?, end(cx, 5)?));
    let (input, bias) = (cx.input(0), cx.input(1));
    ensure!(input.rank() >= 2, "Input tensor must be at least 2D: {}", input.shape(); "`input` must have rank 2 or more");
    ensure!(bias.rank() == 1, "Biases must be 1D: {}", bias.shape(); "`bias` must be a vector");
    let last = input.shape()[input.rank() - 1];
    ensure!(
        bias.elements() == last,
        "Must provide as many biases as the last dimension of the input tensor: {} vs. {}", bias.shape(), input.shape();
        "`bias` has {} entries, but the last axis of `input` has size {last}", bias.elements()
    );
    // Wide enough for a few hundred thousand of the greatest floats.
    let most = of_input.1.max(-of_input.0).max(of_bias.1.max(-of_bias.0)) * WIDER;
    let range = (-most, most);
    let to = cx.attrs().dtype("out_type")?;
    let out = match (input.dtype(), bias.dtype()) {
        (QU8, QU8) if to == QI32 => added::<QUInt8>(input, of_input, bias, of_bias, range),
        (QI8, QI8) if to == QI32 => added::<QInt8>(input, of_input, bias, of_bias, range),
        (a, b) => Err(Error::unimplemented(format!(
            "QuantizedBiasAdd has no kernel of {} and {} to {}: as in TensorFlow, it takes quint8 or qint8, and gives qint32",
            a.tf_name(),
            b.tf_name(),
            to.tf_name()
        ))),
    }?;
    cx.set(0, out);
    set_ends(cx, range);
    Ok(())
}

/// How much wider the range of the results is than that of the inputs.
const WIDER: f32 = 131072.0;

fn added<T: Quantum>(
    input: &Tensor,
    of_input: (f32, f32),
    bias: &Tensor,
    of_bias: (f32, f32),
    range: (f32, f32),
) -> Result<Tensor> {
    let to = FromFloat::new::<QInt32>(range.0, range.1);
    let zero = nearest::<QInt32>(0.0, range.0, range.1) as i32;
    let wide = |by: ToFloat, q: T| to.integer::<QInt32>(by.float(q)).0;
    let (by, by_bias) = (ToFloat::new::<T>(of_input.0, of_input.1), ToFloat::new::<T>(of_bias.0, of_bias.1));
    let (cells, biases) = (input.as_slice::<T>()?, bias.as_slice::<T>()?);
    let mut out = Tensor::zeros(QI32, input.shape().clone())?;
    let mut pace = Pace::new();
    let n = biases.len().max(1);
    for (row, cells) in fresh::<QInt32>(&mut out)?.chunks_exact_mut(n).zip(cells.chunks_exact(n)) {
        pace.spend(n)?;
        for ((sum, q), bias) in row.iter_mut().zip(cells).zip(biases) {
            sum.0 = wide(by, *q).wrapping_add(wide(by_bias, *bias)).wrapping_add(zero);
        }
    }
    Ok(out)
}

cases! {
    of_bytes: "QuantizedBiasAdd(qu8[1,2] [[33 130]], qu8[2] [1 2], -1.0, 1.0, -1.0, 2.0; out_type=qi32) = qi32[1,2] [[-14136 -7806]], -262144.0, 262144.0",
    signed: "QuantizedBiasAdd(qi8[1,1] [[5]], qi8[1] [1], 0.0, 0.0, -1.0, 2.0; out_type=qi32) = qi32[1,1] [[4241]], -262144.0, 262144.0",
    infers: "QuantizedBiasAdd(qu8[?,3], qu8[3], f32[], f32[], f32[], f32[]; out_type=qi32) : qi32[?,3], f32[], f32[]",
    as_many: "QuantizedBiasAdd(qu8[1,3], qu8[2], f32[], f32[], f32[], f32[]; out_type=qi32) ! Dimensions must be equal, but are 3 and 2",
    of_rows: "QuantizedBiasAdd(qu8[1] [1], qu8[1] [1], 0.0, 1.0, 0.0, 1.0; out_type=qi32) ! `input` must have rank 2 or more",
    of_these: "QuantizedBiasAdd(qi16[1,1] [[1]], qi16[1] [1], 0.0, 1.0, 0.0, 1.0; out_type=qi32) ! it takes quint8 or qint8",
}
