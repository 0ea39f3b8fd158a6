//! [`FileWriter`]: event files, each written by its own thread, so that no run waits for a disk.

use super::file::EventFile;
use super::{IntoSummary, run_metadata};
use millstream_files::Files;
use millstream_graph::Graph;
use millstream_interop::proto::event::What;
use millstream_interop::proto::{Event, GraphDef, MetaGraphDef, SessionLog, TaggedRunMetadata, encode};
use millstream_interop::{add_output_shapes, export_meta_graph};
use millstream_runtime::RunMetadata;
use millstream_tensor::{Code, Error, Result, ensure, invalid};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A builder of a [`FileWriter`].
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary::{FileWriter, numbers};
/// let g = Graph::new();
/// # let folder = std::env::temp_dir().join(format!("millstream-doc-builder-{}", std::process::id()));
/// let writer = FileWriter::builder(&folder).flush_secs(1.0).filename_suffix(".train").build()?;
/// writer.add_summary(numbers([("loss", 0.5)]), 1)?;
/// writer.close()?;
/// assert!(writer.path().to_str().unwrap().ends_with(".train"));
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "`build` opens the file"]
pub struct FileWriterBuilder {
    pub(super) logdir: PathBuf,
    pub(super) max_queue: usize,
    pub(super) flush_every: Duration,
    pub(super) suffix: String,
    pub(super) max_waiting: usize,
    pub(super) files: Files,
}

impl FileWriterBuilder {
    /// Sets the number of events after which they are written; 10 by default. It is not a limit: more events
    /// may wait while a disk is slow.
    pub fn max_queue(mut self, n: usize) -> Self {
        self.max_queue = n.max(1);
        self
    }

    /// Sets the number of seconds after which events are written; 120 by default.
    pub fn flush_secs(mut self, seconds: f64) -> Self {
        self.flush_every = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self
    }

    /// Sets how many bytes of events may wait for the disk; 256 MiB by default. Further events are refused.
    pub fn max_waiting_bytes(mut self, n: usize) -> Self {
        self.max_waiting = n;
        self
    }

    /// Sets the suffix of the files' names.
    pub fn filename_suffix(mut self, suffix: impl Into<String>) -> Self {
        self.suffix = suffix.into();
        self
    }

    /// Sets the disk; for tests.
    #[doc(hidden)]
    pub fn files(mut self, files: Files) -> Self {
        self.files = files;
        self
    }

    /// Creates the folder, if it does not exist, and the file.
    pub fn build(self) -> Result<FileWriter> {
        let file = EventFile::create(&self)?;
        Ok(FileWriter { file: Mutex::new(file), seen: Mutex::default(), options: self })
    }
}

/// A writer of event files for TensorBoard: summaries, graphs, logs and traces.
///
/// Adding an event never waits for the disk: a thread writes them, every [`FileWriterBuilder::flush_secs`]
/// seconds or [`FileWriterBuilder::max_queue`] events. Events that cannot be written are kept and tried
/// again, and the next call returns the error. Dropping a writer writes all events and prints errors to the
/// standard error; [`FileWriter::close`] returns them.
///
/// Definition: TensorFlow's `tf.summary.FileWriter`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary::{self, FileWriter};
///
/// # let folder = std::env::temp_dir().join(format!("millstream-doc-events-{}", std::process::id()));
/// let g = Graph::new();
/// let x = g.placeholder::<f32>("x", shape![]);
/// let loss = summary::scalar(&g, "loss", x * 2.0);
/// let session = Session::new(&g)?;
///
/// let writer = FileWriter::new(&folder)?;
/// writer.add_graph(&g, 0)?;
/// for step in 0..3i64 {
///     let made: Tensor = session.run(loss, feed![x => step as f32])?;
///     writer.add_summary(&made, step)?;
/// }
/// writer.close()?;
///
/// let events = summary::summary_iterator(writer.path())?.collect::<Result<Vec<_>>>()?;
/// assert_eq!(events.len(), 6, "the version, the graph and its collections, three summaries");
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Debug)]
pub struct FileWriter {
    options: FileWriterBuilder,
    /// The current file. Locked while an event is passed to its thread, not while one is written.
    file: Mutex<EventFile>,
    seen: Mutex<Seen>,
}

/// Metadata that a file needs only once.
#[derive(Debug, Default)]
struct Seen {
    /// Tags whose metadata the file has.
    described: HashSet<String>,
    /// Tags of the traces in the file.
    traced: HashSet<String>,
}

impl FileWriter {
    /// Creates a writer of a new file in this folder.
    pub fn new(logdir: impl AsRef<Path>) -> Result<FileWriter> {
        Self::builder(logdir).build()
    }

    /// Returns a builder of a writer in this folder.
    pub fn builder(logdir: impl AsRef<Path>) -> FileWriterBuilder {
        FileWriterBuilder {
            logdir: logdir.as_ref().to_owned(),
            max_queue: 10,
            flush_every: Duration::from_secs(120),
            suffix: String::new(),
            max_waiting: 256 << 20,
            files: Files::everything(),
        }
    }

    /// Returns the folder.
    pub fn logdir(&self) -> &Path {
        &self.options.logdir
    }

    /// Returns the path of the current file, or of the last one if the writer is closed.
    pub fn path(&self) -> PathBuf {
        self.file.lock().path().to_owned()
    }

    /// Adds a summary: the value of a summary operation, or a [`Summary`](super::Summary).
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary::{FileWriter, numbers};
    /// let g = Graph::new();
    /// # let folder = std::env::temp_dir().join(format!("millstream-doc-add-{}", std::process::id()));
    /// let writer = FileWriter::new(&folder)?;
    /// writer.add_summary(numbers([("loss", 0.5)]), 1)?;
    /// writer.close()?;
    /// # std::fs::remove_dir_all(&folder).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn add_summary(&self, summary: impl IntoSummary, step: i64) -> Result<()> {
        let mut summary = summary.into_summary()?;
        {
            let mut seen = self.seen.lock();
            for value in summary.value.iter_mut().filter(|v| v.metadata.is_some()) {
                // Metadata is written once per tag.
                if !seen.described.insert(value.tag.clone()) {
                    value.metadata = None;
                }
            }
        }
        self.add(What::Summary(summary), step)
    }

    /// Adds a graph, with the shapes of its values, and the `MetaGraphDef` of its collections and contexts.
    pub fn add_graph(&self, graph: &Graph, step: i64) -> Result<()> {
        graph.check()?;
        let mut meta = export_meta_graph(graph)?;
        if let Some(def) = &mut meta.graph_def {
            add_output_shapes(def, graph);
            self.add_graph_def(def, step)?;
        }
        self.add_meta_graph(&meta, step)
    }

    /// Adds a graph as a message.
    pub fn add_graph_def(&self, graph: &GraphDef, step: i64) -> Result<()> {
        self.add(What::GraphDef(encode(graph)), step)
    }

    /// Adds a graph with its collections.
    pub fn add_meta_graph(&self, graph: &MetaGraphDef, step: i64) -> Result<()> {
        self.add(What::MetaGraphDef(encode(graph)), step)
    }

    /// Adds the start or end of a session, or the path of a checkpoint.
    pub fn add_session_log(&self, log: SessionLog, step: i64) -> Result<()> {
        self.add(What::SessionLog(log), step)
    }

    /// Adds what a run with [`RunOptions::trace`](millstream_runtime::RunOptions::trace) recorded, under a
    /// unique tag.
    ///
    /// ```
    /// use millstream::RunOptions;
    /// use millstream::prelude::*;
    /// use millstream::summary::FileWriter;
    /// let g = Graph::new();
    /// # let folder = std::env::temp_dir().join(format!("millstream-doc-run-{}", std::process::id()));
    /// let x = g.constant(2.0f32) + 1.0;
    /// let options = RunOptions { trace: true, ..RunOptions::default() };
    /// let (_, metadata) = Session::new(&g)?.run_with::<f32>(x, feed![], &options)?;
    /// let writer = FileWriter::new(&folder)?;
    /// writer.add_run_metadata(&metadata, "step 1", 1)?;
    /// assert!(writer.add_run_metadata(&metadata, "step 1", 2).is_err()); // a tag is unique
    /// writer.close()?;
    /// # std::fs::remove_dir_all(&folder).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn add_run_metadata(&self, run: &RunMetadata, tag: &str, step: i64) -> Result<()> {
        let Some(trace) = &run.trace else {
            return Err(invalid!("the run of `{tag}` has no trace")
                .with_help("run with `RunOptions { trace: true, .. }`"));
        };
        ensure!(
            self.seen.lock().traced.insert(tag.to_owned()),
            "The provided tag was already used for this event type: `{tag}`"
        );
        let run_metadata = encode(&run_metadata::message(trace));
        self.add(What::TaggedRunMetadata(TaggedRunMetadata { tag: tag.into(), run_metadata }), step)
    }

    /// Adds an event of any kind.
    pub fn add_event(&self, event: &Event) -> Result<()> {
        self.file.lock().add(event)
    }

    fn add(&self, what: What, step: i64) -> Result<()> {
        self.add_event(&Event { wall_time: now(), step, what: Some(what) })
    }

    /// Waits until all events added so far are in the file.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary::{FileWriter, numbers, summary_iterator};
    /// let g = Graph::new();
    /// # let folder = std::env::temp_dir().join(format!("millstream-doc-flush-{}", std::process::id()));
    /// let writer = FileWriter::new(&folder)?;
    /// writer.add_summary(numbers([("loss", 0.5)]), 1)?;
    /// writer.flush()?;
    /// assert_eq!(summary_iterator(writer.path())?.count(), 2); // the version, and the summary
    /// # drop(writer);
    /// # std::fs::remove_dir_all(&folder).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn flush(&self) -> Result<()> {
        // The lock is released first, so that others can add events meanwhile.
        let flushing = self.file.lock().begin_flush();
        flushing.map_or(Ok(()), |flushing| flushing.wait())
    }

    /// Writes all events and closes the file. Adding events is an error until [`FileWriter::reopen`]. Does
    /// nothing if the file is closed.
    ///
    /// After an error the file is still open and nothing is lost: closing again, or dropping the writer,
    /// tries again.
    pub fn close(&self) -> Result<()> {
        self.flush()?;
        self.file.lock().close()
    }

    /// Continues in a new file in the same folder after [`FileWriter::close`]. Does nothing if the file is
    /// open.
    pub fn reopen(&self) -> Result<()> {
        let mut file = self.file.lock();
        if file.is_closed() {
            *file = EventFile::create(&self.options)?;
            *self.seen.lock() = Seen::default();
        }
        Ok(())
    }
}

/// Returns the seconds since 1970.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// Returns the error for adding to a closed file.
pub(super) fn closed(path: &Path) -> Error {
    Error::new(Code::FailedPrecondition, format!("the event file `{}` is closed", path.display()))
        .with_help("call `reopen` to continue in a new file")
}
