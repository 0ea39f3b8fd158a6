//! The JSON form of messages: [`from_json`]. The `prost-reflect` crate parses it, using the messages'
//! descriptors.

use prost::{Message, Name};
use prost_reflect::DynamicMessage;

use crate::ProtoError;
use crate::text::descriptor;

/// Parses a message in protobuf's JSON form.
///
/// Fails on input that is not such a message, on unknown fields, and on messages nested deeper than
/// [`MAX_DEPTH`](crate::MAX_DEPTH).
pub fn from_json<T: Message + Name + Default>(json: &[u8]) -> Result<T, ProtoError> {
    let name = T::full_name();
    let error = |reason| ProtoError::json(&name, reason);
    let descriptor = descriptor(&name).map_err(error)?;
    // The deserializer bounds the nesting depth itself.
    let mut json = serde_json::Deserializer::from_slice(json);
    let message =
        DynamicMessage::deserialize(descriptor, &mut json).map_err(|cause| error(cause.to_string()))?;
    json.end().map_err(|cause| error(cause.to_string()))?;
    T::decode(message.encode_to_vec().as_slice()).map_err(|cause| error(cause.to_string()))
}
