//! [`summary_iterator`]: reading event files.

use millstream_checkpoint::records::{Compression, RecordReader, Source, tf_record_iterator};
use millstream_interop::proto::{Event, decode};
use millstream_tensor::{Code, Error, Result};
use std::fmt;
use std::path::{Path, PathBuf};

/// An iterator over the events of a file. It ends after an error.
pub struct Events {
    records: RecordReader<Source>,
    path: PathBuf,
    n_read: usize,
}

/// Reads an event file of Millstream or TensorFlow.
///
/// Definition: TensorFlow's `tf.train.summary_iterator`. For an example see
/// [`FileWriter`](super::FileWriter).
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary::{FileWriter, numbers, summary_iterator};
/// let g = Graph::new();
/// # let folder = std::env::temp_dir().join(format!("millstream-doc-iterator-{}", std::process::id()));
/// let writer = FileWriter::new(&folder)?;
/// writer.add_summary(numbers([("loss", 0.5)]), 7)?;
/// writer.close()?;
/// let steps = summary_iterator(writer.path())?.map(|event| Ok(event?.step));
/// let steps: Vec<i64> = steps.collect::<Result<_>>()?;
/// assert_eq!(steps, [0, 7]); // the version, and the summary
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
pub fn summary_iterator(path: impl AsRef<Path>) -> Result<Events> {
    let path = path.as_ref();
    Ok(Events { records: tf_record_iterator(path, Compression::None)?, path: path.to_owned(), n_read: 0 })
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Events({} read of {})", self.n_read, self.path.display())
    }
}

impl Iterator for Events {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Result<Event>> {
        let record = self.records.next()?;
        self.n_read += 1;
        Some(record.and_then(|bytes| {
            decode(&bytes).map_err(|cause| {
                let (n, path) = (self.n_read, self.path.display());
                Error::new(Code::DataLoss, format!("record {n} of `{path}` is not an event"))
                    .note(cause.to_string())
            })
        }))
    }
}
