//! The text form of messages (`.pbtxt`): [`to_text`] and [`from_text`].
//!
//! The `prost-reflect` crate parses it; `print.rs` prints it. Both use the messages' descriptors, which are
//! decoded on first use.

mod nesting;
mod print;

use std::sync::LazyLock;

use miette::Diagnostic;
use prost::{Message, Name};
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};

use crate::ProtoError;

/// The descriptors of all messages, as a `FileDescriptorSet` in wire format. Callers can build protobuf
/// classes from it.
pub const DESCRIPTORS: &[u8] = include_bytes!("descriptors.bin");

// Decoded on first use, so that a process that handles no text does not pay for it.
static POOL: LazyLock<Result<DescriptorPool, String>> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).map_err(|cause| cause.to_string()));

/// Prints a message in text form, with TensorFlow's layout. Equal messages give equal texts.
///
/// Fails only on a message that nests deeper than [`MAX_DEPTH`](crate::MAX_DEPTH), which no parsed message
/// does.
pub fn to_text<T: Message + Name>(message: &T) -> Result<String, ProtoError> {
    let name = T::full_name();
    descriptor(&name)
        .and_then(|descriptor| {
            let bytes = message.encode_to_vec();
            DynamicMessage::decode(descriptor, bytes.as_slice()).map_err(|cause| cause.to_string())
        })
        .map(|message| print::print(&message))
        .map_err(|reason| ProtoError::print(&name, reason))
}

/// Parses a message in text form.
///
/// Fails on text that is not such a message, on unknown fields, and on messages nested deeper than
/// [`MAX_DEPTH`](crate::MAX_DEPTH). The error names the line and the column.
pub fn from_text<T: Message + Name + Default>(text: &str) -> Result<T, ProtoError> {
    let name = T::full_name();
    let error = |offset: Option<usize>, reason| {
        ProtoError::text(&name, offset.map(|offset| position(text, offset)), reason)
    };

    // The parser recurses without a limit, so the depth is checked before it starts.
    nesting::check(text).map_err(|deep| error(Some(deep.offset), deep.to_string()))?;
    let descriptor = descriptor(&name).map_err(|reason| error(None, reason))?;
    let message = DynamicMessage::parse_text_format(descriptor, text)
        .map_err(|cause| error(Some(offset_of(&cause, text)), cause.to_string()))?;
    T::decode(message.encode_to_vec().as_slice()).map_err(|cause| error(None, cause.to_string()))
}

pub(crate) fn descriptor(name: &str) -> Result<MessageDescriptor, String> {
    let pool = POOL.as_ref().map_err(Clone::clone)?;
    pool.get_message_by_name(name).ok_or_else(|| format!("`{name}` has no descriptor"))
}

// An error without a label is at the end of the text.
fn offset_of(error: &impl Diagnostic, text: &str) -> usize {
    let label = error.labels().and_then(|mut labels| labels.next());
    label.map_or(text.len(), |label| label.offset())
}

// The line and column in characters, both starting at 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    let n_lines = before.iter().filter(|&&b| b == b'\n').count();
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let line = before.get(line_start..).unwrap_or_default();
    // Every byte starts a character, except continuation bytes.
    let n_chars = line.iter().filter(|&&b| b & 0xc0 != 0x80).count();
    (n_lines + 1, n_chars + 1)
}
