//! [`Input`]: reading that can be called off, and that is bounded.

use crate::{Check, DiskFile, Files, Kind, file_error};
use millstream_tensor::budget::{self, Room};
use millstream_tensor::{Code, Error, Result};
use parking_lot::Mutex;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The longest time between two looks at the check.
pub(crate) const PATIENCE: Duration = Duration::from_millis(20);

/// A file that is open for reading.
#[derive(Debug)]
pub struct Input {
    file: Box<dyn DiskFile>,
    kind: Kind,
    watch: Watch,
}

/// The check of an [`Input`], to exchange it while the input is behind decoders: a reader's file may outlive
/// the run that opened it.
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Option<Check>>>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl Watch {
    /// From now on the input asks the check of these files.
    pub fn set(&self, files: &Files) {
        self.0.lock().clone_from(&files.check);
    }

    fn check(&self) -> io::Result<()> {
        let check = self.0.lock().clone();
        check.map_or(Ok(()), |check| check().map_err(io::Error::other))
    }
}

impl Input {
    pub(crate) fn new(file: Box<dyn DiskFile>, check: Option<Check>) -> io::Result<Input> {
        let kind = file.kind()?;
        Ok(Input { file, kind, watch: Watch(Arc::new(Mutex::new(check))) })
    }

    /// The input's check.
    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }

    /// The number of bytes of a regular file; 0 for anything else.
    pub fn n_bytes(&self) -> io::Result<u64> {
        match self.kind {
            Kind::File => self.file.n_bytes(),
            _ => Ok(0),
        }
    }
}

impl Read for Input {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            self.watch.check()?;
            if self.kind == Kind::Other && !self.file.is_ready(false, PATIENCE)? {
                continue;
            }
            match self.file.read(to) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The bytes for which room is made at first: a length in a file may be a lie.
const FIRST_PIECE: u64 = 64 << 10;

/// Reads `n` bytes, or those that are left, but no more than the budget in force allows: devices never end,
/// and compressed files can hold far more than their size. While it reads, the bytes are charged.
pub fn read_bounded(from: &mut dyn Read, n: u64, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_on(from, n, name, &mut bytes)?;
    Ok(bytes)
}

/// As [`read_bounded`], after the bytes in `bytes`, which count as read. After an error, `bytes` has all that
/// was read: what a run read when it was called off is there for the next one.
pub fn read_on(from: &mut dyn Read, n: u64, name: &str, bytes: &mut Vec<u8>) -> Result<()> {
    let most = budget::left() as u64;
    let refused = |e: Error| if e.code() == Code::ResourceExhausted { too_long(name, most) } else { e };
    let mut room = Room::of(bytes.len()).map_err(refused)?;
    loop {
        let len = bytes.len() as u64;
        let piece = n.saturating_sub(len).min(len.max(FIRST_PIECE));
        let size = usize::try_from(piece).map_err(|_| too_long(name, most))?;
        room.add(size).map_err(refused)?;
        bytes.try_reserve_exact(size).map_err(|_| too_long(name, most))?;
        from.take(piece).read_to_end(bytes).map_err(|e| file_error("read", Path::new(name), &e))?;
        if bytes.len() as u64 - len < piece || n <= bytes.len() as u64 {
            return Ok(());
        }
    }
}

/// The error for a file that holds something longer than the memory limit allows.
pub fn too_long(name: &str, most: u64) -> Error {
    Error::new(
        Code::ResourceExhausted,
        format!("`{name}` holds a piece of more than the {most} bytes that the memory limit leaves"),
    )
    .with_help("raise the memory limit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_tensor::budget::Budget;

    #[test]
    fn what_is_read_is_charged_while_it_is_read() {
        let budget = Budget::new(1 << 20);
        let _in_force = budget::enter(Some(&budget));
        let bytes = read_bounded(&mut io::repeat(7), 400_000, "x").unwrap();
        assert_eq!(bytes, vec![7; 400_000]);
        assert!((400_000..1 << 20).contains(&budget.peak()), "{}", budget.peak());
        assert_eq!(budget.used(), 0);
        let endless = read_bounded(&mut io::repeat(7), u64::MAX, "x").unwrap_err();
        assert_eq!(endless.code(), Code::ResourceExhausted);
        assert!(endless.message().starts_with("`x` holds a piece of more than"), "{endless}");
        assert!(budget.peak() <= 1 << 20);
    }

    #[test]
    fn what_is_left_is_read() {
        for len in [0, 1, 1000, 65_536, 65_537, 300_000] {
            let all: Vec<u8> = (0..len).map(|i| i as u8).collect();
            assert_eq!(read_bounded(&mut &all[..], u64::MAX, "x").unwrap(), all);
            assert_eq!(read_bounded(&mut &all[..], 1000, "x").unwrap(), all[..len.min(1000)]);
        }
    }
}
