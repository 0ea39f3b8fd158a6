//! [`AnyCompression`]: the compression that ops on TFRecord files are told.

use millstream_checkpoint::records::Compression;
use millstream_tensor::{Code, Error};

/// The name of a compression that need not be known: TensorFlow reads TFRecord files as they are then.
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

    /// The error of a record, which may come of an unknown name: one in small letters, for instance.
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
