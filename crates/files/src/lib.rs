//! The file layer: every file that a graph names is opened here, and so is every file that the engine writes.
//!
//! - [`Files`] opens files. [`FileAccess`] says which: none, those in some folders, or all. An op gets its
//!   [`Files`] from the step, so that no op can forget to ask.
//! - Reading from a FIFO or a device waits only as long as the run lasts ([`Files::checked_by`]), and reads
//!   no more than the memory limit allows ([`read_bounded`]).
//! - [`Pending`] writes a file beside its destination and moves it there when it is complete. After a crash,
//!   the destination holds the old bytes or the new ones, never a part. What a dead writer left is swept.
//! - [`LockFile`] is there while a writer works, and keeps no one away once the writer is dead.
//! - [`Disk`] is the operating system behind these. Tests replace it with a disk that fails and loses power.
//!
//! # What a write promises
//!
//! ```text
//!   create NAME.tempstate-RANDOM, lock it ─► write ─► fsync ─► rename to NAME ─► fsync the folder
//! ```
//!
//! The name is random, because process ids repeat: in a container every process has the same one. The lock
//! tells a living writer from a dead one: it ends with its process, whereas a file outlives it. A destination
//! that exists and is no regular file (`/dev/null`, a FIFO) is written in place, never replaced.
//!
//! The crate knows no formats.

mod disk;
mod input;
#[cfg(not(unix))]
#[path = "portable.rs"]
mod os;
#[cfg(unix)]
#[path = "unix.rs"]
mod os;
mod whole;

pub use disk::{Disk, DiskFile, How, Kind};
pub use input::{Input, Watch, read_bounded, read_on, too_long};
pub use whole::{LockFile, Output, Pending, write_whole};

use disk::Refused;
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Code, Error, Result};
use std::any::Any;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The files that a session's graph may read and write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileAccess {
    /// No file.
    Nothing,
    /// The files in these folders and in the folders below them. Neither `..` nor a symbolic link leads out.
    Folders(Vec<Folder>),
    /// Every file that the process may open.
    #[default]
    Everything,
}

/// A folder of [`FileAccess::Folders`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// The folder. It must exist when the session is created.
    pub path: PathBuf,
    /// Whether files in it may be written, made and removed, or only read.
    pub writable: bool,
    /// If set, only the file of this name is allowed, and the files whose names continue it with a dot: those
    /// of the checkpoint with this prefix.
    pub only: Option<OsString>,
}

impl FileAccess {
    /// The files in these folders, to read and to write.
    pub fn folders(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> FileAccess {
        let folder = |path: PathBuf| Folder { path, writable: true, only: None };
        FileAccess::Folders(paths.into_iter().map(|path| folder(path.into())).collect())
    }

    /// Also allows the files in a folder to be read.
    #[must_use]
    pub fn and_read(self, path: impl Into<PathBuf>) -> FileAccess {
        self.and(Folder { path: path.into(), writable: false, only: None })
    }

    /// Also allows one file, or the files of the checkpoint with this prefix, to be read and written.
    #[must_use]
    pub fn and_file(self, path: impl AsRef<Path>) -> FileAccess {
        let path = path.as_ref();
        match path.file_name() {
            Some(name) => {
                let (path, only) = (folder_of(path).to_owned(), Some(name.to_owned()));
                self.and(Folder { path, writable: true, only })
            }
            None => self,
        }
    }

    fn and(self, folder: Folder) -> FileAccess {
        match self {
            FileAccess::Nothing => FileAccess::Folders(vec![folder]),
            FileAccess::Folders(mut folders) => {
                folders.push(folder);
                FileAccess::Folders(folders)
            }
            FileAccess::Everything => FileAccess::Everything,
        }
    }
}

/// A question that long waits ask from time to time; an error ends them.
pub type Check = Arc<dyn Fn() -> Result<()> + Send + Sync>;

/// Opens files, as far as it is allowed to.
#[derive(Clone)]
pub struct Files {
    disk: Arc<dyn Disk>,
    check: Option<Check>,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Files").field(&self.disk).finish()
    }
}

impl Files {
    /// All files. For the files that the user of a program names, rather than a graph.
    pub fn everything() -> Files {
        Files::on(Arc::new(os::Os::everything()))
    }

    /// No file.
    pub fn nothing() -> Files {
        Files::on(Arc::new(os::Os::folders(Vec::new())))
    }

    /// The files that `access` allows. An error if one of its folders cannot be opened.
    pub fn new(access: &FileAccess) -> Result<Files> {
        match access {
            FileAccess::Nothing => Ok(Files::nothing()),
            FileAccess::Everything => Ok(Files::everything()),
            FileAccess::Folders(folders) => {
                // An empty list is nothing.
                let open = |folder: &Folder| {
                    let error = |e| file_error("allow the folder", &folder.path, &e);
                    os::Root::open(folder).map_err(error)
                };
                let roots = folders.iter().map(open).collect::<Result<Vec<_>>>()?;
                Ok(Files::on(Arc::new(os::Os::folders(roots))))
            }
        }
    }

    /// The files of a disk; for tests.
    pub fn on(disk: Arc<dyn Disk>) -> Files {
        Files { disk, check: None }
    }

    /// The same files. Waiting for a FIFO or a device, and reading on, end as soon as `check` fails, or a
    /// check that the files have already.
    #[must_use]
    pub fn checked_by(&self, check: impl Fn() -> Result<()> + Send + Sync + 'static) -> Files {
        let check: Check = match self.check.clone() {
            None => Arc::new(check),
            Some(earlier) => Arc::new(move || earlier().and_then(|()| check())),
        };
        Files { disk: self.disk.clone(), check: Some(check) }
    }

    /// An error if the check fails: the run that the files belong to is over.
    pub fn check(&self) -> Result<()> {
        self.check.as_ref().map_or(Ok(()), |check| check())
    }

    /// Whether an error is the end of the run rather than a fault of the file. The next run then reads on.
    pub fn ended_by(&self, error: &Error) -> bool {
        matches!(error.code(), Code::Cancelled | Code::DeadlineExceeded) || self.check().is_err()
    }

    /// The disk.
    pub fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Opens a file for reading.
    pub fn open(&self, path: &Path) -> Result<Input> {
        let file = self.disk.open(path, How::Read).map_err(|e| file_error("read", path, &e))?;
        Input::new(file, self.check.clone()).map_err(|e| file_error("read", path, &e))
    }

    /// Reads a whole file, as far as the memory limit allows.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>> {
        read_bounded(&mut self.open(path)?, u64::MAX, &path.display().to_string())
    }

    /// Reads a whole file; `None` if there is none.
    pub fn read_if_there(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        match self.read(path) {
            Err(error) if error.code() == Code::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// Creates a file, or truncates it, to be written piece by piece. Readers see what is written so far.
    pub fn create(&self, path: &Path) -> Result<Output> {
        Output::open(self, path, How::Create).map_err(|e| file_error("create", path, &e))
    }

    /// Opens a file to be written behind the bytes that it has, or creates it.
    pub fn append(&self, path: &Path) -> Result<Output> {
        Output::open(self, path, How::Append).map_err(|e| file_error("write", path, &e))
    }

    /// Creates a file that must not exist.
    pub fn create_new(&self, path: &Path) -> io::Result<Output> {
        Output::open(self, path, How::New)
    }

    /// Returns whether there is a regular file at the path.
    pub fn is_file(&self, path: &Path) -> bool {
        matches!(self.disk.kind(path), Ok(Kind::File))
    }

    /// Calls `each` with the names in a folder, in no order, until it fails or the run is over. A folder may
    /// hold millions of names, so a caller that keeps some of them charges them.
    pub fn each_name(&self, folder: &Path, mut each: impl FnMut(&OsStr) -> Result<()>) -> Result<()> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mut pace = Pace::new();
        let mut paced = |name: &OsStr| {
            // Reading a name takes as long as some elements.
            pace.spend(16).and_then(|()| each(name)).map_err(io::Error::other)
        };
        self.disk.each_name(folder, &mut paced).map_err(|e| file_error("list the folder", folder, &e))
    }

    /// Returns the names in a folder, in no order. They must fit into the budget in force.
    pub fn names(&self, folder: &Path) -> Result<Vec<OsString>> {
        let (mut names, mut room) = (Charged::new(), Room::default());
        self.each_name(folder, |name| {
            room.add(name.len())?;
            names.push(name.to_owned())
        })?;
        Ok(names.take())
    }

    /// Removes a file. A file that does not exist is no error.
    pub fn remove(&self, path: &Path) -> Result<()> {
        match self.disk.remove(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(file_error("remove", path, &e)),
            _ => Ok(()),
        }
    }

    /// Creates a folder and those above it, as far as they do not exist.
    pub fn make_folders(&self, folder: &Path) -> Result<()> {
        if folder.as_os_str().is_empty() {
            return Ok(());
        }
        let mut missing = vec![folder];
        while let Some(&last) = missing.last() {
            match self.disk.make_folder(last) {
                Ok(()) => {
                    // Files in a folder that is not durable are not either.
                    self.sync_folder(folder_of(last))?;
                    missing.pop();
                }
                Err(_) if matches!(self.disk.kind(last), Ok(Kind::Folder)) => drop(missing.pop()),
                Err(error) => match last.parent().filter(|p| !p.as_os_str().is_empty()) {
                    Some(above) if error.kind() == io::ErrorKind::NotFound => missing.push(above),
                    _ => return Err(file_error("make the folder", last, &error)),
                },
            }
        }
        Ok(())
    }

    /// Makes the names in a folder durable: what was created, renamed or removed in it survives a power cut.
    pub fn sync_folder(&self, folder: &Path) -> Result<()> {
        self.disk.sync_folder(folder).map_err(|e| file_error("sync the folder", folder, &e))
    }

    /// Waits until no other writer holds the folder, and holds it until the guard is dropped. Writers hold it
    /// while they exchange several files for others, never while they write long files.
    pub fn lock_folder(&self, folder: &Path) -> Result<Box<dyn Any + Send>> {
        // A writer holds the lock for milliseconds. One that was stopped must not stop the others for ever.
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            match self.disk.lock_folder(folder).map_err(|e| file_error("lock the folder", folder, &e))? {
                Some(guard) => return Ok(guard),
                None if until < Instant::now() => {
                    return Err(Error::new(
                        Code::Unavailable,
                        format!("another writer has held the folder `{}` for a minute", folder.display()),
                    ));
                }
                None => {}
            }
            self.check()?;
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Gives a file a second name, or copies it where the file system has no such names. A file that has
    /// the name already loses it.
    pub fn link(&self, from: &Path, to: &Path) -> Result<()> {
        let linked = match self.disk.link(from, to) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                self.remove(to)?;
                self.disk.link(from, to)
            }
            linked => linked,
        };
        match linked {
            Ok(()) => Ok(()),
            Err(error) => match error.kind() {
                io::ErrorKind::PermissionDenied
                | io::ErrorKind::Unsupported
                | io::ErrorKind::CrossesDevices
                | io::ErrorKind::TooManyLinks => self.copy(from, to),
                _ => Err(file_error("move", from, &error)),
            },
        }
    }

    fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let mut source = self.open(from)?;
        let mut copy = Pending::new(self, to)?;
        io::copy(&mut source, &mut copy).map_err(|e| file_error("copy", from, &e))?;
        copy.finish()
    }
}

/// The folder of a path; `.` for a mere name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether the error says that the session does not allow the file.
pub fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|e| e.is::<Refused>())
}

/// An error for a failed file operation, with TensorFlow's code: ``cannot read `x`: No such file``.
pub fn file_error(doing: &str, path: &Path, error: &io::Error) -> Error {
    let inner = error.get_ref();
    if let Some(why) = inner.and_then(|e| e.downcast_ref::<Error>()) {
        // The check of the run has failed.
        return why.clone().note(format!("while the file `{}` was used", path.display()));
    }
    let reason = error.to_string();
    // TensorFlow's message leaves out the number of the error.
    let words = reason.split(" (os error").next().unwrap_or(&reason);
    let told = Error::new(error.kind().into(), format!("cannot {doing} `{}`: {reason}", path.display()))
        .led_by(format!("{}; {words}", path.display()));
    match is_refusal(error) {
        true => told.with_help(
            "allow the folder: `--allow-files DIR` on the command line, `SessionOptions::files` in Rust, \
             `Session(files=[..])` in Python",
        ),
        false => told,
    }
}
