//! `TensorSummaryV2`: a tensor under a tag, with metadata.

use super::message::{give, scalar, tag};
use crate::shared::messages::room_to_encode;
use millstream_checkpoint::message;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_proto::summary::{Value, value};
use millstream_proto::{SummaryMetadata, decode};
use millstream_tensor::{DType, Error, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorSummaryV2")
        .doc(
            "Returns a summary with `tensor` under a tag. `serialized_summary_metadata` is an encoded \
             `SummaryMetadata` message, which determines how the tensor is displayed.",
        )
        .input("tag", DType::Str)
        .input("tensor", "T")
        .input("serialized_summary_metadata", DType::Str)
        .output("summary", DType::Str)
        .attr("T", AnyType)
        .infer(|cx| cx.scalars())
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let tag = tag(scalar(cx, 0, "tag must be scalar")?)?;
    let metadata = decode::<SummaryMetadata>(scalar(cx, 2, "serialized_summary_metadata must be scalar")?);
    let metadata = metadata.map_err(|cause| {
        Error::invalid("`serialized_summary_metadata` is not a SummaryMetadata").note(cause.to_string())
    })?;
    let _room = room_to_encode(cx.input(1), 2)?;
    let tensor = value::Value::Tensor(Box::new(message::encode(cx.input(1))?));
    give(cx, vec![Value { tag, value: Some(tensor), metadata: Some(metadata), ..Value::default() }])
}

cases! {
    numbers: r#"TensorSummaryV2("t", [1 2], "") = "\n\x19\n\x01tB\x12\x08\x03\x12\x04\x12\x02\x08\x02\"\x08\x01\0\0\0\x02\0\0\0J\0""#,
    strings: r#"TensorSummaryV2("t", ["x" "y"], "\x12\x03hey") = "\n\x1a\n\x01tB\x0e\x08\x07\x12\x04\x12\x02\x08\x02B\x01xB\x01yJ\x05\x12\x03hey""#,
    is_a_scalar: "TensorSummaryV2(str[..], c64[..], str[]) : str[]",
    one_tag: r#"TensorSummaryV2(["a"], 1, "") ! tag must be scalar"#,
    no_metadata: r#"TensorSummaryV2("a", 1, "xyz") ! is not a SummaryMetadata"#,
}
