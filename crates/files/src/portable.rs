//! The disk of systems that are not Unix: all paths. They offer no way to confine a path to folders that a
//! link could not escape, so access to folders alone is an error rather than a promise that is not kept.

use crate::disk::Refused;
use crate::{Disk, DiskFile, Folder, How, Kind};
use std::any::Any;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Os {
    everything: bool,
}

#[derive(Debug)]
pub(crate) struct Root;

impl Root {
    pub(crate) fn open(_folder: &Folder) -> io::Result<Root> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "files cannot be confined to folders on this system"))
    }
}

impl Os {
    pub(crate) fn everything() -> Os {
        Os { everything: true }
    }

    pub(crate) fn folders(_roots: Vec<Root>) -> Os {
        Os { everything: false }
    }

    fn allowed(&self) -> io::Result<()> {
        if self.everything { Ok(()) } else { Err(Refused::Nothing.into()) }
    }
}

impl Disk for Os {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        self.allowed()?;
        let mut options = OpenOptions::new();
        let options = match how {
            How::Read => options.read(true),
            How::Write => options.write(true),
            How::Create => options.write(true).create(true).truncate(true),
            How::New => options.write(true).create_new(true),
            How::Append => options.append(true).create(true),
        };
        Ok(Box::new(options.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.allowed()?;
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.allowed()?;
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.allowed()?;
        fs::remove_file(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.allowed()?;
        fs::create_dir(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.allowed()?;
        fs::remove_dir(path)
    }

    fn each_name(&self, folder: &Path, each: &mut dyn FnMut(&OsStr) -> io::Result<()>) -> io::Result<()> {
        self.allowed()?;
        fs::read_dir(folder)?.try_for_each(|entry| each(&entry?.file_name()))
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        self.allowed()?;
        Ok(kind(&fs::metadata(path)?))
    }

    fn is_there(&self, path: &Path) -> io::Result<bool> {
        self.allowed()?;
        Ok(fs::symlink_metadata(path).is_ok())
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.allowed()?;
        match fs::symlink_metadata(path)?.is_symlink() {
            true => fs::read_link(path),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn copy_mode(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.allowed()?;
        fs::set_permissions(to, fs::metadata(from)?.permissions())
    }

    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        // The names in a folder are durable without it, or cannot be made so.
        Ok(())
    }

    fn lock_folder(&self, _folder: &Path) -> io::Result<Option<Box<dyn Any + Send>>> {
        Ok(Some(Box::new(())))
    }

    fn is_first_visit(&self, _folder: &Path) -> bool {
        // An open file cannot be removed, so whether its writer lives cannot be found out without a race.
        false
    }
}

fn kind(metadata: &fs::Metadata) -> Kind {
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => Kind::File,
        (_, true) => Kind::Folder,
        _ => Kind::Other,
    }
}

impl DiskFile for File {
    fn kind(&self) -> io::Result<Kind> {
        Ok(kind(&self.metadata()?))
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
        Ok(true)
    }

    fn is_ready(&self, _to_write: bool, _wait: Duration) -> io::Result<bool> {
        Ok(true)
    }
}
