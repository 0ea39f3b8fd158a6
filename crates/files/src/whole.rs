//! [`Pending`]: files that are whole or absent. [`Output`]: files that grow.

use crate::input::PATIENCE;
use crate::{Check, DiskFile, Files, How, Kind, file_error, folder_of};
use millstream_tensor::Result;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// What the name of an unfinished file has after the name of its destination; 16 hexadecimal digits follow.
const MARK: &str = ".tempstate-";

/// The most bytes of a destination's name that its unfinished file has: file systems limit names to 255.
const MOST_OF_NAME: usize = 200;

/// The number of symbolic links that are followed, as in Linux.
const MOST_LINKS: usize = 40;

/// The bytes that are written between two looks at the check.
const PIECE: usize = 4 << 20;

/// A file that is not yet at its destination. Dropped before [`finish`](Pending::finish), it leaves nothing
/// behind.
#[derive(Debug)]
pub struct Pending {
    files: Files,
    file: Option<BufWriter<Output>>,
    /// The unfinished file; `None` if the destination is written in place, or once the file is there.
    beside: Option<PathBuf>,
    place: PathBuf,
}

impl Pending {
    /// Begins a file. Sweeps what dead writers left in its folder.
    pub fn new(files: &Files, place: &Path) -> Result<Pending> {
        let failed = |e: io::Error| file_error("create", place, &e);
        let target = target(files, place).map_err(failed)?;
        let there = match files.disk.kind(&target) {
            Ok(Kind::Folder) => return Err(failed(io::ErrorKind::IsADirectory.into())),
            Ok(kind) => Some(kind),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(failed(e)),
        };
        let files = files.clone();
        if there == Some(Kind::Other) {
            // A rename would turn a device or a FIFO into a file, for the whole machine.
            let file = Output::open(&files, &target, How::Write).map_err(failed)?;
            return Ok(Pending { files, file: Some(BufWriter::new(file)), beside: None, place: target });
        }
        sweep(&files, folder_of(&target));
        let (beside, file) = fresh(&files, &target).map_err(failed)?;
        let pending =
            Pending { file: Some(BufWriter::new(file)), beside: Some(beside), place: target, files };
        if let (Some(_), Some(beside)) = (there, &pending.beside) {
            // Who may read a file should not change because it is written again.
            let _kept = pending.files.disk.copy_mode(&pending.place, beside);
        }
        Ok(pending)
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(PIECE) {
            // A file that is not finished may end anywhere.
            if piece.len() == PIECE {
                self.files.check()?;
            }
            self.write_all(piece).map_err(|e| file_error("write", &self.place, &e))?;
        }
        Ok(())
    }

    /// Moves the file to its destination. It is durable afterwards.
    pub fn finish(self) -> Result<()> {
        let (files, place) = (self.files.clone(), self.place.clone());
        match self.beside {
            Some(_) => {
                self.finish_at(&place)?;
                files.sync_folder(folder_of(&place))
            }
            None => self.flushed(),
        }
    }

    /// Moves the file to `place`, a name in the same folder. The name is durable once the folder is synced.
    pub fn finish_at(mut self, place: &Path) -> Result<()> {
        let failed = |e: io::Error| file_error("write", place, &e);
        self.flush().map_err(failed)?;
        let Some(file) = &self.file else { return Ok(()) };
        // The bytes must be durable before the name is: otherwise a power cut may leave the name of nothing.
        file.get_ref().file.sync().map_err(failed)?;
        if let Some(beside) = &self.beside {
            self.files.disk.rename(beside, place).map_err(failed)?;
            self.beside = None;
        }
        Ok(())
    }

    fn flushed(mut self) -> Result<()> {
        self.flush().map_err(|e| file_error("write", &self.place, &e))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.flush())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            let _gone = self.files.disk.remove(beside);
            // What is buffered need not reach a file that is gone.
            if let Some(file) = self.file.take() {
                let _unwritten = file.into_parts();
            }
        }
    }
}

/// Writes a file in one go: afterwards it is there, whole and durable. An error leaves what was there.
pub fn write_whole(files: &Files, place: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = Pending::new(files, place)?;
    file.put(bytes)?;
    file.finish()
}

/// A file that exists while its writer works, to keep others away: removed when it is dropped. The file is
/// locked, and the lock ends with the process, so a file that a dead writer left keeps nobody away.
#[derive(Debug)]
pub struct LockFile {
    files: Files,
    path: PathBuf,
    /// Holds the lock.
    _file: Output,
}

impl LockFile {
    /// Creates the file with this text; `None` if a living writer has it.
    pub fn new(files: &Files, path: &Path, text: &str) -> Result<Option<LockFile>> {
        let failed = |e: io::Error| file_error("create", path, &e);
        loop {
            match Output::open(files, path, How::New) {
                Ok(mut file) => {
                    // Another writer may have taken the file for that of a dead one before it was locked.
                    let locked = file.file.try_lock().unwrap_or(true);
                    if locked && file.file.is_linked().map_err(failed)? {
                        file.write_all(text.as_bytes()).map_err(failed)?;
                        let (files, path) = (files.clone(), path.to_owned());
                        return Ok(Some(LockFile { files, path, _file: file }));
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    match files.disk.open(path, How::Write) {
                        Ok(left) if matches!(left.try_lock(), Ok(true)) => {
                            // Where it is gone already, somebody else has removed it.
                            if left.is_linked().map_err(failed)? {
                                files.remove(path)?;
                            }
                        }
                        Ok(_) => return Ok(None),
                        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                        Err(e) => return Err(failed(e)),
                    }
                }
                Err(e) => return Err(failed(e)),
            }
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let _gone = self.files.disk.remove(&self.path);
    }
}

/// The path at the end of the symbolic links that `path` may be.
fn target(files: &Files, path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match files.disk.read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotFound) => {
                return Ok(path);
            }
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("it is a symbolic link that leads nowhere"))
}

/// Creates a file with a name that nobody else has, and locks it.
fn fresh(files: &Files, place: &Path) -> io::Result<(PathBuf, Output)> {
    let name = place.file_name().unwrap_or_default();
    // `str::floor_char_boundary` is newer than the oldest Rust that is supported.
    let cut = |text: &str| (0..=text.len().min(MOST_OF_NAME)).rev().find(|&end| text.is_char_boundary(end));
    let kept = match name.to_str() {
        Some(text) => OsStr::new(&text[..cut(text).unwrap_or(0)]),
        None => name,
    };
    loop {
        let mut own: OsString = kept.to_owned();
        own.push(format!("{MARK}{:016x}", random()));
        let beside = folder_of(place).join(own);
        let file = match Output::open(files, &beside, How::New) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        // Where there are no locks, nothing is swept either.
        let locked = file.file.try_lock().unwrap_or(true);
        // A sweep may have come between the creation and the lock.
        if locked && file.file.is_linked()? {
            return Ok((beside, file));
        }
    }
}

/// A number that differs from process to process, and from call to call.
fn random() -> u64 {
    // The keys come from the operating system.
    RandomState::new().build_hasher().finish()
}

/// The most leftovers that are removed at a time.
const MOST_SWEPT: usize = 1000;

/// Removes the unfinished files of dead writers from a folder. Nothing depends on it, so errors are ignored.
fn sweep(files: &Files, folder: &Path) {
    if !files.disk.is_first_visit(folder) {
        return;
    }
    let mut unfinished = Vec::new();
    let _listed = files.disk.each_name(folder, &mut |name| {
        match is_unfinished(name) {
            // The rest is left to the next process.
            true if unfinished.len() == MOST_SWEPT => return Err(io::ErrorKind::Other.into()),
            true => unfinished.push(folder.join(name)),
            false => {}
        }
        Ok(())
    });
    for path in unfinished {
        // Only a regular file can be one. A living writer holds the lock of its file.
        if let Ok(file) = files.disk.open(&path, How::Write)
            && matches!(file.kind(), Ok(Kind::File))
            && matches!(file.try_lock(), Ok(true))
        {
            let _gone = files.disk.remove(&path);
        }
    }
}

fn is_unfinished(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|name| name.rsplit_once(MARK)).map(|(_, digits)| digits);
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// A file that is open for writing. Waiting for the reader of a FIFO ends when the check fails.
pub struct Output {
    file: Box<dyn DiskFile>,
    waits: bool,
    check: Option<Check>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Output").field(&self.file).finish()
    }
}

impl Output {
    pub(crate) fn open(files: &Files, path: &Path, how: How) -> io::Result<Output> {
        let check = files.check.clone();
        loop {
            match files.disk.open(path, how) {
                Ok(file) => {
                    let waits = file.kind()? == Kind::Other;
                    return Ok(Output { file, waits, check });
                }
                Err(e) if is_unread(&e) && matches!(files.disk.kind(path), Ok(Kind::Other)) => {
                    ask(&check)?;
                    std::thread::sleep(PATIENCE);
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// The file.
    pub fn file(&mut self) -> &mut dyn DiskFile {
        &mut *self.file
    }

    /// Makes the bytes durable; nothing for a device or a FIFO.
    pub fn sync(&self) -> io::Result<()> {
        if self.waits { Ok(()) } else { self.file.sync() }
    }
}

/// Whether the error says that nobody reads the FIFO.
fn is_unread(error: &io::Error) -> bool {
    const ENXIO: i32 = 6;
    error.raw_os_error() == Some(ENXIO)
}

fn ask(check: &Option<Check>) -> io::Result<()> {
    check.as_ref().map_or(Ok(()), |check| check().map_err(io::Error::other))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            if self.waits && !self.file.is_ready(true, PATIENCE)? {
                ask(&self.check)?;
                continue;
            }
            match self.file.write(bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => ask(&self.check)?,
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
