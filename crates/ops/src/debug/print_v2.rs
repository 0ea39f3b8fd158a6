//! `PrintV2`: prints a string.

use millstream_graph::op::spec::{Spec, Text};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Error, Result, ensure, invalid};

// The program that runs the graph decides where the text goes. A graph must not choose files to write to.
pub(crate) fn def() -> OpDef {
    OpDef::new("PrintV2")
        .doc(
            "Prints `input` followed by `end`. All values of `output_stream` print to the output of the \
             session.",
        )
        .input("input", DType::Str)
        .attr("output_stream", Text.or("stderr"))
        .attr("end", Text.or("\n"))
        .infer(infer)
        .kernel(Kernel::stateful(run))
}

const STREAMS: [&str; 5] = ["stdout", "stderr", "log(info)", "log(warning)", "log(error)"];

fn infer(cx: &mut InferCx) -> Result<()> {
    let stream = cx.attrs().str("output_stream")?.text();
    if stream.starts_with("file://") {
        return Err(Error::unimplemented(format!("PrintV2 does not write to files (`{stream}`)"))
            .with_help(format!("use one of {}", STREAMS.join(", "))));
    }
    ensure!(
        STREAMS.contains(&&*stream),
        "`output_stream` is `{stream}` but must be one of {}",
        STREAMS.join(", ")
    );
    cx.scalar(0)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let Some([text]) = cx.input(0).as_strs() else {
        return Err(invalid!("`input` must be a scalar string but has shape {}", cx.input(0).shape()));
    };
    let end = cx.attrs().str("end")?.text();
    // Printed in one piece, so that output of other threads does not come in between.
    cx.env.host.print(&format!("{}{end}", text.text()));
    Ok(())
}

cases! {
    shows: "PrintV2(\"hello\"; output_stream=\"stdout\") =",
    gives_nothing: "PrintV2(str[..]) :",
    wants_a_scalar: "PrintV2(str[1]) ! `input` must be a scalar but has shape [1]",
    knows_its_streams: "PrintV2(\"a\"; output_stream=\"bogus\") ! `output_stream` is `bogus` but must be one of stdout, stderr",
    writes_no_files: "PrintV2(\"a\"; output_stream=\"file:///tmp/x\") ! PrintV2 does not write to files",
}
