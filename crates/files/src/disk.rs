//! [`Disk`]: the calls to the operating system that the file layer makes.

use std::any::Any;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The way in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// For reading.
    Read,
    /// For writing; the file must exist, and keeps its bytes.
    Write,
    /// For writing; the file is created or truncated.
    Create,
    /// For writing; the file must not exist.
    New,
    /// For writing behind the bytes that the file has; it is created if it does not exist.
    Append,
}

/// What is found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, a FIFO or a socket.
    Other,
}

/// The calls that the file layer makes. Paths are followed through symbolic links, except where a call says
/// otherwise. No call waits for another process.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Opens a file. Opening a FIFO for writing fails while nobody reads it.
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>>;
    /// Moves a file, replacing one that has the name. Follows no link at the end.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, which must be free. Follows no link at the end.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes the name of a file. Follows no link at the end.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Creates a folder.
    fn make_folder(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Calls `each` with the names in a folder, in no order, until it fails.
    fn each_name(&self, folder: &Path, each: &mut dyn FnMut(&OsStr) -> io::Result<()>) -> io::Result<()>;
    /// What is at the path.
    fn kind(&self, path: &Path) -> io::Result<Kind>;
    /// Whether the path is a name of anything. Follows no link at the end.
    fn is_there(&self, path: &Path) -> io::Result<bool>;
    /// The path that a symbolic link at the end of the path holds.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;
    /// Gives `to` the permissions of `from`.
    fn copy_mode(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Holds a folder until the guard is dropped; `None` if another writer holds it.
    fn lock_folder(&self, folder: &Path) -> io::Result<Option<Box<dyn Any + Send>>>;
    /// Whether the leftovers of dead writers should be looked for in a folder: it lists the folder, so once
    /// in a process is enough.
    fn is_first_visit(&self, folder: &Path) -> bool;
}

/// An open file.
pub trait DiskFile: Read + Write + Seek + Send + fmt::Debug {
    /// What the file is.
    fn kind(&self) -> io::Result<Kind>;
    /// The number of bytes of a regular file.
    fn n_bytes(&self) -> io::Result<u64>;
    /// Makes the bytes durable.
    fn sync(&self) -> io::Result<()>;
    /// Sets the length.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Locks the file until it is closed; `false` if it is locked already. An error where the file system
    /// has no locks.
    fn try_lock(&self) -> io::Result<bool>;
    /// Whether the file still has a name.
    fn is_linked(&self) -> io::Result<bool>;
    /// Waits until reading, or writing, would not wait, at most for `wait`. Returns whether that is so.
    fn is_ready(&self, to_write: bool, wait: Duration) -> io::Result<bool>;
}

/// The reason why a path is not opened.
#[derive(Debug)]
pub(crate) enum Refused {
    Nothing,
    Outside,
    ReadOnly,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Nothing => "the session allows its graph no files",
            Refused::Outside => "it lies outside of the folders that the session allows",
            Refused::ReadOnly => "the session allows its folder only to be read",
        })
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, refused)
    }
}
