//! Records: byte strings in a file, each with its checksums, in the format of TFRecord files and
//! TensorBoard's event files.
//!
//! ```text
//!   length (u64, little endian) │ masked CRC-32C of the length │ data │ masked CRC-32C of the data
//! ```
//!
//! [`RecordWriter`] and [`RecordReader`] work on any stream; [`TfRecordWriter`] and [`tf_record_iterator`]
//! work on files, which may be compressed as a whole. Memory is allocated for bytes that are present, never
//! because a length claims them.

use crate::bytes::{Cursor, is_sum, mask};
use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Decompress, FlushDecompress, Status, bufread::MultiGzDecoder};
use millstream_files::{Files, Output, Watch, file_error, folder_of};
use millstream_tensor::{Code, Error, Result, invalid};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The number of bytes of a record before its data: the length and its checksum.
const HEADER: usize = 12;
/// The number of bytes of a record after its data: the checksum of the data.
const FOOTER: usize = 4;

/// Writes records to a stream. It makes many small writes, so the stream should be buffered.
#[derive(Debug)]
pub struct RecordWriter<W: Write> {
    to: W,
}

impl<W: Write> RecordWriter<W> {
    /// A writer to this stream.
    pub fn new(to: W) -> Self {
        RecordWriter { to }
    }

    /// Writes a record.
    pub fn write(&mut self, data: &[u8]) -> io::Result<()> {
        let length = (data.len() as u64).to_le_bytes();
        self.to.write_all(&length)?;
        self.to.write_all(&mask(crc32c::crc32c(&length)).to_le_bytes())?;
        self.to.write_all(data)?;
        self.to.write_all(&mask(crc32c::crc32c(data)).to_le_bytes())
    }

    /// Flushes the stream.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// The stream.
    pub fn get_ref(&self) -> &W {
        &self.to
    }

    /// Returns the stream.
    pub fn into_inner(self) -> W {
        self.to
    }
}

/// Reads records from a stream. As an iterator, it ends after an error, since the start of the next record is
/// unknown then.
///
/// ```
/// use millstream_checkpoint::records::{RecordReader, RecordWriter};
/// let mut writer = RecordWriter::new(Vec::new());
/// writer.write(b"one")?;
/// writer.write(b"two")?;
/// let file = writer.into_inner();
/// let mut reader = RecordReader::new(&file[..], "a.tfrecord");
/// assert_eq!(reader.record()?, Some(b"one".to_vec()));
/// let mut cut = RecordReader::new(&file[..18], "a.tfrecord");
/// let error = cut.record().unwrap_err();
/// assert_eq!(error.message(), "truncated record at 0");
/// let note = "`a.tfrecord` is damaged: the record at byte 0 has 3 bytes of data and a checksum, 7 in all, \
///     but 6 are left";
/// assert_eq!(error.notes(), [note]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RecordReader<R: Read> {
    from: R,
    name: String,
    /// The start of the next record.
    offset: u64,
    /// What was read of the next record when a run was called off.
    header: Vec<u8>,
    data: Vec<u8>,
    /// The error that was found; later reads return it again.
    damage: Option<Error>,
    over: bool,
    lenient: bool,
}

impl<R: Read> RecordReader<R> {
    /// A reader of a buffered stream. Errors name it `name`.
    pub fn new(from: R, name: impl Into<String>) -> Self {
        RecordReader {
            from,
            name: name.into(),
            offset: 0,
            header: Vec::new(),
            data: Vec::new(),
            damage: None,
            over: false,
            lenient: false,
        }
    }

    /// Returns a reader that takes a cut-off header at the end of the stream for the end of the records, as
    /// TensorFlow's `TFRecordDataset` does. Without this it is a `DATA_LOSS` error.
    #[must_use]
    pub fn lenient(self) -> Self {
        RecordReader { lenient: true, ..self }
    }

    /// The stream.
    pub fn get_ref(&self) -> &R {
        &self.from
    }

    /// The start of the next record, in bytes after decompression.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next record; `None` at the end. After an error in the file, every call returns the same error. If
    /// the run that reads is called off, the next call goes on where this one ended.
    pub fn record(&mut self) -> Result<Option<Vec<u8>>> {
        if let Some(damage) = &self.damage {
            return Err(damage.clone());
        }
        let record = self.next_record();
        let is_of_file = |e: &&Error| matches!(e.code(), Code::DataLoss | Code::ResourceExhausted);
        self.damage = record.as_ref().err().filter(is_of_file).cloned();
        record
    }

    fn next_record(&mut self) -> Result<Option<Vec<u8>>> {
        let at = self.offset;
        let place = |e: Error| e.note(format!("of the record at byte {at}"));
        read_on(&mut self.from, HEADER as u64, &self.name, &mut self.header).map_err(place)?;
        if self.header.is_empty() {
            return Ok(None);
        }
        if self.header.len() < HEADER {
            let left = self.header.len();
            if self.lenient {
                self.header.clear();
                return Ok(None);
            }
            return Err(self.damaged(
                "truncated",
                format!("a record's {HEADER} bytes of header are at byte {at}, but {left} are left"),
            ));
        }
        let mut cursor = Cursor(&self.header);
        let length = u64::from(cursor.fixed32()?) | u64::from(cursor.fixed32()?) << 32;
        let sum = cursor.fixed32()?;
        self.check("the length of the record", &self.header[..8], sum)?;
        let both = length.saturating_add(FOOTER as u64);
        read_on(&mut self.from, both, &self.name, &mut self.data).map_err(place)?;
        let mut data = std::mem::take(&mut self.data);
        if (data.len() as u64) < both {
            let left = data.len();
            return Err(self.damaged("truncated", format!(
                "the record at byte {at} has {length} bytes of data and a checksum, {both} in all, but {left} are left"
            )));
        }
        self.header.clear();
        let sum = data.split_off(data.len() - FOOTER);
        self.check("the data of the record", &data, Cursor(&sum).fixed32()?)?;
        self.offset = at.saturating_add(both).saturating_add(HEADER as u64);
        Ok(Some(data))
    }

    fn check(&self, what: &str, bytes: &[u8], masked: u32) -> Result<()> {
        let crc = crc32c::crc32c(bytes);
        match is_sum(masked, crc) {
            true => Ok(()),
            false => Err(self.damaged(
                "corrupted",
                format!(
                    "the checksum of {what} at byte {} is {:#010x} but the file has {masked:#010x}",
                    self.offset,
                    mask(crc)
                ),
            )),
        }
    }

    fn damaged(&self, how: &str, what: String) -> Error {
        Error::new(Code::DataLoss, format!("`{}` is damaged: {what}", self.name))
            .led_by(format!("{how} record at {}", self.offset))
    }
}

impl<R: Read> Iterator for RecordReader<R> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        if self.over {
            return None;
        }
        let next = self.record().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}

pub use millstream_files::{read_bounded, read_on, too_long};

/// The compression of a whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// The gzip format.
    Gzip,
    /// The zlib format: the same compressed data with a smaller header.
    Zlib,
}

impl Compression {
    /// The compression with this name in TensorFlow: `""`, `"NONE"`, `"GZIP"`, `"ZLIB"`.
    pub fn parse(name: &str) -> Result<Compression> {
        match name {
            "" | "NONE" => Ok(Compression::None),
            "GZIP" => Ok(Compression::Gzip),
            "ZLIB" => Ok(Compression::Zlib),
            _ => Err(invalid!(
                "Unsupported compression_type.";
                "unknown compression {name:?}: expected \"\", \"GZIP\" or \"ZLIB\""
            )),
        }
    }

    /// A reader of the decompressed stream. An empty stream is read as empty, whatever the compression.
    pub fn reader(self, mut from: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
        if self == Compression::None || from.fill_buf()?.is_empty() {
            return Ok(Box::new(from));
        }
        Ok(match self {
            Compression::Gzip => Box::new(BufReader::new(MultiGzDecoder::new(from))),
            _ => Box::new(BufReader::new(Inflate { from, stream: Decompress::new(true), over: false })),
        })
    }
}

/// Decompresses zlib data. Truncated data is an error; [`flate2::bufread::ZlibDecoder`] takes it for the end.
struct Inflate<R> {
    from: R,
    stream: Decompress,
    over: bool,
}

impl<R: BufRead> Read for Inflate<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while !self.over && !to.is_empty() {
            let input = self.from.fill_buf()?;
            let ended = input.is_empty();
            let (taken, given) = (self.stream.total_in(), self.stream.total_out());
            let status = self.stream.decompress(input, to, FlushDecompress::None).map_err(io::Error::other);
            let n = (self.stream.total_in() - taken) as usize;
            self.from.consume(n);
            let status = status.map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
            self.over = status == Status::StreamEnd;
            match (self.stream.total_out() - given) as usize {
                0 if ended && !self.over => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the compressed data end too early",
                    ));
                }
                0 => {}
                given => return Ok(given),
            }
        }
        Ok(0)
    }
}

/// A file that is open for reading, decompressed.
pub struct Source {
    bytes: Box<dyn BufRead + Send>,
    watch: Watch,
    n_bytes: Option<u64>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Source")
    }
}

impl Source {
    /// The number of bytes of the file, if it is a regular file without compression.
    pub fn n_bytes(&self) -> Option<u64> {
        self.n_bytes
    }

    /// Has the check of these files, from now on, end long waits: a source can outlive the run that opened
    /// it.
    pub fn checked_by(&self, files: &Files) {
        self.watch.set(files);
    }
}

impl Read for Source {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(to)
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.bytes.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.bytes.consume(n);
    }
}

/// Opens a file for reading.
pub fn open(files: &Files, path: impl AsRef<Path>, compression: Compression) -> Result<Source> {
    let path = path.as_ref();
    let file = files.open(path)?;
    let watch = file.watch();
    let n_bytes = file.n_bytes().map_err(|e| file_error("read", path, &e))?;
    let n_bytes = Some(n_bytes).filter(|n| *n > 0 && compression == Compression::None);
    // An ordinary record fits into this buffer, which costs little even with many small files.
    let from = BufReader::with_capacity(1 << 16, file);
    let bytes = compression.reader(from).map_err(|e| file_error("read", path, &e))?;
    Ok(Source { bytes, watch, n_bytes })
}

/// The records of a file, like `tf.python_io.tf_record_iterator`.
///
/// ```no_run
/// use millstream_checkpoint::records::{Compression, tf_record_iterator};
/// for record in tf_record_iterator("train.tfrecord", Compression::None)? {
///     assert!(!record?.is_empty());
/// }
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
pub fn tf_record_iterator(path: impl AsRef<Path>, compression: Compression) -> Result<RecordReader<Source>> {
    tf_record_iterator_in(&Files::everything(), path, compression)
}

/// [`tf_record_iterator`], with the files that may be opened.
pub fn tf_record_iterator_in(
    files: &Files,
    path: impl AsRef<Path>,
    compression: Compression,
) -> Result<RecordReader<Source>> {
    let path = path.as_ref();
    Ok(RecordReader::new(open(files, path, compression)?, path.display().to_string()))
}

/// Writes a file of records, like `tf.python_io.TFRecordWriter`. The file is complete and durable after
/// [`TfRecordWriter::close`]. A crash before that leaves whole records, and at most one that is cut off,
/// which readers report as `DATA_LOSS`.
///
/// ```
/// use millstream_checkpoint::records::{Compression, TfRecordWriter, tf_record_iterator};
/// let path = std::env::temp_dir().join(format!("millstream-doc-{}.tfrecord.gz", std::process::id()));
/// let mut writer = TfRecordWriter::create(&path, Compression::Gzip)?;
/// writer.write(b"one")?;
/// writer.write(b"two")?;
/// writer.close()?;
/// let records: Result<Vec<_>, _> = tf_record_iterator(&path, Compression::Gzip)?.collect();
/// assert_eq!(records?, [b"one", b"two"]);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Debug)]
pub struct TfRecordWriter {
    records: RecordWriter<Sink>,
    files: Files,
    path: PathBuf,
    /// The error of an earlier call. A record may be cut off, and nothing must follow it.
    failed: Option<Error>,
}

impl TfRecordWriter {
    /// Creates the file, or truncates it.
    pub fn create(path: impl AsRef<Path>, compression: Compression) -> Result<TfRecordWriter> {
        TfRecordWriter::create_in(&Files::everything(), path, compression)
    }

    /// [`TfRecordWriter::create`], with the files that may be opened.
    pub fn create_in(
        files: &Files,
        path: impl AsRef<Path>,
        compression: Compression,
    ) -> Result<TfRecordWriter> {
        let path = path.as_ref();
        let file = BufWriter::new(files.create(path)?);
        let level = flate2::Compression::default();
        let to = match compression {
            Compression::None => Sink::Plain(file),
            Compression::Gzip => Sink::Gzip(GzEncoder::new(file, level)),
            Compression::Zlib => Sink::Zlib(ZlibEncoder::new(file, level)),
        };
        let records = RecordWriter::new(to);
        Ok(TfRecordWriter { records, files: files.clone(), path: path.to_owned(), failed: None })
    }

    /// Writes a record. After an error, every call returns the same error.
    pub fn write(&mut self, data: &[u8]) -> Result<()> {
        self.go_on(|records| records.write(data))
    }

    /// Flushes the stream, so that the records written so far can be read.
    pub fn flush(&mut self) -> Result<()> {
        self.go_on(|records| records.flush())
    }

    fn go_on(&mut self, step: impl FnOnce(&mut RecordWriter<Sink>) -> io::Result<()>) -> Result<()> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let done = step(&mut self.records).map_err(|e| file_error("write", &self.path, &e));
        self.failed = done.as_ref().err().cloned();
        done
    }

    /// Completes the file and makes it durable. Dropping the writer completes it too, but ignores errors.
    pub fn close(self) -> Result<()> {
        let TfRecordWriter { records, files, path, failed } = self;
        if let Some(failed) = failed {
            return Err(failed);
        }
        let end = match records.into_inner() {
            Sink::Plain(file) => Ok(file),
            Sink::Gzip(file) => file.finish(),
            Sink::Zlib(file) => file.finish(),
        };
        end.and_then(|mut file| {
            file.flush()?;
            file.get_ref().sync()
        })
        .map_err(|e| file_error("write", &path, &e))?;
        files.sync_folder(folder_of(&path))
    }
}

#[derive(Debug)]
enum Sink {
    Plain(BufWriter<Output>),
    Gzip(GzEncoder<BufWriter<Output>>),
    Zlib(ZlibEncoder<BufWriter<Output>>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Plain(to) => to.write(bytes),
            Sink::Gzip(to) => to.write(bytes),
            Sink::Zlib(to) => to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(to) => to.flush(),
            Sink::Gzip(to) => to.flush(),
            Sink::Zlib(to) => to.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(records: &[&[u8]]) -> Vec<u8> {
        let mut writer = RecordWriter::new(Vec::new());
        for record in records {
            writer.write(record).unwrap();
        }
        writer.into_inner()
    }

    #[track_caller]
    fn fails(file: &[u8], code: Code, expect: &str) {
        let mut reader = RecordReader::new(file, "f");
        let error = reader.by_ref().find_map(Result::err).expect("fails");
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(expect), "{error}\n  does not say: {expect}");
        assert_eq!(reader.record().unwrap_err().message(), error.message(), "said again");
        assert!(reader.next().is_none(), "ends after an error");
    }

    #[test]
    fn is_tensorflows_form() {
        // Written by TensorFlow 1.15: tf.python_io.TFRecordWriter(..).write(b"abc").
        let theirs = b"\x03\0\0\0\0\0\0\0\xb0\x99I\x0eabcnW\xf1!";
        assert_eq!(written(&[b"abc"]), theirs);
    }

    /// Reads a few bytes, and every second time nothing: the run is over.
    struct Interrupted<'a>(&'a [u8], usize);

    impl Read for Interrupted<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1 % 2 == 1 {
                return Err(io::Error::other(Error::new(Code::DeadlineExceeded, "the time is over")));
            }
            let n = to.len().min(5);
            self.0.read(&mut to[..n])
        }
    }

    #[test]
    fn a_record_goes_on_where_a_run_ended() {
        let records: [&[u8]; 3] = [b"first, which is long", b"", b"third"];
        let file = written(&records);
        let mut reader = RecordReader::new(Interrupted(&file, 0), "f");
        let (mut all, mut late) = (Vec::new(), 0);
        loop {
            match reader.record() {
                Ok(Some(record)) => all.push(record),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
                    late += 1;
                }
            }
        }
        assert!(late > 10);
        assert_eq!(all, records);
    }

    /// Gives three bytes at a time. The read after as many reads as the number says fails once.
    struct Failing<'a>(&'a [u8], usize);

    impl Read for Failing<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            if self.1 == 0 {
                self.1 = usize::MAX;
                return Err(io::Error::from_raw_os_error(5));
            }
            self.1 -= 1;
            let n = to.len().min(3);
            self.0.read(&mut to[..n])
        }
    }

    #[test]
    fn a_record_is_read_on_after_an_error_of_the_system() {
        let records: [&[u8]; 3] = [b"first, which is long", b"", b"third"];
        let file = written(&records);
        for k in 0..file.len() / 3 {
            let mut reader = RecordReader::new(Failing(&file, k), "f");
            let (mut all, mut failed) = (Vec::new(), 0);
            loop {
                match reader.record() {
                    Ok(Some(record)) => all.push(record),
                    Ok(None) => break,
                    Err(error) => {
                        assert!(error.to_string().contains("cannot read `f`"), "{error}");
                        failed += 1;
                    }
                }
            }
            assert_eq!((all.as_slice(), failed), (&records.map(<[u8]>::to_vec)[..], 1), "read {k}");
        }
    }

    #[test]
    fn damage_is_told_with_its_place() {
        let file = written(&[b"first", b"second"]);
        let second = 12 + 5 + 4;
        for cut in 1..12 {
            fails(&file[..second + cut], Code::DataLoss, "12 bytes of header are at byte 21");
            let lenient: Result<Vec<_>> = RecordReader::new(&file[..second + cut], "f").lenient().collect();
            assert_eq!(lenient.unwrap(), [b"first"]);
        }
        for cut in 12..file.len() - second {
            fails(&file[..second + cut], Code::DataLoss, "the record at byte 21 has 6 bytes of data");
        }
        for (byte, expect) in [(0, "the length"), (8, "the length"), (12, "the data"), (20, "the data")] {
            let mut file = file.clone();
            file[second + byte] ^= 1;
            fails(&file, Code::DataLoss, &format!("the checksum of {expect} of the record at byte 21"));
        }
    }

    #[test]
    fn a_length_is_not_believed() {
        let length = (u64::MAX - 2).to_le_bytes();
        let sum = mask(crc32c::crc32c(&length)).to_le_bytes();
        fails(&[&length[..], &sum, b"abc"].concat(), Code::DataLoss, "18446744073709551613 bytes of data");
    }

    #[test]
    fn compressed_streams_are_whole_or_an_error() {
        let file = written(&[b"first", &[7; 100_000]]);
        for compression in [Compression::Gzip, Compression::Zlib] {
            let mut packed = match compression {
                Compression::Gzip => {
                    let mut to = GzEncoder::new(Vec::new(), flate2::Compression::default());
                    to.write_all(&file).unwrap();
                    to.finish().unwrap()
                }
                _ => {
                    let mut to = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
                    to.write_all(&file).unwrap();
                    to.finish().unwrap()
                }
            };
            let read = |bytes: &[u8]| -> Result<Vec<Vec<u8>>> {
                let from = io::Cursor::new(bytes.to_vec());
                let from = compression.reader(from).map_err(|e| file_error("read", Path::new("f"), &e))?;
                RecordReader::new(from, "f").collect()
            };
            assert_eq!(read(&packed).unwrap(), [b"first".to_vec(), vec![7; 100_000]]);
            assert_eq!(read(&[]).unwrap().len(), 0);
            for cut in 1..packed.len() {
                assert_eq!(
                    read(&packed[..cut]).unwrap_err().code(),
                    Code::DataLoss,
                    "{compression:?} cut at {cut}"
                );
            }
            packed[20] ^= 0x55;
            assert_eq!(read(&packed).unwrap_err().code(), Code::DataLoss);
        }
    }

    #[test]
    fn what_is_unpacked_is_within_the_budget() {
        let file = written(&[&[0; 1 << 20]]);
        use millstream_tensor::budget;
        let limit = budget::Budget::new(1000);
        let _entered = budget::enter(Some(&limit));
        fails(&file, Code::ResourceExhausted, "the 1000 bytes that the memory limit leaves");
    }
}
