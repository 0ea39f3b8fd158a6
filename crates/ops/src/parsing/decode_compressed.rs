//! `DecodeCompressed`: decompresses strings.

use crate::shared::strings::strs;
use millstream_checkpoint::records::{Compression, read_bounded};
use millstream_graph::op::spec::{Spec, Text};
use millstream_graph::op::{Cost, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::budget::Room;
use millstream_tensor::pace::look;
use millstream_tensor::{Result, Str, Tensor, invalid};
use std::io::Cursor;

pub(crate) fn def() -> OpDef {
    OpDef::new("DecodeCompressed")
        .doc("Decompresses each string. `compression_type` is empty for none, `GZIP` or `ZLIB`.")
        .input("bytes", S)
        .output("output", S)
        .attr("compression_type", Text.or(""))
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run).cost(Cost::PerElement(1000.0)))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let kind = cx.attrs().str("compression_type")?.text().into_owned();
    let compression = Compression::parse(&kind)?;
    let mut output = Vec::new();
    for (i, bytes) in strs(cx, 0)?.iter().enumerate() {
        look()?;
        if compression == Compression::None {
            output.push(bytes.clone());
            continue;
        }
        let name = format!("string {i}");
        let wrong = |e: &dyn std::fmt::Display| invalid!("{name} is not valid {kind} data: {e}");
        let _copy = Room::of(bytes.len())?;
        let mut from = compression.reader(Cursor::new(bytes.to_vec())).map_err(|e| wrong(&e))?;
        let held = read_bounded(&mut from, u64::MAX, &name).map_err(|e| match e.code() {
            millstream_tensor::Code::ResourceExhausted => e,
            _ => wrong(&e.message()),
        })?;
        output.push(Str::new(held)?);
    }
    let output = Tensor::strings(cx.input(0).shape().clone(), output)?;
    cx.set(0, output);
    Ok(())
}

cases! {
    as_it_is: r#"DecodeCompressed(["a" ""]) = ["a" ""]"#,
    of_zlib: r#"DecodeCompressed(["x\x9cKLJ\x06\x00\x02M\x01'"]; compression_type="ZLIB") = ["abc"]"#,
    keeps_the_shape: "DecodeCompressed(str[?,2]) : str[?,2]",
    is_compressed: r#"DecodeCompressed(["abc"]; compression_type="GZIP") ! string 0 is not valid GZIP data"#,
    knows_its_compression: r#"DecodeCompressed(["abc"]; compression_type="LZMA") ! unknown compression "LZMA""#,
}
