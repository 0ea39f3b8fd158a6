//! The JSON form of messages: [`from_json`]. Parsing is the `prost-reflect` crate's, by the descriptors of the messages.

use prost::{Message, Name};
use prost_reflect::DynamicMessage;

use crate::ProtoError;
use crate::text::descriptor;

/// Reads a message in protobuf's JSON form.
///
/// Fails on bytes that are no such JSON, on fields that are not known, and on messages nested deeper than
/// [`MAX_DEPTH`](crate::MAX_DEPTH).
pub fn from_json<T: Message + Name + Default>(json: &[u8]) -> Result<T, ProtoError> {
    let name = T::full_name();
    let error = |reason| ProtoError::json(&name, reason);
    let descriptor = descriptor(&name).map_err(error)?;
    // It refuses what nests too deep for its stack.
    let mut json = serde_json::Deserializer::from_slice(json);
    let message =
        DynamicMessage::deserialize(descriptor, &mut json).map_err(|cause| error(cause.to_string()))?;
    json.end().map_err(|cause| error(cause.to_string()))?;
    T::decode(message.encode_to_vec().as_slice()).map_err(|cause| error(cause.to_string()))
}
