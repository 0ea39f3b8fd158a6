//! Files: checkpoints, which hold tensors by name, and [`records`]; and the [`message`] of a tensor.
//!
//! Checkpoints have two formats, which the path tells apart. A path that ends in `.safetensors` is a file of
//! that format. Any other path is the *prefix* of a TensorFlow checkpoint of the second format:
//! `PREFIX.index`, a sorted table of the tensors, and their elements in `PREFIX.data-00000-of-00001` and so
//! on. Without an index it is a file of TensorFlow's first format, which [`write_old_in`] writes.
//!
//! Types and functions to know: [`Checkpoint`] reads, [`write()`] writes, [`merge`] combines several
//! checkpoints, and [`State`] is the list of checkpoints in a folder ([`latest_checkpoint`]).
//!
//! Files may come from anywhere. Nothing here panics on them, every checksum is verified, and memory is
//! bounded by the size of the files. Nothing is left half written: at every instant, a kill or a power cut
//! leaves the old checkpoint or the new one, whole (`files.rs` shows the order).
//!
//! Functions that end in `_in` take the [`Files`] that may be opened; the others open any file.
//!
//! The crate knows no graphs and no variables.

mod bundle;
mod bytes;
mod files;
mod merge;
pub mod message;
mod old;
pub mod records;
mod safe;
mod slice;
mod state;
mod table;
mod write;

pub use merge::{merge, merge_in};
pub use millstream_files::file_error;
pub use slice::Slice;
pub use state::{State, exists, exists_in, latest_checkpoint, remove, remove_in};
pub use write::{Item, Writer, write, write_in, write_old_in};

use millstream_files::Files;
use millstream_tensor::{Code, DType, Error, Result, Shape, Tensor, ensure, invalid};
use std::path::Path;

/// The description of a tensor in a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The dtype.
    pub dtype: DType,
    /// The shape; for a tensor saved in parts, that of the whole.
    pub shape: Shape,
}

/// A checkpoint that is open for reading.
#[derive(Debug)]
pub struct Checkpoint {
    name: String,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Bundle(bundle::Bundle),
    Old(old::Old),
    Safe(safe::Safe),
}

/// Writes a file in one go. A crash leaves the old bytes or the new ones, and so does an error.
pub fn write_whole(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    millstream_files::write_whole(&Files::everything(), path.as_ref(), bytes)
}

/// Whether a path names a file of the safetensors format.
pub fn is_safetensors(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "safetensors")
}

/// Whether a path can only be a file of TensorFlow's first format.
fn is_old(files: &Files, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let of_second = name.ends_with(".index") || name.contains(".data-");
    !of_second && files.is_file(path) && !files.is_file(&bundle::index_file(path))
}

impl Checkpoint {
    /// Opens the checkpoint with this prefix, or the safetensors file. `NOT_FOUND` if there is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint> {
        Checkpoint::open_in(&Files::everything(), path)
    }

    /// [`Checkpoint::open`], with the files that may be opened.
    pub fn open_in(files: &Files, path: impl AsRef<Path>) -> Result<Checkpoint> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let form = match is_safetensors(path) {
            true => safe::Safe::open(files, path).map(Form::Safe),
            false if is_old(files, path) => old::Old::open(files, path).map(Form::Old),
            false => bundle::Bundle::open(files, path).map(Form::Bundle),
        };
        let form = form.map_err(|e| e.note(format!("in checkpoint `{name}`")))?;
        Ok(Checkpoint { name, form })
    }

    /// The tensors, sorted by name.
    pub fn tensors(&self) -> Vec<(&str, Info)> {
        match &self.form {
            Form::Bundle(bundle) => bundle.tensors(),
            Form::Old(file) => file.tensors(),
            Form::Safe(file) => file.tensors(),
        }
    }

    /// The description of the tensor with this name.
    pub fn info(&self, name: &str) -> Option<Info> {
        match &self.form {
            Form::Bundle(bundle) => bundle.info(name),
            Form::Old(file) => file.info(name),
            Form::Safe(file) => file.info(name),
        }
    }

    /// Reads a tensor, assembled if it was saved in parts. `NOT_FOUND` if there is none of this name.
    pub fn read(&self, name: &str) -> Result<Tensor> {
        if self.info(name).is_none() {
            return Err(self.missing(name));
        }
        let tensor = match &self.form {
            Form::Bundle(bundle) => bundle.read(name),
            Form::Old(file) => file.read(name),
            Form::Safe(file) => file.read(name),
        };
        tensor.map_err(|e| e.note(format!("in tensor `{name}` of checkpoint `{}`", self.name)))
    }

    /// Reads a part of a tensor of shape `whole`.
    pub fn read_slice(&self, name: &str, whole: &Shape, slice: &Slice) -> Result<Tensor> {
        let tensor = self.read(name)?;
        ensure!(
            tensor.shape() == whole,
            "`{name}` is wanted as a part of a tensor of shape {whole} but its shape in checkpoint `{}` is {}",
            self.name,
            tensor.shape()
        );
        slice.cut(&tensor)
    }

    fn missing(&self, name: &str) -> Error {
        let all = self.tensors();
        let some: Vec<&str> = all.iter().take(8).map(|(name, _)| *name).collect();
        let more = if all.len() > 8 { format!(" and {} more", all.len() - 8) } else { String::new() };
        Error::new(Code::NotFound, format!("there is no tensor `{name}` in checkpoint `{}`", self.name))
            .led_by(format!("Key {name} not found in checkpoint"))
            .note(format!(
                "it holds {}{more}",
                if some.is_empty() { "nothing".into() } else { some.join(", ") }
            ))
    }
}

/// Returns an error unless a checkpoint can hold this name.
fn check_name(name: &str) -> Result<()> {
    ensure!(!name.is_empty(), "the name of a tensor in a checkpoint must not be empty");
    // Keys that begin with a zero byte belong to parts.
    ensure!(!name.starts_with('\0'), "the name {name:?} of a tensor in a checkpoint begins with a zero byte");
    Ok(())
}

/// The error for a damaged file.
fn corrupt(what: impl std::fmt::Display) -> Error {
    Error::new(Code::DataLoss, format!("the checkpoint is damaged: {what}"))
}

/// The shape of an entry. All sizes must be known, and their product must not overflow.
fn shape_of(dims: &[i64]) -> Result<Shape> {
    let shape = Shape::from_signed(dims).map_err(|e| corrupt(e.message()))?;
    shape.checked_elements().map_err(|e| corrupt(e.message()))?;
    ensure!(shape.rank() <= millstream_tensor::MAX_RANK, "a shape of {} dimensions", shape.rank());
    Ok(shape)
}

fn not_plain(dtype: DType) -> Error {
    invalid!("{dtype} cannot be saved in this format")
}
