//! `StringLength`: the length of strings.

use crate::shared::strings::{continues, each};
use millstream_graph::op::spec::{Spec, Words};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, Str};
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("StringLength")
        .doc("Returns the number of bytes of each string, or of characters if `unit` is `UTF8_CHAR`.")
        .input("input", Str)
        .output("output", I32)
        .attr("unit", Words(&["BYTE", "UTF8_CHAR"]).or("BYTE"))
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let chars = &**cx.attrs().str("unit")? == b"UTF8_CHAR";
    // Counts the bytes that do not continue a character, without checking that the text is UTF-8.
    let lengths = each(cx, move |s| {
        let length = if chars { s.iter().filter(|b| !continues(**b)).count() } else { s.len() };
        Ok(i32::try_from(length).unwrap_or(i32::MAX))
    })?;
    let result = Tensor::from_slice(cx.input(0).shape().clone(), &lengths)?;
    cx.set(0, result);
    Ok(())
}

cases! {
    bytes: r#"StringLength(["" "hé" "世a"]) = [0 3 4]"#,
    characters: r#"StringLength(["" "hé" "世a"]; unit="UTF8_CHAR") = [0 2 2]"#,
    keeps_the_shape: "StringLength(str[?,3]) : i32[?,3]",
    two_units: r#"StringLength("a"; unit="WORD") ! must be one of BYTE, UTF8_CHAR"#,
}
