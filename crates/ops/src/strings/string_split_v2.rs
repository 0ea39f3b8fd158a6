//! `StringSplitV2`: splits strings at separators, as Python's `split` does.

use super::pieces::{infer, run};
use crate::shared::strings::is_space;
use millstream_graph::op::spec::{Int, Spec};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::{I64, Str};
use millstream_tensor::Result;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;

pub(crate) fn def() -> OpDef {
    OpDef::new("StringSplitV2")
        .doc(
            "Splits each string at every `sep`, or at runs of white space if `sep` is empty, to a sparse \
             matrix with a row for each string. If `maxsplit` is not negative, each string is split at most \
             that many times.",
        )
        .input("input", Str)
        .input("sep", Str)
        .output("indices", I64)
        .output("values", Str)
        .output("shape", I64)
        .attr("maxsplit", Int.or(-1))
        .infer(infer)
        .kernel(Kernel::pure(|cx| {
            let most = usize::try_from(cx.attrs().int("maxsplit")?).unwrap_or(usize::MAX);
            run(cx, |string, sep| match (most, sep) {
                (0, _) => Ok(Charged::one(string)),
                (_, []) => words(string, most),
                _ => split(string, sep, most),
            })
        }))
}

/// Returns the words, at most `most`. If there are that many, the rest of the string follows as a last piece,
/// even if it is empty.
fn words(string: &[u8], most: usize) -> Result<Charged<&[u8]>> {
    let (mut pieces, mut pace) = (Charged::new(), Pace::new());
    let mut rest = string.trim_start();
    while !rest.is_empty() {
        pace.spend(1)?;
        let end = rest.iter().position(|b| is_space(*b)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        pieces.push(word)?;
        rest = after.trim_start();
        if pieces.len() == most {
            pieces.push(rest)?;
            break;
        }
    }
    Ok(pieces)
}

trait TrimStart {
    fn trim_start(&self) -> &Self;
}

impl TrimStart for [u8] {
    fn trim_start(&self) -> &[u8] {
        let start = self.iter().position(|b| !is_space(*b)).unwrap_or(self.len());
        self.get(start..).unwrap_or_default()
    }
}

fn split<'s>(string: &'s [u8], sep: &[u8], most: usize) -> Result<Charged<&'s [u8]>> {
    let (mut pieces, mut start, mut pace) = (Charged::new(), 0, Pace::new());
    for at in memchr::memmem::find_iter(string, sep).take(most) {
        pace.spend(1)?;
        pieces.push(string.get(start..at).unwrap_or_default())?;
        start = at + sep.len();
    }
    pieces.push(string.get(start..).unwrap_or_default())?;
    Ok(pieces)
}

cases! {
    splits: r#"StringSplitV2(["a,,b" ""], ",") = i64[4,2] [[0 0] [0 1] [0 2] [1 0]], ["a" "" "b" ""], i64[2] [2 3]"#,
    long_separators: r#"StringSplitV2(["xabababy"], "ab"; maxsplit=2) = i64[3,2] [[0 0] [0 1] [0 2]], ["x" "" "aby"], i64[2] [1 3]"#,
    words: r#"StringSplitV2([" a  b " ""], "") = i64[2,2] [[0 0] [0 1]], ["a" "b"], i64[2] [2 2]"#,
    words_and_the_rest: r#"StringSplitV2([" a  b c " "d"], ""; maxsplit=1) = i64[4,2] [[0 0] [0 1] [1 0] [1 1]], ["a" "b c " "d" ""], i64[2] [2 2]"#,
    no_split: r#"StringSplitV2([" a "], ""; maxsplit=0) = i64[1,2] [[0 0]], [" a "], i64[2] [1 1]"#,
    infers: "StringSplitV2(str[?], str[]) : i64[?,2], str[?], i64[2]",
    wants_a_vector: r#"StringSplitV2("a", " ") ! `input` must have rank 1"#,
}
