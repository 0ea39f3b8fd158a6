//! TensorFlow's graph messages: their structs, wire format and text form, but not their meaning.
//!
//! Types to know: [`GraphDef`], [`NodeDef`], [`AttrValue`] and [`TensorProto`]; [`MetaGraphDef`] and
//! [`SavedModel`], which contain them; [`ProtoError`]. Functions: [`decode`] and [`encode`] for the wire
//! format, [`from_text`] and [`to_text`] for the text form (`.pbtxt`), [`from_json`] for JSON.
//! [`DESCRIPTORS`] describes all messages.
//!
//! The structs are generated from the files in `proto/`, by `cargo xtask gen`. Every map in them is ordered,
//! so that equal messages encode to equal bytes. Enum fields are plain `i32`, because files may hold values
//! newer than this crate; `DataType::try_from` and the getters recognise the known ones.
//!
//! Bytes and text may come from anywhere. Nothing here panics on them. Messages nested deeper than
//! [`MAX_DEPTH`] are refused, which bounds the stack. Memory is bounded by a constant times the size of the
//! input, since nothing is reserved on the word of a length; the constant is the size of the largest struct
//! divided by the two bytes that an empty message takes. [`weight`] and [`text_weight`] tell beforehand how
//! much it will be.
//!
//! Parsing text at the depth limit takes under 0.4 MB of stack in an optimised build. With `prost-reflect`
//! compiled without optimisation it takes over 2 MB, more than a spawned thread has by default.
//!
//! The crate checks no graphs, resolves no names and reads no files. Fields that the `.proto` files do not
//! know are dropped by [`decode`] and are errors in [`from_text`] and [`from_json`].

mod fields;
#[cfg(feature = "reflect")]
mod json;
mod proto_error; // Not `error`: that is the module of `tensorflow.error`.
#[cfg(feature = "reflect")]
mod text;
mod weight;

use prost::{Message, Name};

pub use generated::tensorflow::*;
#[cfg(feature = "reflect")]
pub use json::from_json;
/// A message of any type: the URL of the type and the bytes of the message.
pub use prost_types::Any;
pub use proto_error::ProtoError;
#[cfg(feature = "reflect")]
pub use text::{DESCRIPTORS, from_text, to_text};
pub use weight::{text_weight, weight, weight_of};

/// The maximum nesting depth of messages, in any form.
///
/// A map entry counts as a message of its own.
pub const MAX_DEPTH: usize = 100;

#[expect(
    missing_docs,
    reason = "fields and values that their names explain have no comment in the .proto files"
)]
mod generated;

/// Parses a message in wire format.
///
/// Fails on bytes that are not such a message, on strings that are not UTF-8, and on messages nested
/// deeper than [`MAX_DEPTH`].
pub fn decode<T: Message + Name + Default>(bytes: &[u8]) -> Result<T, ProtoError> {
    T::decode(bytes).map_err(|cause| ProtoError::wire(&T::full_name(), bytes, cause))
}

/// Encodes a message in wire format. Equal messages give equal bytes.
pub fn encode<T: Message>(message: &T) -> Vec<u8> {
    message.encode_to_vec()
}

/// Returns the length of a message once encoded, in bytes.
pub fn encoded_len<T: Message>(message: &T) -> usize {
    message.encoded_len()
}

#[cfg(all(test, feature = "reflect"))]
mod tests;
