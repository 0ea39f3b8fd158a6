//! `WriteFile`: writes a file.

use super::file_args::{SLOW, file, strs};
use millstream_files::write_whole;
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, invalid};
use std::path::Path;

pub(crate) fn def() -> OpDef {
    OpDef::new("WriteFile")
        .doc(
            "Writes `contents` to the file `filename`. An existing file is replaced; missing folders are \
             created. A crash leaves the old contents or the new ones.",
        )
        .input("filename", DType::Str)
        .input("contents", DType::Str)
        .infer(infer)
        .kernel(Kernel::stateful(run).cost(SLOW))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    cx.scalar(1)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let path = Path::new(file(cx, 0)?);
    let [contents] = strs(cx, 1)? else {
        return Err(invalid!("`contents` must be a scalar but has shape {}", cx.input(1).shape()));
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        cx.files().make_folders(folder)?;
    }
    write_whole(&cx.files(), path, contents)
}

cases! {
    infers: "WriteFile(str[], str[]) :",
    one_file: "WriteFile(str[2], str[]) ! `filename` must be a scalar",
    can_be_written: r#"WriteFile("/dev/null/a", "x") ! cannot make the folder `/dev/null`"#,
    has_a_name: r#"WriteFile("", "x") ! the name of a file is empty"#,
}
