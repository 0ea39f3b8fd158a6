//! `ReadFile`: the contents of a file.

use super::file_args::{SLOW, file};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Str, Tensor};
use std::path::Path;

pub(crate) fn def() -> OpDef {
    OpDef::new("ReadFile")
        .doc("Returns the contents of the file `filename`.")
        .input("filename", DType::Str)
        .output("contents", DType::Str)
        .infer(infer)
        .kernel(Kernel::stateful(run).observing().cost(SLOW))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    cx.set(0, PartialShape::unknown_of_rank(0));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let name = file(cx, 0)?;
    let contents = Str::new(cx.files().read(Path::new(name))?)?;
    cx.set(0, Tensor::str(contents));
    Ok(())
}

cases! {
    infers: "ReadFile(str[..]) : str[]",
    one_file: "ReadFile(str[2]) ! `filename` must be a scalar",
    is_there: r#"ReadFile("/nowhere/a") ! cannot read `/nowhere/a`"#,
    has_a_name: r#"ReadFile("") ! the name of a file is empty"#,
}
