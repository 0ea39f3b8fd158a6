//! `StringSplit`: splits strings at any of a set of bytes.

use super::pieces::{infer, run};
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::{I64, Str};
use millstream_tensor::Result;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;

pub(crate) fn def() -> OpDef {
    OpDef::new("StringSplit")
        .doc(
            "Splits each string at every byte in `delimiter` (between all bytes, if it is empty), to a \
             sparse matrix with a row for each string. An empty string has no pieces.",
        )
        .input("input", Str)
        .input("delimiter", Str)
        .output("indices", I64)
        .output("values", Str)
        .output("shape", I64)
        .attr("skip_empty", Bool.or(true))
        .infer(infer)
        .kernel(Kernel::pure(|cx| {
            let skip_empty = cx.attrs().bool("skip_empty")?;
            run(cx, |string, delimiter| split(string, delimiter, skip_empty))
        }))
}

fn split<'s>(string: &'s [u8], delimiter: &[u8], skip_empty: bool) -> Result<Charged<&'s [u8]>> {
    let (mut pieces, mut pace) = (Charged::new(), Pace::new());
    let mut add = |piece| {
        pace.spend(1)?;
        pieces.push(piece)
    };
    match (string, delimiter) {
        ([], _) => {}
        (_, []) => string.chunks(1).try_for_each(&mut add)?,
        _ => {
            // The delimiter may be long, too.
            let mut splits = [false; 256];
            delimiter.iter().for_each(|&b| splits[usize::from(b)] = true);
            string
                .split(|&b| splits[usize::from(b)])
                .filter(|p| !(skip_empty && p.is_empty()))
                .try_for_each(&mut add)?;
        }
    }
    Ok(pieces)
}

cases! {
    splits: r#"StringSplit(["a b,c" "" " a "], " ") = i64[3,2] [[0 0] [0 1] [2 0]], ["a" "b,c" "a"], i64[2] [3 2]"#,
    keeps_empty_pieces: r#"StringSplit(["" " a"], " "; skip_empty=false) = i64[2,2] [[1 0] [1 1]], ["" "a"], i64[2] [2 2]"#,
    any_of_some_bytes: r#"StringSplit(["xaybz"], "ab") = i64[3,2] [[0 0] [0 1] [0 2]], ["x" "y" "z"], i64[2] [1 3]"#,
    between_all_bytes: r#"StringSplit(["ab"], "") = i64[2,2] [[0 0] [0 1]], ["a" "b"], i64[2] [1 2]"#,
    infers: "StringSplit(str[?], str[]) : i64[?,2], str[?], i64[2]",
    wants_a_vector: r#"StringSplit("a", " ") ! `input` must have rank 1"#,
}
