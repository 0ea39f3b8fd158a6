//! [`Reader`]: records of files whose names come from a queue.
//!
//! ```
//! use millstream::prelude::*;
//! use millstream::Queue;
//! use millstream::reader::TextLineReader;
//! # let file = std::env::temp_dir().join(format!("millstream-lines-{}.txt", std::process::id()));
//! # std::fs::write(&file, "name\nAda\nGrace\n").unwrap();
//! let g = Graph::new();
//! let names = Queue::fifo(&g, 10, [DType::Str]).shapes([shape![]]).build()?;
//! let reader = TextLineReader::new(&g).skip_header_lines(1).build()?;
//! let (key, value) = reader.read(&names)?;
//!
//! let session = Session::new(&g)?;
//! let name = g.placeholder_of("name", DType::Str, shape![]);
//! session.run::<()>(names.enqueue(name)?, feed![name => file.to_str().unwrap()])?;
//! let line: String = session.run(value, feed![])?;
//! assert_eq!(line, "Ada");
//! let (key, line): (String, String) = session.run((key, value), feed![])?;
//! assert!(key.ends_with(".txt:3"));
//! assert_eq!(line, "Grace");
//! # std::fs::remove_file(&file).ok();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A read at the end of a file dequeues the next name, and waits while there is none. Several runs may read
//! from one reader at the same time; each record is read once. Malformed data is an error that names the file
//! and the offset. Further reads return the same error until [`Reader::reset`] leaves the file.
//!
//! Definition: TensorFlow's `tf.TextLineReader` and the other subclasses of `tf.ReaderBase`. Unlike there, a
//! record that is truncated within its header is an error, as is a file without its header, and
//! [`Reader::read_up_to`] first returns the records before the damage.

use crate::ops::Ops;
use crate::options::{Options, Start};
use crate::queue::Queue;
use millstream_checkpoint::records::Compression;
use millstream_graph::{Arg, Attr, Attrs, Graph, Op, Output};
use millstream_tensor::Result;
use std::marker::PhantomData;
use std::panic::Location;

/// Lines of text files, without their ends; a record's key is `FILE:LINE`.
///
/// ```
/// use millstream::{RunQueues, train};
/// use millstream::prelude::*;
/// use millstream::reader::TextLineReader;
/// let g = Graph::new();
/// # let file = std::env::temp_dir().join(format!("millstream-text-lines-{}.txt", std::process::id()));
/// std::fs::write(&file, "name\nAda\nGrace\n").unwrap();
/// let files = train::string_input_producer(&g, [file.to_str().unwrap()]).build()?;
/// let (_, line) = TextLineReader::new(&g).skip_header_lines(1).build()?.read(&files)?;
/// let session = Session::new(&g)?;
/// let first = session.with_queue_runners(|_| session.run::<String>(line, feed![]))?;
/// assert_eq!(first.as_deref(), Some("Ada"));
/// # std::fs::remove_file(&file).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Debug)]
pub struct TextLineReader;
/// Whole files; a record's key is the file's name.
///
/// ```
/// use millstream::{RunQueues, train};
/// use millstream::prelude::*;
/// use millstream::reader::WholeFileReader;
/// let g = Graph::new();
/// # let file = std::env::temp_dir().join(format!("millstream-whole-{}.txt", std::process::id()));
/// # std::fs::write(&file, "all of it").unwrap();
/// let names = train::string_input_producer(&g, [file.to_str().unwrap()]).build()?;
/// let (_, text) = WholeFileReader::new(&g).build()?.read(&names)?;
/// let session = Session::new(&g)?;
/// let text = session.with_queue_runners(|_| session.run::<String>(text, feed![]))?;
/// assert_eq!(text.as_deref(), Some("all of it"));
/// # std::fs::remove_file(&file).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Debug)]
pub struct WholeFileReader;
/// Records of equal length; a record's key is `FILE:NUMBER`.
///
/// ```
/// use millstream::{RunQueues, train};
/// use millstream::prelude::*;
/// use millstream::reader::FixedLengthRecordReader;
/// let g = Graph::new();
/// # let file = std::env::temp_dir().join(format!("millstream-records-{}.bin", std::process::id()));
/// std::fs::write(&file, "headabcdef").unwrap();
/// let files = train::string_input_producer(&g, [file.to_str().unwrap()]).build()?;
/// let (_, record) = FixedLengthRecordReader::new(&g, 3).header_bytes(4).build()?.read(&files)?;
/// let session = Session::new(&g)?;
/// let both = session.with_queue_runners(|_| -> Result<_> {
///     Ok((session.run::<String>(record, feed![])?, session.run::<String>(record, feed![])?))
/// })?;
/// assert_eq!(both, Some(("abc".to_owned(), "def".to_owned())));
/// # std::fs::remove_file(&file).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Debug)]
pub struct FixedLengthRecordReader;
/// Records of TFRecord files, as [`records`](crate::checkpoint::records) writes them; a record's key is
/// `FILE:OFFSET`.
///
/// ```
/// use millstream::{RunQueues, train};
/// use millstream::checkpoint::records::{Compression, TfRecordWriter};
/// use millstream::prelude::*;
/// use millstream::reader::TfRecordReader;
/// let g = Graph::new();
/// # let file = std::env::temp_dir().join(format!("millstream-records-{}.tfrecord", std::process::id()));
/// let mut writer = TfRecordWriter::create(&file, Compression::None)?;
/// writer.write(b"one")?;
/// writer.close()?;
/// let files = train::string_input_producer(&g, [file.to_str().unwrap()]).build()?;
/// let (_, record) = TfRecordReader::new(&g).build()?.read(&files)?;
/// let session = Session::new(&g)?;
/// let first = session.with_queue_runners(|_| session.run::<String>(record, feed![]))?;
/// assert_eq!(first.as_deref(), Some("one"));
/// # std::fs::remove_file(&file).ok();
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Debug)]
pub struct TfRecordReader;
/// The names of the files, as keys and as values.
///
/// ```
/// use millstream::{RunQueues, train};
/// use millstream::prelude::*;
/// use millstream::reader::IdentityReader;
/// let g = Graph::new();
/// let names = train::string_input_producer(&g, ["a.txt"]).shuffle(false).build()?;
/// let (_, value) = IdentityReader::new(&g).build()?.read(&names)?;
/// let session = Session::new(&g)?;
/// let first = session.with_queue_runners(|_| session.run::<String>(value, feed![]))?;
/// assert_eq!(first.as_deref(), Some("a.txt"));
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Debug)]
pub struct IdentityReader;

/// A builder of a [`Reader`].
///
/// ```
/// use millstream::prelude::*;
/// use millstream::reader::TextLineReader;
/// let g = Graph::new();
/// let lines = TextLineReader::new(g.named("lines")).skip_header_lines(1).shared_name("input").build()?;
/// assert_eq!(lines.handle().op().name(), "lines");
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`build` adds the reader"]
pub struct ReaderBuilder<'g, K> {
    options: Options<'g>,
    op: &'static str,
    attrs: Attrs,
    at: &'static Location<'static>,
    kind: PhantomData<K>,
}

impl<K> std::fmt::Debug for ReaderBuilder<'_, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReaderBuilder")
            .field("op", &self.op)
            .field("attrs", &self.attrs)
            .finish_non_exhaustive()
    }
}

impl<'g, K> ReaderBuilder<'g, K> {
    #[track_caller]
    fn new(g: impl Start<'g>, op: &'static str) -> Self {
        let (options, attrs) = (g.options(), Attrs::new());
        ReaderBuilder { options, op, attrs, at: Location::caller(), kind: PhantomData }
    }

    fn with(mut self, attr: &'static str, value: impl Into<Attr>) -> Self {
        self.attrs.set(attr, value);
        self
    }

    /// Sets the name under which sessions with shared resources share the reader.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::TextLineReader;
    /// let g = Graph::new();
    /// TextLineReader::new(&g).shared_name("input").build()?; // one reader for sessions that share resources
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn shared_name(self, name: impl Into<String>) -> Self {
        self.with("shared_name", name.into())
    }

    /// Adds the reader.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::WholeFileReader;
    /// let g = Graph::new();
    /// let files = WholeFileReader::new(&g).build()?;
    /// assert!(files.graph().operation(files.handle().op().name().as_str()).is_ok());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn build(self) -> Result<Reader<'g>> {
        let op = self.options.start(self.op).attrs(self.attrs).at(self.at).try_finish()?;
        Ok(Reader { handle: op.output(0) })
    }
}

impl TextLineReader {
    /// Returns a builder of a reader of lines.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::TextLineReader;
    /// let g = Graph::new();
    /// let lines = TextLineReader::new(g.named("lines")).build()?;
    /// assert_eq!(lines.handle().op().name(), "lines");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, TextLineReader> {
        ReaderBuilder::new(g, "TextLineReaderV2")
    }
}

impl ReaderBuilder<'_, TextLineReader> {
    /// Sets the number of lines to skip at the beginning of each file.
    ///
    /// ```
    /// use millstream::{RunQueues, train};
    /// use millstream::prelude::*;
    /// use millstream::reader::TextLineReader;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-header-{}.csv", std::process::id()));
    /// std::fs::write(&file, "name,age\nAda,36\n").unwrap();
    /// let files = train::string_input_producer(&g, [file.to_str().unwrap()]).build()?;
    /// let (_, line) = TextLineReader::new(&g).skip_header_lines(1).build()?.read(&files)?;
    /// let session = Session::new(&g)?;
    /// let first = session.with_queue_runners(|_| session.run::<String>(line, feed![]))?;
    /// assert_eq!(first.as_deref(), Some("Ada,36"));
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn skip_header_lines(self, lines: i64) -> Self {
        self.with("skip_header_lines", lines)
    }
}

impl WholeFileReader {
    /// Returns a builder of a reader of files.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::WholeFileReader;
    /// let g = Graph::new();
    /// let files = WholeFileReader::new(g.named("files")).build()?;
    /// assert_eq!(files.handle().op().name(), "files");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, WholeFileReader> {
        ReaderBuilder::new(g, "WholeFileReaderV2")
    }
}

impl FixedLengthRecordReader {
    /// Returns a builder of a reader of records of `record_bytes`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::FixedLengthRecordReader;
    /// let g = Graph::new();
    /// let records = FixedLengthRecordReader::new(g.named("records"), 32).build()?;
    /// assert_eq!(records.handle().op().name(), "records");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>, record_bytes: i64) -> ReaderBuilder<'g, FixedLengthRecordReader> {
        ReaderBuilder::new(g, "FixedLengthRecordReaderV2").with("record_bytes", record_bytes)
    }
}

impl ReaderBuilder<'_, FixedLengthRecordReader> {
    /// Sets the number of bytes to skip at the beginning of each file.
    ///
    /// ```
    /// use millstream::{RunQueues, train};
    /// use millstream::prelude::*;
    /// use millstream::reader::FixedLengthRecordReader;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-head-{}.bin", std::process::id()));
    /// std::fs::write(&file, "headabc").unwrap();
    /// let files = train::string_input_producer(&g, [file.to_str().unwrap()]).build()?;
    /// let (_, record) = FixedLengthRecordReader::new(&g, 3).header_bytes(4).build()?.read(&files)?;
    /// let session = Session::new(&g)?;
    /// let first = session.with_queue_runners(|_| session.run::<String>(record, feed![]))?;
    /// assert_eq!(first.as_deref(), Some("abc"));
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn header_bytes(self, bytes: i64) -> Self {
        self.with("header_bytes", bytes)
    }

    /// Sets the number of bytes to ignore at the end of each file.
    ///
    /// ```
    /// use millstream::{RunQueues, train};
    /// use millstream::prelude::*;
    /// use millstream::reader::FixedLengthRecordReader;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-foot-{}.bin", std::process::id()));
    /// std::fs::write(&file, "abcdefend").unwrap();
    /// let files = train::string_input_producer(&g, [file.to_str().unwrap()]).num_epochs(1).build()?;
    /// let (_, record) = FixedLengthRecordReader::new(&g, 3).footer_bytes(3).build()?.read(&files)?;
    /// let init = g.local_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// let mut records = Vec::new();
    /// session.with_queue_runners(|_| -> Result<()> {
    ///     loop {
    ///         records.push(session.run::<String>(record, feed![])?);
    ///     }
    /// })?;
    /// assert_eq!(records, ["abc", "def"]);
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn footer_bytes(self, bytes: i64) -> Self {
        self.with("footer_bytes", bytes)
    }

    /// Sets the distance between the beginnings of records; 0 means that they are adjacent.
    ///
    /// ```
    /// use millstream::{RunQueues, train};
    /// use millstream::prelude::*;
    /// use millstream::reader::FixedLengthRecordReader;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-hop-{}.bin", std::process::id()));
    /// std::fs::write(&file, "abcd").unwrap();
    /// let files = train::string_input_producer(&g, [file.to_str().unwrap()]).build()?;
    /// let (_, record) = FixedLengthRecordReader::new(&g, 3).hop_bytes(1).build()?.read(&files)?;
    /// let session = Session::new(&g)?;
    /// let both = session.with_queue_runners(|_| -> Result<_> {
    ///     Ok((session.run::<String>(record, feed![])?, session.run::<String>(record, feed![])?))
    /// })?;
    /// assert_eq!(both, Some(("abc".to_owned(), "bcd".to_owned()))); // records overlap
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn hop_bytes(self, bytes: i64) -> Self {
        self.with("hop_bytes", bytes)
    }

    /// Sets the compression of the files.
    ///
    /// ```
    /// use millstream::checkpoint::records::Compression;
    /// use millstream::prelude::*;
    /// use millstream::reader::FixedLengthRecordReader;
    /// let g = Graph::new();
    /// FixedLengthRecordReader::new(&g, 32).encoding(Compression::Gzip).build()?;
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn encoding(self, compression: Compression) -> Self {
        self.with("encoding", name_of(compression))
    }
}

impl TfRecordReader {
    /// Returns a builder of a reader of TFRecord files.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::TfRecordReader;
    /// let g = Graph::new();
    /// let records = TfRecordReader::new(g.named("records")).build()?;
    /// assert_eq!(records.handle().op().name(), "records");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, TfRecordReader> {
        ReaderBuilder::new(g, "TFRecordReaderV2")
    }
}

impl ReaderBuilder<'_, TfRecordReader> {
    /// Sets the compression of the files.
    ///
    /// ```
    /// use millstream::{RunQueues, train};
    /// use millstream::checkpoint::records::{Compression, TfRecordWriter};
    /// use millstream::prelude::*;
    /// use millstream::reader::TfRecordReader;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-gzip-{}.tfrecord", std::process::id()));
    /// let mut writer = TfRecordWriter::create(&file, Compression::Gzip)?;
    /// writer.write(b"one")?;
    /// writer.close()?;
    /// let files = train::string_input_producer(&g, [file.to_str().unwrap()]).build()?;
    /// let (_, record) = TfRecordReader::new(&g).compression(Compression::Gzip).build()?.read(&files)?;
    /// let session = Session::new(&g)?;
    /// let first = session.with_queue_runners(|_| session.run::<String>(record, feed![]))?;
    /// assert_eq!(first.as_deref(), Some("one"));
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn compression(self, compression: Compression) -> Self {
        self.with("compression_type", name_of(compression))
    }
}

impl IdentityReader {
    /// Returns a builder of a reader of names.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::IdentityReader;
    /// let g = Graph::new();
    /// let names = IdentityReader::new(g.named("names")).build()?;
    /// assert_eq!(names.handle().op().name(), "names");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, IdentityReader> {
        ReaderBuilder::new(g, "IdentityReaderV2")
    }
}

fn name_of(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "",
        Compression::Gzip => "GZIP",
        Compression::Zlib => "ZLIB",
    }
}

/// A reader: returns the records of one file after the other.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'g> {
    handle: Output<'g>,
}

impl<'g> Reader<'g> {
    /// Returns the handle, a resource.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::IdentityReader;
    /// let g = Graph::new();
    /// assert_eq!(IdentityReader::new(&g).build()?.handle().dtype()?, DType::Resource);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn handle(&self) -> Output<'g> {
        self.handle
    }

    /// Returns the graph.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::IdentityReader;
    /// let g = Graph::new();
    /// let names = IdentityReader::new(&g).build()?;
    /// assert!(names.graph().same(&g));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn graph(&self) -> &'g Graph {
        self.handle.graph()
    }

    /// Returns the key and the value of the next record, string scalars. `names` is a queue of file names.
    ///
    /// ```
    /// use millstream::{RunQueues, train};
    /// use millstream::prelude::*;
    /// use millstream::reader::IdentityReader;
    /// let g = Graph::new();
    /// let files = train::string_input_producer(&g, ["a.txt"]).build()?;
    /// let (key, value) = IdentityReader::new(&g).build()?.read(&files)?;
    /// let session = Session::new(&g)?;
    /// let first = session.with_queue_runners(|_| session.run::<(String, String)>((key, value), feed![]))?;
    /// assert_eq!(first, Some(("a.txt".to_owned(), "a.txt".to_owned())));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn read(&self, names: &Queue<'g>) -> Result<(Output<'g>, Output<'g>)> {
        let op = self.graph().op("ReaderReadV2").input(self.handle).input(names.handle()).try_finish()?;
        Ok((op.output(0), op.output(1)))
    }

    /// Returns the keys and the values of up to `n` records of one file, at least one: string vectors.
    ///
    /// ```
    /// use millstream::{RunQueues, train};
    /// use millstream::prelude::*;
    /// use millstream::reader::TextLineReader;
    /// let g = Graph::new();
    /// # let file = std::env::temp_dir().join(format!("millstream-up-to-{}.txt", std::process::id()));
    /// std::fs::write(&file, "a\nb\nc\n").unwrap();
    /// let files = train::string_input_producer(&g, [file.to_str().unwrap()]).build()?;
    /// let (_, lines) = TextLineReader::new(&g).build()?.read_up_to(&files, 2i64)?;
    /// let session = Session::new(&g)?;
    /// let first = session.with_queue_runners(|_| session.run::<Tensor>(lines, feed![]))?;
    /// assert_eq!(first.expect("two lines").to_string(), r#"str[2] ["a" "b"]"#);
    /// # std::fs::remove_file(&file).ok();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn read_up_to(&self, names: &Queue<'g>, n: impl Into<Arg<'g>>) -> Result<(Output<'g>, Output<'g>)> {
        let op = self.graph().op("ReaderReadUpToV2").input(self.handle).input(names.handle()).input(n);
        let op = op.try_finish()?;
        Ok((op.output(0), op.output(1)))
    }

    /// Returns the number of records read so far, an `int64` scalar.
    ///
    /// ```
    /// use millstream::{RunQueues, train};
    /// use millstream::prelude::*;
    /// use millstream::reader::IdentityReader;
    /// let g = Graph::new();
    /// let files = train::string_input_producer(&g, ["a.txt", "b.txt"]).build()?;
    /// let reader = IdentityReader::new(&g).build()?;
    /// let ((_, name), count) = (reader.read(&files)?, reader.num_records_produced());
    /// let session = Session::new(&g)?;
    /// let count = session.with_queue_runners(|_| -> Result<i64> {
    ///     session.run::<String>(name, feed![])?;
    ///     session.run::<String>(name, feed![])?;
    ///     session.run(count, feed![])
    /// })?;
    /// assert_eq!(count, Some(2));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn num_records_produced(&self) -> Output<'g> {
        self.graph().reader().reader_num_records_produced_v2(self.handle)
    }

    /// Returns the number of files read to the end, an `int64` scalar.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::IdentityReader;
    /// let g = Graph::new();
    /// let count = IdentityReader::new(&g).build()?.num_work_units_completed();
    /// assert_eq!(Session::new(&g)?.run::<i64>(count, feed![])?, 0); // nothing was read
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn num_work_units_completed(&self) -> Output<'g> {
        self.graph().reader().reader_num_work_units_completed_v2(self.handle)
    }

    /// Returns the reader's state, a string scalar. Only for readers that are never in the middle of a file.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::IdentityReader;
    /// let g = Graph::new();
    /// let reader = IdentityReader::new(&g).build()?;
    /// let state = g.placeholder_of("state", DType::Str, shape![]);
    /// let (saved, restored) = (reader.serialize_state(), reader.restore_state(state));
    /// let session = Session::new(&g)?;
    /// let saved: Tensor = session.run(saved, feed![])?;
    /// session.run::<()>(restored, feed![state => saved])?;
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn serialize_state(&self) -> Output<'g> {
        self.graph().reader().reader_serialize_state_v2(self.handle)
    }

    /// Restores a state that [`Reader::serialize_state`] returned.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::IdentityReader;
    /// let g = Graph::new();
    /// let reader = IdentityReader::new(&g).build()?;
    /// let again = reader.restore_state(reader.serialize_state());
    /// Session::new(&g)?.run::<()>(again, feed![])?;
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn restore_state(&self, state: impl Into<Arg<'g>>) -> Op<'g> {
        self.graph().reader().reader_restore_state_v2(self.handle, state)
    }

    /// Leaves the current file and resets the counts.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::reader::IdentityReader;
    /// let g = Graph::new();
    /// let reader = IdentityReader::new(&g).build()?;
    /// let (reset, count) = (reader.reset(), reader.num_records_produced());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(reset, feed![])?;
    /// assert_eq!(session.run::<i64>(count, feed![])?, 0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn reset(&self) -> Op<'g> {
        self.graph().reader().reader_reset_v2(self.handle)
    }
}
