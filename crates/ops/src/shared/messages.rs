//! [`room_to_decode`], [`room_to_encode`]: memory for messages that kernels decode and encode.

use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor};

/// The length up to which counting the parts of a message is not worth it.
const SHORT: usize = 1024;

/// The bytes that each byte of a short message takes at most: an empty string of a list has two.
const EACH: usize = 24;

/// Charges the budget in force for a message as long as it is decoded. `weight` is
/// [`millstream_proto::weight`] of the message's type.
pub(crate) fn room_to_decode(bytes: &[u8], weight: fn(&[u8]) -> usize) -> Result<Room> {
    Room::of(if bytes.len() <= SHORT { EACH * bytes.len() } else { weight(bytes) })
}

/// Charges the budget in force for a tensor as long as it is encoded: `copies` of its elements, in the
/// message and in its bytes.
pub(crate) fn room_to_encode(tensor: &Tensor, copies: usize) -> Result<Room> {
    // A string of a message is a vector, in a block of memory.
    const STRING: usize = size_of::<Vec<u8>>() + 32;
    let mut bytes = tensor.byte_size();
    if let Some(strings) = tensor.as_strs() {
        let mut pace = Pace::new();
        bytes = 0;
        for string in strings {
            pace.spend(1)?;
            bytes = bytes.saturating_add(string.len()).saturating_add(STRING);
        }
    }
    Room::of(bytes.saturating_mul(copies))
}
