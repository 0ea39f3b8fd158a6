//! [`weight`], [`weight_of`] and [`text_weight`]: the memory that a message takes, estimated before it is
//! parsed.
//!
//! An empty message takes two bytes of a file, but a struct in memory: a file of 20 MB can ask for gigabytes.
//! The estimates are meant for such input. They are close to what messages of many small parts take, and too
//! high by a little for others.

use crate::MAX_DEPTH;
use crate::fields::{Fields, MESSAGES};
use prost::Name;
use prost::encoding::{WireType, decode_key, decode_varint};

/// The bytes that a message takes besides its fields: its struct, in a vector or a map that has grown.
const MESSAGE: usize = 320;

/// The bytes that a string takes besides its text.
const STRING: usize = 48;

/// The bytes that a number of a list takes.
const NUMBER: usize = 16;

/// The bytes that the parser of the text form takes for a message, which is a map of its fields. Measured:
/// 1.2 KB for each of 10^5 dimensions of a shape (2026-11).
const TEXT_MESSAGE: usize = 1200;

/// The bytes that the parser of the text form takes for a field.
const TEXT_FIELD: usize = 48;

/// What a field of some length holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// A string, or bytes.
    Text,
    /// The message at this place of [`MESSAGES`].
    Message(usize),
    /// Packed numbers of four or eight bytes.
    Fixed,
    /// Packed numbers of one byte or more.
    Numbers,
}

/// An estimate of the bytes that this message takes once [decoded](crate::decode). It ends where the bytes
/// are no message any more.
pub fn weight<T: Name>(bytes: &[u8]) -> usize {
    weight_of(&T::full_name(), bytes)
}

/// As [`weight`], of the message with this full name. The length of the bytes if there is no such message.
pub fn weight_of(full_name: &str, bytes: &[u8]) -> usize {
    match MESSAGES.binary_search_by_key(&full_name, |(name, _)| *name) {
        Ok(at) => of_message(bytes, MESSAGES[at].1, 0),
        Err(_) => bytes.len(),
    }
}

fn of_message(bytes: &[u8], fields: &Fields, depth: usize) -> usize {
    let (mut left, mut sum) = (bytes, MESSAGE);
    while let Ok((number, wire)) = decode_key(&mut left) {
        sum += match wire {
            WireType::Varint if decode_varint(&mut left).is_ok() => NUMBER,
            WireType::ThirtyTwoBit if left.len() >= 4 => skipped(&mut left, 4),
            WireType::SixtyFourBit if left.len() >= 8 => skipped(&mut left, 8),
            WireType::LengthDelimited => {
                let length = decode_varint(&mut left).ok().and_then(|n| usize::try_from(n).ok());
                let Some((part, rest)) = length.and_then(|n| left.split_at_checked(n)) else { return sum };
                left = rest;
                match fields.iter().find(|(n, _)| *n == number).map(|(_, part)| *part) {
                    // Such a field is dropped.
                    None => 0,
                    Some(Part::Message(inner)) if depth < MAX_DEPTH => {
                        of_message(part, MESSAGES[inner].1, depth + 1)
                    }
                    Some(Part::Text) => STRING + part.len(),
                    Some(Part::Fixed) => part.len(),
                    // Numbers of a byte each, in the worst case.
                    Some(Part::Numbers | Part::Message(_)) => part.len().saturating_mul(8),
                }
            }
            _ => return sum,
        };
    }
    sum
}

fn skipped(left: &mut &[u8], n: usize) -> usize {
    *left = left.get(n..).unwrap_or_default();
    NUMBER
}

/// An estimate of the bytes that parsing this text takes. Braces in strings count, too.
pub fn text_weight(text: &str) -> usize {
    let (mut messages, mut fields) = (0, 0);
    for byte in text.bytes() {
        match byte {
            b'{' | b'<' => messages += 1,
            b':' | b',' => fields += 1,
            _ => {}
        }
    }
    text.len() + TEXT_MESSAGE * messages + TEXT_FIELD * fields
}
