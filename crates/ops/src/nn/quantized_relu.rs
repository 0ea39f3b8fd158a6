//! `QuantizedRelu`, `QuantizedRelu6`: the activations of integers that stand for floats.

use super::quantum::{NO_SLOPE, QUANTA, Quantum, each, end, infer_ends, nearest, set_ends};
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, QI32, QU8};
use millstream_tensor::{Error, QInt32, QUInt8, Result, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    let activation = |name, run: fn(&mut KernelCx) -> Result<()>| {
        OpDef::new(name)
            .input("features", "Tinput")
            .input("min_features", F32)
            .on_host()
            .input("max_features", F32)
            .on_host()
            .output("activations", "out_type")
            .output("min_activations", F32)
            .output("max_activations", F32)
            .attr("Tinput", OneOf(QUANTA))
            .attr("out_type", OneOf(QUANTA).or(QU8))
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(1.0)))
            .gradient(Gradient::Missing(NO_SLOPE))
    };
    [
        activation("QuantizedRelu", |cx| run(cx, None)).doc(
            "Replaces integers that stand for negative floats by that of zero. The range stays the same. The kernels \
             are those of `quint8` and `qint32`.",
        ),
        activation("QuantizedRelu6", |cx| run(cx, Some(6.0)))
            .doc("As `QuantizedRelu`, and replaces integers that stand for floats beyond 6 by that of 6."),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    infer_ends(cx, 1)?;
    cx.same_as_input()
}

fn run(cx: &mut KernelCx, most: Option<f32>) -> Result<()> {
    let range = (end(cx, 1)?, end(cx, 2)?);
    let input = cx.take(0);
    let (from, to) = (input.dtype(), cx.attrs().dtype("out_type")?);
    let out = match from {
        QU8 if to == QU8 => clamped(&input, range, most, |v| QUInt8(v as u8)),
        QI32 if to == QI32 => clamped(&input, range, most, |v| QInt32(v as i32)),
        _ => Err(Error::unimplemented(format!(
            "{} has no kernel from {} to {}: as in TensorFlow, both are quint8 or qint32",
            cx.node.op.name,
            from.tf_name(),
            to.tf_name()
        ))),
    }?;
    cx.set(0, out);
    set_ends(cx, range);
    Ok(())
}

fn clamped<T: Quantum>(
    input: &Tensor,
    (min, max): (f32, f32),
    most: Option<f32>,
    integer: impl Fn(i64) -> T,
) -> Result<Tensor> {
    let least = nearest::<T>(0.0, min, max);
    let most = most.map_or(T::MOST, |most| nearest::<T>(most, min, max));
    each(input, |q: T| integer(i64::from(q.value()).max(least).min(most)))
}

cases! {
    bytes: "QuantizedRelu(qu8[4] [0 127 128 255], -1.0, 1.0) = qu8[4] [128 128 128 255], -1.0, 1.0",
    wide: "QuantizedRelu(qi32[3] [-5 0 7], -1.0, 1.0; out_type=qi32) = qi32[3] [0 0 7], -1.0, 1.0",
    up_to_6: "QuantizedRelu6(qu8[4] [0 64 200 255], -2.0, 8.0) = qu8[4] [51 64 200 204], -2.0, 8.0",
    infers: "QuantizedRelu(qu8[?,3], f32[], f32[]) : qu8[?,3], f32[], f32[]",
    scalar_ends: "QuantizedRelu6(qu8[3], f32[2], f32[]) ! must be rank 0 but is rank 1",
    of_these: "QuantizedRelu(qi8[1] [1], -1.0, 1.0) ! both are quint8 or qint32",
}
