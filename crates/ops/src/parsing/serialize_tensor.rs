//! `SerializeTensor`: serializes a tensor.

use crate::shared::messages::room_to_encode;
use millstream_checkpoint::message;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Gradient, Kernel, KernelCx, OpDef};
use millstream_proto::encode;
use millstream_tensor::{DType, Result, Str, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("SerializeTensor")
        .doc(
            "Serializes a tensor, with its dtype and shape, to an encoded `TensorProto`. ParseTensor \
             reverses this.",
        )
        .input("tensor", "T")
        .output("serialized", DType::Str)
        .attr("T", AnyType)
        .infer(|cx| cx.scalars())
        .kernel(Kernel::pure(run))
        .gradient(Gradient::none("what is written as bytes has none, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let room = room_to_encode(cx.input(0), 2)?;
    let bytes = encode(&message::encode(cx.input(0))?);
    // From here on, the string itself is charged.
    drop(room);
    cx.set(0, Tensor::str(Str::new(bytes)?));
    Ok(())
}

cases! {
    numbers: r#"SerializeTensor([1 2]) = "\x08\x03\x12\x04\x12\x02\x08\x02\"\x08\x01\0\0\0\x02\0\0\0""#,
    one: r#"SerializeTensor(1.5) = "\x08\x01\x12\0\"\x04\0\0\xc0?""#,
    strings: r#"SerializeTensor(["ab" "c"]) = "\x08\x07\x12\x04\x12\x02\x08\x02B\x02abB\x01c""#,
    nothing: r#"SerializeTensor(f32[0,3] []) = "\x08\x01\x12\x06\x12\0\x12\x02\x08\x03""#,
    infers: "SerializeTensor(c64[..]) : str[]",
    plain_values: "SerializeTensor(OptionalNone()) ! a tensor of variant cannot be written to a message",
}
