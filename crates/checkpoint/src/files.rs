//! Files: opened with errors that name them, written beside their destination, and renamed when they are
//! complete.

use millstream_tensor::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An error for a failed file operation, with TensorFlow's code: ``cannot read `x`: No such file``.
pub fn file_error(doing: &str, path: &Path, error: &io::Error) -> Error {
    let reason = error.to_string();
    // TensorFlow's message leaves out the number of the error.
    let words = reason.split(" (os error").next().unwrap_or(&reason);
    Error::new(error.kind().into(), format!("cannot {doing} `{}`: {reason}", path.display()))
        .led_by(format!("{}; {words}", path.display()))
}

/// The path with a suffix appended to its last component.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Creates the folder of a file. Its parent must exist.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            fs::create_dir(folder).map_err(|e| file_error("make the folder", folder, &e))
        }
        _ => Ok(()),
    }
}

/// A file that is not yet at its destination. Dropped before `finish`, it leaves nothing behind.
pub(crate) struct Pending {
    file: BufWriter<File>,
    beside: PathBuf,
    place: PathBuf,
}

impl Pending {
    pub(crate) fn new(place: &Path) -> Result<Pending> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let own = format!(".tempstate-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let beside = with_suffix(place, &own);
        let file = File::create_new(&beside).map_err(|e| file_error("create", &beside, &e))?;
        Ok(Pending { file: BufWriter::new(file), beside, place: place.to_owned() })
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| file_error("write", &self.beside, &e))
    }

    /// Moves the file to its destination.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.file.flush().map_err(|e| file_error("write", &self.beside, &e))?;
        // The file must be complete on disk before it is renamed, in case of a crash.
        self.file.get_ref().sync_all().map_err(|e| file_error("write", &self.beside, &e))?;
        fs::rename(&self.beside, &self.place).map_err(|e| file_error("write", &self.place, &e))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // After a rename there is nothing to remove.
        let _gone = fs::remove_file(&self.beside);
    }
}

/// Writes a small file in one go.
pub(crate) fn write(place: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = Pending::new(place)?;
    file.put(bytes)?;
    file.finish()
}
