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
#[derive(Debug)]
pub struct TextLineReader;
/// Whole files; a record's key is the file's name.
#[derive(Debug)]
pub struct WholeFileReader;
/// Records of equal length; a record's key is `FILE:NUMBER`.
#[derive(Debug)]
pub struct FixedLengthRecordReader;
/// Records of TFRecord files, as [`records`](crate::checkpoint::records) writes them; a record's key is
/// `FILE:OFFSET`.
#[derive(Debug)]
pub struct TfRecordReader;
/// The names of the files, as keys and as values.
#[derive(Debug)]
pub struct IdentityReader;

/// A builder of a [`Reader`].
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
    pub fn shared_name(self, name: impl Into<String>) -> Self {
        self.with("shared_name", name.into())
    }

    /// Adds the reader.
    pub fn build(self) -> Result<Reader<'g>> {
        let op = self.options.start(self.op).attrs(self.attrs).at(self.at).try_finish()?;
        Ok(Reader { handle: op.output(0) })
    }
}

impl TextLineReader {
    /// Returns a builder of a reader of lines.
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, TextLineReader> {
        ReaderBuilder::new(g, "TextLineReaderV2")
    }
}

impl ReaderBuilder<'_, TextLineReader> {
    /// Sets the number of lines to skip at the beginning of each file.
    pub fn skip_header_lines(self, lines: i64) -> Self {
        self.with("skip_header_lines", lines)
    }
}

impl WholeFileReader {
    /// Returns a builder of a reader of files.
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, WholeFileReader> {
        ReaderBuilder::new(g, "WholeFileReaderV2")
    }
}

impl FixedLengthRecordReader {
    /// Returns a builder of a reader of records of `record_bytes`.
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>, record_bytes: i64) -> ReaderBuilder<'g, FixedLengthRecordReader> {
        ReaderBuilder::new(g, "FixedLengthRecordReaderV2").with("record_bytes", record_bytes)
    }
}

impl ReaderBuilder<'_, FixedLengthRecordReader> {
    /// Sets the number of bytes to skip at the beginning of each file.
    pub fn header_bytes(self, bytes: i64) -> Self {
        self.with("header_bytes", bytes)
    }

    /// Sets the number of bytes to ignore at the end of each file.
    pub fn footer_bytes(self, bytes: i64) -> Self {
        self.with("footer_bytes", bytes)
    }

    /// Sets the distance between the beginnings of records; 0 means that they are adjacent.
    pub fn hop_bytes(self, bytes: i64) -> Self {
        self.with("hop_bytes", bytes)
    }

    /// Sets the compression of the files.
    pub fn encoding(self, compression: Compression) -> Self {
        self.with("encoding", name_of(compression))
    }
}

impl TfRecordReader {
    /// Returns a builder of a reader of TFRecord files.
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, TfRecordReader> {
        ReaderBuilder::new(g, "TFRecordReaderV2")
    }
}

impl ReaderBuilder<'_, TfRecordReader> {
    /// Sets the compression of the files.
    pub fn compression(self, compression: Compression) -> Self {
        self.with("compression_type", name_of(compression))
    }
}

impl IdentityReader {
    /// Returns a builder of a reader of names.
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
    pub fn handle(&self) -> Output<'g> {
        self.handle
    }

    /// Returns the graph.
    pub fn graph(&self) -> &'g Graph {
        self.handle.graph()
    }

    /// Returns the key and the value of the next record, string scalars. `names` is a queue of file names.
    #[track_caller]
    pub fn read(&self, names: &Queue<'g>) -> Result<(Output<'g>, Output<'g>)> {
        let op = self.graph().op("ReaderReadV2").input(self.handle).input(names.handle()).try_finish()?;
        Ok((op.output(0), op.output(1)))
    }

    /// Returns the keys and the values of up to `n` records of one file, at least one: string vectors.
    #[track_caller]
    pub fn read_up_to(&self, names: &Queue<'g>, n: impl Into<Arg<'g>>) -> Result<(Output<'g>, Output<'g>)> {
        let op = self.graph().op("ReaderReadUpToV2").input(self.handle).input(names.handle()).input(n);
        let op = op.try_finish()?;
        Ok((op.output(0), op.output(1)))
    }

    /// Returns the number of records read so far, an `int64` scalar.
    #[track_caller]
    pub fn num_records_produced(&self) -> Output<'g> {
        self.graph().reader().reader_num_records_produced_v2(self.handle)
    }

    /// Returns the number of files read to the end, an `int64` scalar.
    #[track_caller]
    pub fn num_work_units_completed(&self) -> Output<'g> {
        self.graph().reader().reader_num_work_units_completed_v2(self.handle)
    }

    /// Returns the reader's state, a string scalar. Only for readers that are never in the middle of a file.
    #[track_caller]
    pub fn serialize_state(&self) -> Output<'g> {
        self.graph().reader().reader_serialize_state_v2(self.handle)
    }

    /// Restores a state that [`Reader::serialize_state`] returned.
    #[track_caller]
    pub fn restore_state(&self, state: impl Into<Arg<'g>>) -> Op<'g> {
        self.graph().reader().reader_restore_state_v2(self.handle, state)
    }

    /// Leaves the current file and resets the counts.
    #[track_caller]
    pub fn reset(&self) -> Op<'g> {
        self.graph().reader().reader_reset_v2(self.handle)
    }
}
