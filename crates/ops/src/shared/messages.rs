//! [`room_to_decode`]: memory for messages that kernels decode.

use millstream_tensor::Result;
use millstream_tensor::budget::Room;

/// The length up to which counting the parts of a message is not worth it.
const SHORT: usize = 1024;

/// The bytes that each byte of a short message takes at most: an empty string of a list has two.
const EACH: usize = 24;

/// Charges the budget in force for a message as long as it is decoded. `weight` is
/// [`millstream_proto::weight`] of the message's type.
pub(crate) fn room_to_decode(bytes: &[u8], weight: fn(&[u8]) -> usize) -> Result<Room> {
    Room::of(if bytes.len() <= SHORT { EACH * bytes.len() } else { weight(bytes) })
}
