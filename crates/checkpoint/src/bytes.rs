//! Numbers in bytes: varints, fixed-width numbers, and masked checksums.

use crate::corrupt;
use millstream_tensor::Result;

/// Whether a checksum from a file is that of the bytes read. A fuzzer cannot guess checksums, so a build for
/// one accepts any.
#[expect(unexpected_cfgs, reason = "`fuzz/instrument` sets it")]
pub(crate) fn is_sum(masked: u32, crc: u32) -> bool {
    cfg!(fuzzing) || mask(crc) == masked
}

/// A checksum as files store it. Unmasked, the checksum of data that contains checksums would be weak.
pub(crate) fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// A cursor that takes bytes from the front.
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(n)
            .ok_or_else(|| corrupt(format!("{n} bytes are needed but {} are left", self.0.len())))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first().unwrap_or(&0);
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(corrupt("a number has more than 64 bits"))
    }

    /// Takes a varint that is a number of bytes.
    pub(crate) fn length(&mut self) -> Result<usize> {
        let n = self.varint()?;
        usize::try_from(n).map_err(|_| corrupt(format!("a length of {n} bytes")))
    }

    pub(crate) fn fixed32(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b)))
    }
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
