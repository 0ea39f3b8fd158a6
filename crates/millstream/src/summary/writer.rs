//! [`FileWriter`]: event files, each written by a thread of its own, so that no run waits for a disk.

use super::file::EventFile;
use super::{IntoSummary, run_metadata};
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

/// How a [`FileWriter`] is to be.
#[derive(Clone, Debug)]
#[must_use = "the file is made by `open`"]
pub struct FileWriterBuilder {
    pub(super) logdir: PathBuf,
    pub(super) max_queue: usize,
    pub(super) flush_every: Duration,
    pub(super) suffix: String,
    pub(super) max_waiting: usize,
}

impl FileWriterBuilder {
    /// After how many events they are written, 10 by default, if not before. It is no limit: more may come while a disk is slow.
    pub fn max_queue(mut self, n: usize) -> Self {
        self.max_queue = n.max(1);
        self
    }

    /// After how many seconds events are written, 120 by default, if not before.
    pub fn flush_secs(mut self, seconds: f64) -> Self {
        self.flush_every = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self
    }

    /// How many bytes of events may wait for the disk, 256 MiB by default. More are refused.
    pub fn max_waiting_bytes(mut self, n: usize) -> Self {
        self.max_waiting = n;
        self
    }

    /// What the names of the files end in.
    pub fn filename_suffix(mut self, suffix: impl Into<String>) -> Self {
        self.suffix = suffix.into();
        self
    }

    /// Makes the folder, if it is not there, and the file.
    pub fn open(self) -> Result<FileWriter> {
        let file = EventFile::create(&self)?;
        Ok(FileWriter { file: Mutex::new(file), seen: Mutex::default(), options: self })
    }
}

/// Writes what a program says of itself to event files, which TensorBoard opens: summaries, graphs, logs and traces.
///
/// Adding an event never waits for the disk: a thread writes them, every [`FileWriterBuilder::flush_secs`] seconds or
/// [`FileWriterBuilder::max_queue`] events. What cannot be written is kept and tried again; the next call says what went wrong. A writer that is
/// dropped writes what it has; call [`FileWriter::close`] to hear of errors, which otherwise only the standard error is told of.
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
    /// The file of the day. Held while an event is handed over, never while one is written.
    file: Mutex<EventFile>,
    seen: Mutex<Seen>,
}

/// What readers want to see once.
#[derive(Debug, Default)]
struct Seen {
    /// Tags whose metadata are in the file.
    described: HashSet<String>,
    /// Tags of traces.
    traced: HashSet<String>,
}

impl FileWriter {
    /// A writer of a new file in this folder.
    pub fn new(logdir: impl AsRef<Path>) -> Result<FileWriter> {
        Self::builder(logdir).open()
    }

    /// A writer that is described further.
    pub fn builder(logdir: impl AsRef<Path>) -> FileWriterBuilder {
        FileWriterBuilder {
            logdir: logdir.as_ref().to_owned(),
            max_queue: 10,
            flush_every: Duration::from_secs(120),
            suffix: String::new(),
            max_waiting: 256 << 20,
        }
    }

    /// The folder.
    pub fn logdir(&self) -> &Path {
        &self.options.logdir
    }

    /// The file that is written, or was before the writer was closed.
    pub fn path(&self) -> PathBuf {
        self.file.lock().path().to_owned()
    }

    /// Adds the values of a summary: what a run made of a summary operation, or a [`Summary`](super::Summary).
    pub fn add_summary(&self, summary: impl IntoSummary, step: i64) -> Result<()> {
        let mut summary = summary.into_summary()?;
        {
            let mut seen = self.seen.lock();
            for value in summary.value.iter_mut().filter(|v| v.metadata.is_some()) {
                // Said once for each tag is enough.
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

    /// Notes that a session began or ended, or where a checkpoint is.
    pub fn add_session_log(&self, log: SessionLog, step: i64) -> Result<()> {
        self.add(What::SessionLog(log), step)
    }

    /// Adds what a run with [`RunOptions::trace`](millstream_runtime::RunOptions::trace) said of itself, under a tag of its own.
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
    pub fn flush(&self) -> Result<()> {
        // The lock is let go first: whoever adds events meanwhile does not wait.
        let flushing = self.file.lock().begin_flush();
        flushing.map_or(Ok(()), |flushing| flushing.wait())
    }

    /// Writes all events and closes the file. Adding more is an error until [`FileWriter::reopen`]. Closed already, it does nothing.
    ///
    /// After an error it is open still, and nothing is lost: closing, or dropping the writer, tries again.
    pub fn close(&self) -> Result<()> {
        self.flush()?;
        self.file.lock().close()
    }

    /// After [`FileWriter::close`]: goes on in a new file in the same folder. Open still, it does nothing.
    pub fn reopen(&self) -> Result<()> {
        let mut file = self.file.lock();
        if file.is_closed() {
            *file = EventFile::create(&self.options)?;
            *self.seen.lock() = Seen::default();
        }
        Ok(())
    }
}

/// Seconds since 1970.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// What adding to a closed file is.
pub(super) fn closed(path: &Path) -> Error {
    Error::new(Code::FailedPrecondition, format!("the event file `{}` is closed", path.display()))
        .with_help("call `reopen` to go on in a new file")
}
