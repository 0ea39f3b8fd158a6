//! `DecodeJSONExample`: `Example` messages from JSON.

use crate::shared::messages::room_to_decode;
use crate::shared::strings::{of_any_length, strs};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_proto::{Example, encode, from_json};
use millstream_tensor::pace::look;
use millstream_tensor::{DType, Result, Str, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("DecodeJSONExample")
        .doc(
            "Converts each string, an `Example` message in protobuf's JSON form, to an encoded message for \
             ParseExample. Bytes are in base64; an unknown field is an error. Features are in the order of \
             their names.",
        )
        .input("json_examples", DType::Str)
        .output("binary_examples", DType::Str)
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run).cost(Cost::PerElement(10_000.0)))
        .gradient(Gradient::none("what is read from bytes has none, as in TensorFlow"))
}

/// The bytes that parsing this JSON takes at most: a number of a list takes two bytes of it.
fn json_weight(json: &[u8]) -> usize {
    json.len().saturating_mul(32)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let mut examples = Vec::new();
    for (i, json) in strs(cx, 0)?.iter().enumerate() {
        look()?;
        examples.push(of_any_length(json, move |json| {
            let _room = room_to_decode(json, json_weight)?;
            let example: Example = from_json(json).map_err(|e| invalid!("`json_examples` {i}: {e}"))?;
            Str::new(encode(&example))
        })?);
    }
    let examples = Tensor::strings(cx.input(0).shape().clone(), examples)?;
    cx.set(0, examples);
    Ok(())
}

cases! {
    numbers: r#"DecodeJSONExample(["{\"features\": {\"feature\": {\"b\": {\"int64List\": {\"value\": [1, \"2\"]}}}}}"]) = ["\n\r\n\x0b\n\x01b\x12\x06\x1a\x04\n\x02\x01\x02"]"#,
    bytes: r#"DecodeJSONExample("{\"features\": {\"feature\": {\"b\": {\"bytes_list\": {\"value\": [\"YWI=\"]}}}}}") = "\n\r\n\x0b\n\x01b\x12\x06\n\x04\n\x02ab""#,
    nothing: r#"DecodeJSONExample(["{}"]) = [""]"#,
    keeps_the_shape: "DecodeJSONExample(str[?,2]) : str[?,2]",
    is_json: r#"DecodeJSONExample(["{}" "{"]) ! `json_examples` 1: "#,
    knows_its_fields: r#"DecodeJSONExample("{\"feature\": {}}") ! feature"#,
    is_text: r#"DecodeJSONExample("\xff") ! `json_examples` 0: "#,
    of_its_kind: r#"DecodeJSONExample("{\"features\": 1}") ! `json_examples` 0: "#,
}
