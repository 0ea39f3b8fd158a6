//! Helpers of the summary ops: tags, and encoding and decoding of messages.

use crate::shared::messages::room_to_decode;
use millstream_graph::op::KernelCx;
use millstream_proto::{Summary, decode, encode, summary, weight};
use millstream_tensor::budget::Room;
use millstream_tensor::{Error, Result, Str, Tensor, invalid};

/// Returns a tag as UTF-8 text, which a message requires.
pub(super) fn tag(tag: &Str) -> Result<String> {
    let text = String::from_utf8(tag.to_vec());
    text.map_err(|_| invalid!("the tag {tag:?} is not UTF-8, as tags of summaries must be"))
}

/// Returns scalar input `i` as a string. `words` are TensorFlow's for one that is no scalar.
pub(super) fn scalar<'a>(cx: &'a KernelCx, i: usize, words: &str) -> Result<&'a Str> {
    match (cx.input(i).as_strs(), cx.input(i).rank()) {
        (Some([text]), 0) => Ok(text),
        _ => Err(
            invalid!("{words}"; "`{}` must be a scalar but has shape {}", cx.name_of(i), cx.input(i).shape()),
        ),
    }
}

/// Returns the tags of the items of a kind. If there is at most one, its tag has no number.
pub(super) fn each_tag(tag: &str, kind: &str, most: usize) -> impl Iterator<Item = String> {
    (0..).map(move |i: usize| if most > 1 { format!("{tag}/{kind}/{i}") } else { format!("{tag}/{kind}") })
}

/// Charges a value that holds `bytes` besides its tag: itself, and its part of the encoded message.
pub(super) fn room_for_value(room: &mut Room, tag: usize, bytes: usize) -> Result<()> {
    room.add(size_of::<summary::Value>().saturating_add(tag).saturating_add(bytes).saturating_mul(2))
}

/// Sets output 0 to an encoded summary with these values.
pub(super) fn give(cx: &mut KernelCx, value: Vec<summary::Value>) -> Result<()> {
    cx.set(0, Tensor::str(Str::new(encode(&Summary { value }))?));
    Ok(())
}

/// Decodes a summary. Returns it with the memory that it takes.
pub(super) fn parse(bytes: &Str) -> Result<(Summary, Room)> {
    let room = room_to_decode(bytes, weight::<Summary>)?;
    let summary = decode(bytes).map_err(|cause| {
        Error::invalid("Could not parse one of the summary inputs").note(cause.to_string())
    })?;
    Ok((summary, room))
}
