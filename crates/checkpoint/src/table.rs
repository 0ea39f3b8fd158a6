//! Sorted tables: the part of LevelDB's table format that an index needs.
//!
//! ```text
//! file    = block* meta-block index-block footer
//! block   = entry* restart-offset(4)* n-restarts(4) | compression(1) checksum(4)
//! entry   = n-shared n-own n-value (varints) key-bytes value-bytes
//!           key = first n-shared bytes of the previous key + key-bytes
//! footer  = place of the meta block, place of the index block, padding to 40 bytes, magic(8)
//! ```
//!
//! The values of the index block are the places of the blocks. The library for this format (`rusty-leveldb`)
//! does not export its tables and panics on damaged ones. An index is read once from end to end, so it needs
//! neither a cache nor seeking.

use crate::bytes::{Cursor, is_sum, mask, put_varint};
use crate::corrupt;
use millstream_tensor::{Code, Error, Result};
use std::collections::BTreeMap;

const MAGIC: u64 = 0xdb47_7524_8b80_fb57;
const FOOTER: usize = 48;
const TRAILER: usize = 5;
const RESTART_INTERVAL: usize = 16;
const BLOCK_SIZE: usize = 256 << 10;

/// Reads the entries of a table. Keys share prefixes and blocks may be compressed, so a few bytes can expand
/// to many. An expansion to more than 64 MiB plus 64 times the file's size is refused.
pub(crate) fn read(file: &[u8]) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut left = file.len().saturating_mul(64).saturating_add(64 << 20);
    let footer = file.len().checked_sub(FOOTER).and_then(|at| file.get(at..));
    let mut footer = Cursor(footer.ok_or_else(|| corrupt(format!("{} bytes are not a table", file.len())))?);
    let mut places = Cursor(footer.take(FOOTER - 8)?);
    let magic = u64::from(footer.fixed32()?) | u64::from(footer.fixed32()?) << 32;
    if magic != MAGIC {
        return Err(corrupt("the index does not end like a table"));
    }
    let _meta = Place::read(&mut places)?;
    let index = Place::read(&mut places)?;
    let mut entries = BTreeMap::new();
    for (_, place) in block(&index.bytes(file, &mut left)?, &mut left)? {
        let place = Place::read(&mut Cursor(&place))?;
        let bytes = place.bytes(file, &mut left)?;
        for (key, value) in block(&bytes, &mut left)? {
            if entries.last_key_value().is_some_and(|(last, _)| key <= *last) {
                return Err(corrupt("the keys of the index are not in order"));
            }
            entries.insert(key, value);
        }
    }
    Ok(entries)
}

/// The place of a block: its start and length, without the trailer.
struct Place {
    start: usize,
    len: usize,
}

impl Place {
    fn read(from: &mut Cursor<'_>) -> Result<Place> {
        Ok(Place { start: from.length()?, len: from.length()? })
    }

    /// Returns the block's bytes, verified and decompressed.
    fn bytes(&self, file: &[u8], left: &mut usize) -> Result<Vec<u8>> {
        let end = self.start.checked_add(self.len).and_then(|end| end.checked_add(TRAILER));
        let all = end.and_then(|end| file.get(self.start..end));
        let all = all.ok_or_else(|| corrupt("a block of the index lies outside of the file"))?;
        let (checked, sum) = all.split_at(self.len + 1);
        if !is_sum(Cursor(sum).fixed32()?, crc32c::crc32c(checked)) {
            return Err(corrupt("the checksum of a block of the index is wrong"));
        }
        let bytes = &checked[..self.len];
        match checked[self.len] {
            0 => {
                charge(left, bytes.len())?;
                Ok(bytes.to_vec())
            }
            1 => {
                let len = snap::raw::decompress_len(bytes).map_err(corrupt)?;
                charge(left, len)?;
                snap::raw::Decoder::new().decompress_vec(bytes).map_err(corrupt)
            }
            other => Err(corrupt(format!("a block of the index has the unknown compression {other}"))),
        }
    }
}

fn charge(left: &mut usize, bytes: usize) -> Result<()> {
    *left = left.checked_sub(bytes).ok_or_else(|| {
        Error::new(
            Code::ResourceExhausted,
            "the checkpoint's index expands to far more bytes than its file has",
        )
    })?;
    Ok(())
}

/// Parses the entries of a block, in order.
fn block(bytes: &[u8], left: &mut usize) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let count_at = bytes.len().checked_sub(4).ok_or_else(|| corrupt("a block of the index is too short"))?;
    let restarts = Cursor(&bytes[count_at..]).fixed32()? as usize;
    let end = restarts.checked_mul(4).and_then(|n| count_at.checked_sub(n));
    let mut rest = Cursor(&bytes[..end.ok_or_else(|| corrupt("a block of the index is too short"))?]);
    let mut entries: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    while !rest.0.is_empty() {
        let (shared, own, value) = (rest.length()?, rest.length()?, rest.length()?);
        let before = entries.last().map_or(&[][..], |(key, _)| key);
        let prefix = before
            .get(..shared)
            .ok_or_else(|| corrupt("a key shares more bytes than the previous key has"))?;
        let own = rest.take(own)?;
        charge(left, prefix.len() + own.len())?;
        let key = [prefix, own].concat();
        let value = rest.take(value)?;
        charge(left, value.len())?;
        entries.push((key, value.to_vec()));
    }
    Ok(entries)
}

/// Writes a table of these entries.
pub(crate) fn write(entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut index = Block::default();
    let mut data = Block::default();
    for (key, value) in entries {
        data.add(key, value);
        if data.bytes.len() >= BLOCK_SIZE {
            std::mem::take(&mut data).finish_into(&mut file, &mut index);
        }
    }
    if !data.bytes.is_empty() {
        data.finish_into(&mut file, &mut index);
    }
    let meta = put_block(&mut file, Block::default());
    let index = put_block(&mut file, index);
    let start = file.len();
    file.extend([meta, index].concat());
    file.resize(start + FOOTER - 8, 0);
    file.extend(MAGIC.to_le_bytes());
    file
}

/// A block under construction.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    restarts: Vec<u32>,
    since_restart: usize,
    last: Vec<u8>,
}

impl Block {
    fn add(&mut self, key: &[u8], value: &[u8]) {
        let mut shared = key.iter().zip(&self.last).take_while(|(a, b)| a == b).count();
        if self.restarts.is_empty() || self.since_restart == RESTART_INTERVAL {
            shared = 0;
            self.since_restart = 0;
            self.restarts.push(self.bytes.len() as u32);
        }
        let own = &key[shared..];
        for n in [shared, own.len(), value.len()] {
            put_varint(&mut self.bytes, n as u64);
        }
        self.bytes.extend_from_slice(own);
        self.bytes.extend_from_slice(value);
        self.last = key.to_vec();
        self.since_restart += 1;
    }

    /// Writes the block and adds its place to the index under its last key.
    fn finish_into(self, file: &mut Vec<u8>, index: &mut Block) {
        let last = self.last.clone();
        let place = put_block(file, self);
        // Entries of the index share no prefixes, since readers search them by bisection.
        index.since_restart = RESTART_INTERVAL;
        index.add(&last, &place);
    }
}

/// Writes a block with its trailer. Returns its place.
fn put_block(file: &mut Vec<u8>, mut block: Block) -> Vec<u8> {
    if block.restarts.is_empty() {
        block.restarts.push(0);
    }
    let start = file.len();
    file.extend_from_slice(&block.bytes);
    for restart in &block.restarts {
        file.extend(restart.to_le_bytes());
    }
    file.extend((block.restarts.len() as u32).to_le_bytes());
    let len = file.len() - start;
    file.push(0);
    let sum = mask(crc32c::crc32c(&file[start..]));
    file.extend(sum.to_le_bytes());
    let mut place = Vec::new();
    put_varint(&mut place, start as u64);
    put_varint(&mut place, len as u64);
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(n: usize, value: usize) -> BTreeMap<Vec<u8>, Vec<u8>> {
        (0..n).map(|i| (format!("layer/{i:05}/w").into_bytes(), vec![i as u8; value])).collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (n, value) in [(0, 0), (1, 5), (40, 3), (3000, 300)] {
            let entries = entries(n, value);
            assert_eq!(read(&write(&entries)).expect("reads"), entries, "{n} entries of {value} bytes");
        }
    }

    #[test]
    fn a_packed_block_is_unpacked() {
        let mut block = Block::default();
        for (key, value) in &entries(40, 50) {
            block.add(key, value);
        }
        let mut plain = Vec::new();
        put_block(&mut plain, block);
        let packed = snap::raw::Encoder::new().compress_vec(&plain[..plain.len() - TRAILER]).expect("packs");
        assert!(packed.len() < plain.len() / 2);
        let mut file = packed;
        let len = file.len();
        file.push(1);
        file.extend(mask(crc32c::crc32c(&file)).to_le_bytes());
        let mut place = Vec::new();
        put_varint(&mut place, 0);
        put_varint(&mut place, len as u64);
        let mut index = Block::default();
        index.add(b"z", &place);
        let index = put_block(&mut file, index);
        let start = file.len();
        file.extend([0, 0]);
        file.extend(index);
        file.resize(start + FOOTER - 8, 0);
        file.extend(MAGIC.to_le_bytes());
        assert_eq!(read(&file).expect("reads"), entries(40, 50));
    }

    #[test]
    fn every_damaged_byte_and_every_end_is_an_error_or_harmless() {
        let good = entries(40, 3);
        let file = write(&good);
        for end in 0..file.len() {
            assert!(read(&file[..end]).is_err(), "cut at {end}");
        }
        for i in 0..file.len() {
            let mut bad = file.clone();
            bad[i] ^= 0x41;
            // The place of the meta block and the padding of the footer are not read.
            if let Ok(read) = read(&bad) {
                assert_eq!(read, good, "byte {i}");
            }
        }
    }

    #[test]
    fn keys_that_blow_up_are_refused() {
        let mut block = Block::default();
        block.add(&vec![b'a'; 1 << 20], b"");
        for i in 1..=200u8 {
            // The key shares all of the previous one and adds a byte.
            put_varint(&mut block.bytes, (1 << 20) + u64::from(i) - 1);
            block.bytes.extend([1, 0, b'a']);
        }
        let mut file = Vec::new();
        let mut index = Block::default();
        block.finish_into(&mut file, &mut index);
        let index = put_block(&mut file, index);
        let start = file.len();
        file.extend([0, 0]);
        file.extend(index);
        file.resize(start + FOOTER - 8, 0);
        file.extend(MAGIC.to_le_bytes());
        assert_eq!(read(&file).unwrap_err().code(), Code::ResourceExhausted);
    }
}
