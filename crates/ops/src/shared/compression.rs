//! [`AnyCompression`]: the compression that ops on TFRecord files are told.

use millstream_checkpoint::records::Compression;
use millstream_tensor::{Code, Error};

/// A compression by its name. With an unknown name TensorFlow reads TFRecord files as they are.
#[derive(Clone)]
pub(crate) struct AnyCompression {
    name: String,
    known: Option<Compression>,
}

impl AnyCompression {
    /// The compression of this name.
    pub(crate) fn of(name: String) -> AnyCompression {
        let known = Compression::parse(&name).ok();
        AnyCompression { name, known }
    }

    /// The compression to read with.
    pub(crate) fn known(&self) -> Compression {
        self.known.unwrap_or_default()
    }

    /// Adds to the error of a damaged record that the name is unknown: the file may be compressed after all.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match self.known {
            None if error.code() == Code::DataLoss => error.with_help(format!(
                "`compression_type` is {:?}, which is none of \"\", \"GZIP\" and \"ZLIB\": the file was read as it is",
                self.name
            )),
            _ => error,
        }
    }
}
