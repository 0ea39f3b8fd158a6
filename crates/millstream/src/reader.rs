//! [`Reader`]: records of files whose names come from a queue.
//!
//! ```
//! use millstream::prelude::*;
//! use millstream::reader::TextLineReader;
//! # let file = std::env::temp_dir().join(format!("millstream-lines-{}.txt", std::process::id()));
//! # std::fs::write(&file, "name\nAda\nGrace\n").unwrap();
//! let g = Graph::new();
//! let names = Queue::fifo(&g, 10, [DType::Str]).shapes([shape![]]).make()?;
//! let reader = TextLineReader::new(&g).skip_header_lines(1).make()?;
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
//! A read at the end of a file takes the next name out of the queue, and waits while there is none. Several runs may read from one
//! reader at the same time: each record is read once. What a file should not hold is an error with file and place; every further
//! read tells it again, until [`Reader::reset`] leaves the file.
//!
//! Definition: TensorFlow's `tf.TextLineReader` and the other subclasses of `tf.ReaderBase`. Other than there a record that is cut off
//! within its header is an error too, as is a file without its header, and [`Reader::read_up_to`] gives the records before the damage first.

use crate::options::{Options, Start};
use crate::queue::Queue;
use millstream_checkpoint::records::Compression;
use millstream_graph::{Arg, Attr, Attrs, Graph, Op, Output};
use millstream_tensor::Result;
use std::marker::PhantomData;
use std::panic::Location;

/// Lines of text files, without their ends; a record's key is `FILE:LINE`.
pub struct TextLineReader;
/// Whole files; a record's key is the file's name.
pub struct WholeFileReader;
/// Records that are equally long; a record's key is `FILE:NUMBER`.
pub struct FixedLengthRecordReader;
/// Records of TFRecord files ([`millstream_checkpoint::records`] writes some); a record's key is `FILE:OFFSET`.
pub struct TfRecordReader;
/// The names themselves, as keys and as values.
pub struct IdentityReader;

/// A reader being described.
#[must_use = "the reader is made by `make`"]
pub struct ReaderBuilder<'g, K> {
    options: Options<'g>,
    op: &'static str,
    attrs: Attrs,
    at: &'static Location<'static>,
    kind: PhantomData<K>,
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

    /// The name under which sessions that share resources share the reader.
    pub fn shared_name(self, name: impl Into<String>) -> Self {
        self.with("shared_name", name.into())
    }

    /// Makes the reader.
    pub fn make(self) -> Result<Reader<'g>> {
        let op = self.options.start(self.op).attrs(self.attrs).at(self.at).try_finish()?;
        Ok(Reader { handle: op.output(0) })
    }
}

impl TextLineReader {
    /// Describes a reader of lines.
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, TextLineReader> {
        ReaderBuilder::new(g, "TextLineReaderV2")
    }
}

impl ReaderBuilder<'_, TextLineReader> {
    /// So many lines at the beginning of each file are passed over.
    pub fn skip_header_lines(self, lines: i64) -> Self {
        self.with("skip_header_lines", lines)
    }
}

impl WholeFileReader {
    /// Describes a reader of files.
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, WholeFileReader> {
        ReaderBuilder::new(g, "WholeFileReaderV2")
    }
}

impl FixedLengthRecordReader {
    /// Describes a reader of records of `record_bytes`.
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>, record_bytes: i64) -> ReaderBuilder<'g, FixedLengthRecordReader> {
        ReaderBuilder::new(g, "FixedLengthRecordReaderV2").with("record_bytes", record_bytes)
    }
}

impl ReaderBuilder<'_, FixedLengthRecordReader> {
    /// So many bytes at the beginning of each file are passed over.
    pub fn header_bytes(self, bytes: i64) -> Self {
        self.with("header_bytes", bytes)
    }

    /// So many bytes at the end of each file are no record.
    pub fn footer_bytes(self, bytes: i64) -> Self {
        self.with("footer_bytes", bytes)
    }

    /// Records begin so many bytes apart; 0 is one behind the other.
    pub fn hop_bytes(self, bytes: i64) -> Self {
        self.with("hop_bytes", bytes)
    }

    /// How the files are compressed.
    pub fn encoding(self, compression: Compression) -> Self {
        self.with("encoding", name_of(compression))
    }
}

impl TfRecordReader {
    /// Describes a reader of TFRecord files.
    #[track_caller]
    pub fn new<'g>(g: impl Start<'g>) -> ReaderBuilder<'g, TfRecordReader> {
        ReaderBuilder::new(g, "TFRecordReaderV2")
    }
}

impl ReaderBuilder<'_, TfRecordReader> {
    /// How the files are compressed.
    pub fn compression(self, compression: Compression) -> Self {
        self.with("compression_type", name_of(compression))
    }
}

impl IdentityReader {
    /// Describes a reader of names.
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

/// A reader: it gives the records of one file after the other.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'g> {
    handle: Output<'g>,
}

impl<'g> Reader<'g> {
    /// The handle: a resource.
    pub fn handle(&self) -> Output<'g> {
        self.handle
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.handle.graph()
    }

    /// The next record, its key and its value: string scalars. `names` holds names of files.
    #[track_caller]
    pub fn read(&self, names: &Queue<'g>) -> Result<(Output<'g>, Output<'g>)> {
        let op = self.graph().op("ReaderReadV2").input(self.handle).input(names.handle()).try_finish()?;
        Ok((op.output(0), op.output(1)))
    }

    /// Up to `n` records of one file, at least one, their keys and their values: string vectors.
    #[track_caller]
    pub fn read_up_to(&self, names: &Queue<'g>, n: impl Into<Arg<'g>>) -> Result<(Output<'g>, Output<'g>)> {
        let op = self.graph().op("ReaderReadUpToV2").input(self.handle).input(names.handle()).input(n);
        let op = op.try_finish()?;
        Ok((op.output(0), op.output(1)))
    }

    /// How many records it has given: an `int64` scalar.
    #[track_caller]
    pub fn num_records_produced(&self) -> Output<'g> {
        self.graph().op("ReaderNumRecordsProducedV2").input(self.handle).output()
    }

    /// How many files it has read to their ends: an `int64` scalar.
    #[track_caller]
    pub fn num_work_units_completed(&self) -> Output<'g> {
        self.graph().op("ReaderNumWorkUnitsCompletedV2").input(self.handle).output()
    }

    /// How far it is, as a string scalar. Only of readers that are never in the middle of a file.
    #[track_caller]
    pub fn serialize_state(&self) -> Output<'g> {
        self.graph().op("ReaderSerializeStateV2").input(self.handle).output()
    }

    /// Brings it to where the reader was whose [`Reader::serialize_state`] gave `state`.
    #[track_caller]
    pub fn restore_state(&self, state: impl Into<Arg<'g>>) -> Op<'g> {
        self.graph().op("ReaderRestoreStateV2").input(self.handle).input(state).finish()
    }

    /// Leaves the file that it is in, and forgets its counts.
    #[track_caller]
    pub fn reset(&self) -> Op<'g> {
        self.graph().op("ReaderResetV2").input(self.handle).finish()
    }
}
