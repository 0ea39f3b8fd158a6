//! `StringLower` and `StringUpper`: conversion of case.

use crate::shared::strings::map;
use millstream_graph::op::spec::{Spec, Text};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str;
use millstream_tensor::{Result, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    let plain = |name, doc| {
        OpDef::new(name)
            .doc(doc)
            .input("input", Str)
            .output("output", Str)
            .attr("encoding", Text.or(""))
            .infer(|cx| cx.same_as_input())
    };
    [
        plain(
            "StringLower",
            "Converts each string to lower case: only ASCII letters, or all letters if `encoding` is \
             `utf-8`.",
        )
        .kernel(Kernel::pure(|cx| change(cx, <[u8]>::to_ascii_lowercase, str::to_lowercase))),
        plain(
            "StringUpper",
            "Converts each string to upper case: only ASCII letters, or all letters if `encoding` is \
             `utf-8`.",
        )
        .kernel(Kernel::pure(|cx| change(cx, <[u8]>::to_ascii_uppercase, str::to_uppercase))),
    ]
}

fn change(cx: &mut KernelCx, ascii: fn(&[u8]) -> Vec<u8>, unicode: fn(&str) -> String) -> Result<()> {
    match &**cx.attrs().str("encoding")? {
        b"" => map(cx, move |s| Ok(ascii(s))),
        b"utf-8" => map(cx, move |s| Ok(unicode(&String::from_utf8_lossy(s)))),
        other => Err(
            invalid!("only utf-8 or '' (no encoding) is supported, received {}", other.escape_ascii(); "`encoding` may be `utf-8` or empty, not `{}`", other.escape_ascii()),
        ),
    }
}

cases! {
    lowers: r#"StringLower(["aBc"]) = ["abc"]"#,
    ascii_alone: r#"StringLower("ÉA") = "Éa""#,
    raises_all_letters: r#"StringUpper("éaß"; encoding="utf-8") = "ÉASS""#,
    keeps_the_shape: "StringUpper(str[?,3]) : str[?,3]",
    one_encoding: r#"StringLower("a"; encoding="latin") ! `encoding` may be `utf-8` or empty"#,
}
