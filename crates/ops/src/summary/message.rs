//! What the summary ops share: tags read, messages written and read.

use millstream_graph::op::KernelCx;
use millstream_proto::{Summary, decode, encode, summary};
use millstream_tensor::{Error, Result, Str, Tensor, invalid};

/// A tag: text, as a message can hold it.
pub(super) fn tag(tag: &Str) -> Result<String> {
    let text = String::from_utf8(tag.to_vec());
    text.map_err(|_| invalid!("the tag {tag:?} is not UTF-8, as tags of summaries must be"))
}

/// Scalar input `i` as a string; `what` it is called in the error.
pub(super) fn scalar<'a>(cx: &'a KernelCx, i: usize, what: &str) -> Result<&'a Str> {
    match (cx.input(i).as_strs(), cx.input(i).rank()) {
        (Some([text]), 0) => Ok(text),
        _ => Err(invalid!("{what} must be scalar, but has shape {}", cx.input(i).shape())),
    }
}

/// The tags of several things of a kind; that of the only one has no number.
pub(super) fn each_tag(tag: &str, kind: &str, most: usize) -> impl Iterator<Item = String> {
    (0..).map(move |i: usize| if most > 1 { format!("{tag}/{kind}/{i}") } else { format!("{tag}/{kind}") })
}

/// Output 0: an encoded summary of these values.
pub(super) fn give(cx: &mut KernelCx, value: Vec<summary::Value>) -> Result<()> {
    cx.set(0, Tensor::str(Str::new(encode(&Summary { value }))?));
    Ok(())
}

/// The summary that a string holds.
pub(super) fn parse(bytes: &Str) -> Result<Summary> {
    decode(bytes)
        .map_err(|cause| Error::invalid("Could not parse one of the summary inputs").note(cause.to_string()))
}
