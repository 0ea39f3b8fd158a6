//! The disk of Unix: all paths, or those inside some folders.
//!
//! Inside folders a path is walked part by part, with the folder that has been reached open, so that the
//! system resolves a single name at a time and never a link. Links are resolved here. What counts is the
//! folder in which the walk ends, not the spelling of the path: it must be one of the allowed folders, or the
//! walk must have come down through one of them. Because the walk holds folders rather than names, somebody
//! who exchanges a folder for a link meanwhile gains nothing.

use crate::disk::Refused;
use crate::{Disk, DiskFile, Folder, How, Kind};
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{self as sys, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::any::Any;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

const MOST_LINKS: usize = 40;

/// The flags for opening a folder on the way to a file. On Linux that takes no permission to list it.
const ON_THE_WAY: OFlags = {
    let plain = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let plain = plain.union(OFlags::PATH);
    plain
};

/// The system's files, or those inside of folders.
#[derive(Debug)]
pub(crate) struct Os {
    /// The allowed folders; `None` if everything is.
    roots: Option<Vec<Root>>,
}

/// An allowed folder. It stays the same folder if it is renamed or a link to it changes.
#[derive(Debug)]
pub(crate) struct Root {
    id: Id,
    writable: bool,
    /// The one file that is allowed, and those whose names continue its name with a dot.
    only: Option<OsString>,
}

/// The device and number of a folder.
type Id = (u64, u64);

impl Root {
    pub(crate) fn open(folder: &Folder) -> io::Result<Root> {
        let stat = sys::stat(&folder.path)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                Ok(Root { id: id(&stat), writable: folder.writable, only: folder.only.clone() })
            }
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// What the root allows with everything below it.
    fn grants(&self) -> Allowed {
        match (&self.only, self.writable) {
            (Some(_), _) => Allowed::Nothing,
            (None, true) => Allowed::Write,
            (None, false) => Allowed::Read,
        }
    }

    /// Whether the root allows a single file of its folder.
    fn names(&self, folder: Id, name: &OsStr) -> bool {
        let rest = self.only.as_ref().and_then(|only| name.as_bytes().strip_prefix(only.as_bytes()));
        self.id == folder && rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'.')
    }
}

fn id(stat: &sys::Stat) -> Id {
    #[expect(clippy::unnecessary_cast, reason = "the type of a device's number differs between systems")]
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// What may be done at some point of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Allowed {
    Nothing,
    Read,
    Write,
}

/// A folder, and a name in it (or a path, where everything is allowed).
struct Spot {
    folder: Option<OwnedFd>,
    name: PathBuf,
}

impl Spot {
    fn at(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().map_or(CWD, |folder| folder.as_fd())
    }

    /// The flag that keeps the last name from being followed: in a walk, links are resolved already.
    fn nofollow(&self) -> OFlags {
        if self.folder.is_some() { OFlags::NOFOLLOW } else { OFlags::empty() }
    }
}

impl Os {
    pub(crate) fn everything() -> Os {
        Os { roots: None }
    }

    pub(crate) fn folders(roots: Vec<Root>) -> Os {
        Os { roots: Some(roots) }
    }

    /// Finds the folder and the name that a path means, or refuses it.
    fn spot(&self, path: &Path, follow: bool, wanted: Allowed) -> io::Result<Spot> {
        let Some(roots) = &self.roots else { return Ok(Spot { folder: None, name: path.to_owned() }) };
        if roots.is_empty() {
            return Err(Refused::Nothing.into());
        }
        let (spot, allowed) = Walk { roots, folders: Vec::new() }.to(path, follow)?;
        match allowed {
            Allowed::Nothing => Err(Refused::Outside.into()),
            allowed if allowed < wanted => Err(Refused::ReadOnly.into()),
            _ => Ok(spot),
        }
    }
}

/// A walk along a path.
struct Walk<'a> {
    roots: &'a [Root],
    /// The folders from `/` to where the walk is.
    folders: Vec<(OwnedFd, Id, Allowed)>,
}

impl Walk<'_> {
    fn to(mut self, path: &Path, follow: bool) -> io::Result<(Spot, Allowed)> {
        let path = if path.is_absolute() { path.to_owned() } else { std::env::current_dir()?.join(path) };
        if path.as_os_str().as_bytes().contains(&0) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.enter(sys::open("/", ON_THE_WAY, Mode::empty())?)?;
        let mut left: Vec<OsString> = Vec::new();
        push(&mut left, &path);
        let mut n_links = 0;
        while let Some(name) = left.pop() {
            if name == ".." {
                if self.folders.len() > 1 {
                    self.folders.pop();
                }
                continue;
            }
            let is_last = left.is_empty();
            let here = self.here()?;
            match sys::readlinkat(here, &name, Vec::new()) {
                Ok(_) if is_last && !follow => return self.end(name),
                Ok(link) => {
                    n_links += 1;
                    if MOST_LINKS < n_links {
                        return Err(self.failed(Errno::LOOP));
                    }
                    let link = PathBuf::from(OsString::from_vec(link.into_bytes()));
                    if link.is_absolute() {
                        self.folders.truncate(1);
                    }
                    push(&mut left, &link);
                    continue;
                }
                // It is no link, or it does not exist.
                Err(Errno::INVAL) => {}
                Err(Errno::NOENT) if is_last => return self.end(name),
                Err(error) => return Err(self.failed(error)),
            }
            if is_last {
                return self.end(name);
            }
            let next = sys::openat(here, &name, ON_THE_WAY, Mode::empty()).map_err(|e| self.failed(e))?;
            self.enter(next)?;
        }
        self.end(".".into())
    }

    fn here(&self) -> io::Result<&OwnedFd> {
        self.folders.last().map(|(fd, ..)| fd).ok_or(io::ErrorKind::NotFound.into())
    }

    fn enter(&mut self, folder: OwnedFd) -> io::Result<()> {
        let own = id(&sys::fstat(&folder)?);
        let granted = self.roots.iter().filter(|root| root.id == own).map(Root::grants).max();
        let above = self.folders.last().map_or(Allowed::Nothing, |(.., allowed)| *allowed);
        self.folders.push((folder, own, granted.unwrap_or(Allowed::Nothing).max(above)));
        Ok(())
    }

    fn end(mut self, name: OsString) -> io::Result<(Spot, Allowed)> {
        let (folder, own, allowed) = self.folders.pop().ok_or(io::ErrorKind::NotFound)?;
        let named = self.roots.iter().any(|root| root.names(own, &name));
        let allowed = if named { Allowed::Write } else { allowed };
        Ok((Spot { folder: Some(folder), name: name.into() }, allowed))
    }

    /// The error of a walk. Outside of the allowed folders it does not say what is there.
    fn failed(&self, error: Errno) -> io::Error {
        match self.folders.last() {
            Some((.., Allowed::Nothing)) | None => Refused::Outside.into(),
            Some(_) => error.into(),
        }
    }
}

/// Puts the parts of a path on the stack of those that are left, the first one on top.
fn push(left: &mut Vec<OsString>, path: &Path) {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    left.extend(path.components().rev().filter_map(part));
}

impl Disk for Os {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let wanted = if how == How::Read { Allowed::Read } else { Allowed::Write };
        let spot = self.spot(path, how != How::New, wanted)?;
        let how = match how {
            How::Read => OFlags::RDONLY,
            How::Write => OFlags::WRONLY,
            How::Create => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
            How::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
            How::Append => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND,
        };
        // Without this flag, opening a FIFO waits for its other end.
        let flags = how | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | spot.nofollow();
        let file = sys::openat(spot.at(), &spot.name, flags, Mode::from_raw_mode(0o666))?;
        Ok(Box::new(File::from(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.roots.is_none() {
            // Fault injectors replace the C library's function; the system call would pass them by.
            return std::fs::rename(from, to);
        }
        let (from, to) = (self.spot(from, false, Allowed::Write)?, self.spot(to, false, Allowed::Write)?);
        Ok(sys::renameat(from.at(), &from.name, to.at(), &to.name)?)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (self.spot(from, false, Allowed::Write)?, self.spot(to, false, Allowed::Write)?);
        Ok(sys::linkat(from.at(), &from.name, to.at(), &to.name, AtFlags::empty())?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let spot = self.spot(path, false, Allowed::Write)?;
        Ok(sys::unlinkat(spot.at(), &spot.name, AtFlags::empty())?)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let spot = self.spot(path, false, Allowed::Write)?;
        Ok(sys::mkdirat(spot.at(), &spot.name, Mode::from_raw_mode(0o777))?)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let spot = self.spot(path, false, Allowed::Write)?;
        Ok(sys::unlinkat(spot.at(), &spot.name, AtFlags::REMOVEDIR)?)
    }

    fn each_name(&self, folder: &Path, each: &mut dyn FnMut(&OsStr) -> io::Result<()>) -> io::Result<()> {
        let (opened, shown) = self.open_folder(folder)?;
        for entry in sys::Dir::new(opened)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." && shown.shows(name) {
                each(name)?;
            }
        }
        Ok(())
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        let spot = match self.spot(path, true, Allowed::Read) {
            // An allowed folder lies in one that is not.
            Err(refused) if self.roots.is_some() => {
                return self.open_folder(path).map(|_| Kind::Folder).map_err(|_| refused);
            }
            spot => spot?,
        };
        let flags = if spot.folder.is_some() { AtFlags::SYMLINK_NOFOLLOW } else { AtFlags::empty() };
        Ok(kind(&sys::statat(spot.at(), &spot.name, flags)?))
    }

    fn is_there(&self, path: &Path) -> io::Result<bool> {
        match self.spot(path, false, Allowed::Read) {
            Err(refused) if self.roots.is_some() => self.open_folder(path).map(|_| true).map_err(|_| refused),
            spot => {
                let spot = spot?;
                Ok(sys::statat(spot.at(), &spot.name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
            }
        }
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let spot = self.spot(path, false, Allowed::Read)?;
        let link = sys::readlinkat(spot.at(), &spot.name, Vec::new())?;
        Ok(OsString::from_vec(link.into_bytes()).into())
    }

    fn copy_mode(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (self.spot(from, true, Allowed::Read)?, self.spot(to, false, Allowed::Write)?);
        let mode = Mode::from_raw_mode(sys::statat(from.at(), &from.name, AtFlags::empty())?.st_mode);
        Ok(sys::chmodat(to.at(), &to.name, mode, AtFlags::empty())?)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let opened = match self.open_folder(folder) {
            // A folder can be written to without the permission to open it.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            opened => File::from(opened?.0),
        };
        match opened.sync_all() {
            // Some file systems cannot sync a folder; there is nothing that could be done instead.
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            synced => synced,
        }
    }

    fn lock_folder(&self, folder: &Path) -> io::Result<Option<Box<dyn Any + Send>>> {
        // Some file systems, and folders that may not be listed, have no locks. Saving works there too.
        let Ok((folder, _)) = self.open_folder(folder) else { return Ok(Some(Box::new(()))) };
        let folder = File::from(folder);
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(None),
            _ => Ok(Some(Box::new(folder))),
        }
    }

    fn is_first_visit(&self, folder: &Path) -> bool {
        static VISITED: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
        let mut visited = VISITED.lock();
        // A program that writes to more folders sweeps some of them again.
        if 4096 < visited.len() {
            visited.clear();
        }
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        visited.insert(folder)
    }
}

impl Os {
    /// Opens a folder, and returns which of its names the session may see: all if the folder is allowed, and
    /// those of single files that are.
    fn open_folder(&self, folder: &Path) -> io::Result<(OwnedFd, Shown<'_>)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Some(roots) = self.roots.as_deref() else {
            return Ok((
                sys::open(folder, flags, Mode::empty())?,
                Shown { roots: &[], own: (0, 0), all: true },
            ));
        };
        if roots.is_empty() {
            return Err(Refused::Nothing.into());
        }
        let (spot, allowed) = Walk { roots, folders: Vec::new() }.to(folder, true)?;
        let refused = |e: io::Error| if allowed == Allowed::Nothing { Refused::Outside.into() } else { e };
        let opened = sys::openat(spot.at(), &spot.name, flags | OFlags::NOFOLLOW, Mode::empty());
        let opened = opened.map_err(|e| refused(e.into()))?;
        let own = id(&sys::fstat(&opened)?);
        let granted = roots.iter().filter(|root| root.id == own).map(Root::grants).max();
        let all = allowed.max(granted.unwrap_or(Allowed::Nothing)) != Allowed::Nothing;
        match all || roots.iter().any(|root| root.id == own) {
            true => Ok((opened, Shown { roots, own, all })),
            false => Err(Refused::Outside.into()),
        }
    }
}

/// The names of a folder that may be seen.
struct Shown<'a> {
    roots: &'a [Root],
    own: Id,
    all: bool,
}

impl Shown<'_> {
    fn shows(&self, name: &OsStr) -> bool {
        self.all || self.roots.iter().any(|root| root.names(self.own, name))
    }
}

fn kind(stat: &sys::Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        _ => Kind::Other,
    }
}

impl DiskFile for File {
    fn kind(&self) -> io::Result<Kind> {
        Ok(kind(&sys::fstat(self)?))
    }

    fn n_bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn try_lock(&self) -> io::Result<bool> {
        match File::try_lock(self) {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(e)) => Err(e),
        }
    }

    fn is_linked(&self) -> io::Result<bool> {
        Ok(sys::fstat(self)?.st_nlink > 0)
    }

    fn is_ready(&self, to_write: bool, wait: Duration) -> io::Result<bool> {
        let wanted = if to_write { PollFlags::OUT } else { PollFlags::IN };
        let wait = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        match poll(&mut [PollFd::new(self, wanted)], Some(&wait)) {
            Ok(n) => Ok(n > 0),
            Err(Errno::INTR) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }
}
