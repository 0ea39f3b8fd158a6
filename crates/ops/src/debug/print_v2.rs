//! `PrintV2`: prints a string.

use millstream_files::file_error;
use millstream_graph::op::spec::{Spec, Text};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef, PrintStream};
use millstream_tensor::{DType, Error, Result, ensure, invalid};
use std::io::Write;
use std::path::Path;

pub(crate) fn def() -> OpDef {
    OpDef::new("PrintV2")
        .doc(
            "Prints `input` followed by `end`. `output_stream` is `stdout`, `stderr`, `log(info)`, \
             `log(warning)`, `log(error)`, or `file://` and the path of a file, to which the text is appended. \
             A session that was given a function for texts passes it all but those for files.",
        )
        .input("input", DType::Str)
        .attr("output_stream", Text.or("stderr"))
        .attr("end", Text.or("\n"))
        .infer(infer)
        .kernel(Kernel::stateful(run))
}

/// Where the text goes.
enum Target<'a> {
    Stream(PrintStream),
    File(&'a str),
}

fn target(name: &str) -> Result<Target<'_>> {
    Ok(Target::Stream(match name {
        "stdout" => PrintStream::Out,
        "stderr" => PrintStream::Err,
        "log(info)" => PrintStream::Log('I'),
        "log(warning)" => PrintStream::Log('W'),
        "log(error)" => PrintStream::Log('E'),
        _ => match name.strip_prefix("file://") {
            Some(path) if !path.is_empty() => return Ok(Target::File(path)),
            _ => return Err(unknown(name)),
        },
    }))
}

fn unknown(name: &str) -> Error {
    invalid!("Unknown output stream: {name}, Valid streams are:stdout, stderr, log(info), log(warning), log(error)"; "`output_stream` is `{name}` but must be one of stdout, stderr, log(info), log(warning), log(error), or `file://` and a path")
}

fn infer(cx: &mut InferCx) -> Result<()> {
    target(&cx.attrs().str("output_stream")?.text())?;
    cx.scalar(0)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    ensure!(cx.input(0).rank() == 0, "`input` must be a scalar string but has shape {}", cx.input(0).shape());
    let Some([text]) = cx.input(0).as_strs() else {
        return Err(invalid!("`input` must be a scalar string but is {}", cx.input(0).dtype()));
    };
    let end = cx.attrs().str("end")?.text();
    // Printed in one piece, so that output of other threads does not come in between.
    let text = format!("{}{end}", text.text());
    match target(&cx.attrs().str("output_stream")?.text())? {
        Target::Stream(stream) => cx.env.host.print_to(stream, &text),
        Target::File(path) => {
            let path = Path::new(path);
            let mut file = cx.files().append(path)?;
            file.write_all(text.as_bytes()).map_err(|e| file_error("write", path, &e))?;
        }
    }
    Ok(())
}

cases! {
    shows: "PrintV2(\"hello\"; output_stream=\"stdout\") =",
    gives_nothing: "PrintV2(str[..]) :",
    wants_a_scalar: "PrintV2(str[1]) ! `input` must be a scalar but has shape [1]",
    knows_its_streams: "PrintV2(\"a\"; output_stream=\"bogus\") ! `output_stream` is `bogus` but must be one of stdout, stderr",
    a_file_has_a_name: "PrintV2(\"a\"; output_stream=\"file://\") ! `output_stream` is `file://` but must be one of",
    writes_files: "PrintV2(\"a\"; output_stream=\"file:///dev/null/x\") ! cannot write `/dev/null/x`",
}
