//! `StringStrip`: removes white space at both ends.

use crate::shared::strings::{map, trim};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::Str;

pub(crate) fn def() -> OpDef {
    OpDef::new("StringStrip")
        .doc("Removes ASCII white space at both ends of each string.")
        .input("input", Str)
        .output("output", Str)
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(|cx| map(cx, |s| Ok(trim(s).to_vec()))))
}

cases! {
    strips: r#"StringStrip([" a b ", "", "  "]) = ["a b" "" ""]"#,
    keeps_the_shape: "StringStrip(str[?,3]) : str[?,3]",
    wants_strings: "StringStrip(1) ! `input` is i32 but must be str",
}
