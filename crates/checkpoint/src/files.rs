//! Files: opened with errors that name them, written beside their place and moved there when they are whole.

use millstream_tensor::{Code, Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What went wrong with a file, with the code that TensorFlow gives it: ``cannot read `x`: No such file``.
pub fn file_error(doing: &str, path: &Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound => Code::NotFound,
        io::ErrorKind::PermissionDenied => Code::PermissionDenied,
        io::ErrorKind::AlreadyExists => Code::AlreadyExists,
        io::ErrorKind::IsADirectory => Code::FailedPrecondition,
        io::ErrorKind::NotADirectory => Code::InvalidArgument,
        io::ErrorKind::StorageFull | io::ErrorKind::OutOfMemory => Code::ResourceExhausted,
        // What a decoder says of bytes that are not what they should be.
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            Code::DataLoss
        }
        _ => Code::Unknown,
    };
    let reason = error.to_string();
    // As TensorFlow has it: without the number of the error.
    let words = reason.split(" (os error").next().unwrap_or(&reason);
    Error::new(code, format!("cannot {doing} `{}`: {reason}", path.display()))
        .led_by(format!("{}; {words}", path.display()))
}

/// The path with this behind it.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes the folder that a file is to lie in; the folder above must be there.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            fs::create_dir(folder).map_err(|e| file_error("make the folder", folder, &e))
        }
        _ => Ok(()),
    }
}

/// A file that is not in its place yet; dropped before, it leaves nothing behind.
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

    /// Moves the file to its place.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.file.flush().map_err(|e| file_error("write", &self.beside, &e))?;
        // What a crash leaves in place must be whole.
        self.file.get_ref().sync_all().map_err(|e| file_error("write", &self.beside, &e))?;
        fs::rename(&self.beside, &self.place).map_err(|e| file_error("write", &self.place, &e))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Gone already where it was moved.
        let _gone = fs::remove_file(&self.beside);
    }
}

/// Writes a small file.
pub(crate) fn write(place: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = Pending::new(place)?;
    file.put(bytes)?;
    file.finish()
}
