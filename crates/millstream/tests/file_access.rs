//! Every op that opens files asks the session first; and a FIFO keeps no run beyond its deadline.

#![cfg(unix)]

use millstream::checkpoint::{Item, write};
use millstream::lookup::index_table_from_file;
use millstream::prelude::*;
use millstream::reader::{FixedLengthRecordReader, TextLineReader, TfRecordReader, WholeFileReader};
use millstream::{Code, FileAccess, Queue, Reader, SessionOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("file_access").join(test);
    let _old = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("makes the folder");
    folder
}

fn strings(text: &str) -> Tensor {
    Tensor::strings([1], vec![text.into()]).expect("a vector")
}

/// Runs an op on a path, with files as `access` allows.
type Act = fn(&Graph, &str, SessionOptions) -> Result<()>;

fn run_op(g: &Graph, op: Op<'_>, options: SessionOptions) -> Result<()> {
    g.check()?;
    Session::with_options(g, options)?.run::<()>(op, feed![])
}

fn read_with<'g>(
    g: &'g Graph,
    reader: Result<Reader<'g>>,
    path: &str,
    options: SessionOptions,
) -> Result<()> {
    let queue = Queue::fifo(g, 9, [DType::Str]).shapes([shape![]]).build()?;
    let put = queue.enqueue(g.constant(Tensor::str(path)))?;
    let one = reader?.read(&queue)?;
    let session = Session::with_options(g, options)?;
    session.run::<()>(put, feed![])?;
    session.run::<(Tensor, Tensor)>(one, feed![]).map(drop)
}

/// The ops that read, and those that write.
const READERS: [(&str, Act); 8] = [
    ("ReadFile", |g, path, o| run_op(g, g.op("ReadFile").input(Tensor::str(path)).finish(), o)),
    ("MatchingFiles", |g, path, o| {
        let pattern = Tensor::str(format!("{path}*").as_str());
        run_op(g, g.op("MatchingFiles").input(pattern).finish(), o)
    }),
    ("RestoreV2", |g, path, o| {
        let op = g.op("RestoreV2").input(Tensor::str(path)).input(strings("w")).input(strings(""));
        run_op(g, op.attr("dtypes", vec![DType::F32]).finish(), o)
    }),
    ("InitializeTableFromTextFileV2", |g, path, o| {
        let table = index_table_from_file(g, path).build()?;
        run_op(g, table.initializer(), o)
    }),
    ("TextLineReaderV2", |g, path, o| read_with(g, TextLineReader::new(g).build(), path, o)),
    ("WholeFileReaderV2", |g, path, o| read_with(g, WholeFileReader::new(g).build(), path, o)),
    ("TFRecordReaderV2", |g, path, o| read_with(g, TfRecordReader::new(g).build(), path, o)),
    ("FixedLengthRecordReaderV2", |g, path, o| {
        read_with(g, FixedLengthRecordReader::new(g, 2).build(), path, o)
    }),
];
const WRITERS: [(&str, Act); 3] = [
    ("WriteFile", |g, path, o| {
        run_op(g, g.op("WriteFile").input(Tensor::str(path)).input(Tensor::str("text")).finish(), o)
    }),
    ("SaveV2", |g, path, o| {
        let op = g.op("SaveV2").input(Tensor::str(path)).input(strings("w")).input(strings(""));
        run_op(g, op.inputs([g.constant(1.0f32)]).finish(), o)
    }),
    ("MergeV2Checkpoints", |g, path, o| {
        let part = format!("{path}-part");
        let merge = g.op("MergeV2Checkpoints").input(strings(&part)).input(Tensor::str(path));
        run_op(g, merge.finish(), o)
    }),
];

/// A folder with a file that every reader can read, under the name `it`.
fn filled(folder: &Path) -> String {
    let path = folder.join("it");
    let mut writer =
        millstream::checkpoint::records::TfRecordWriter::create(&path, Default::default()).unwrap();
    writer.write(b"a record").unwrap();
    writer.close().unwrap();
    let w = Tensor::scalar(1.0f32);
    for prefix in ["it", "it-part"] {
        write(folder.join(prefix), &[Item { name: "w", part: None, tensor: &w }]).unwrap();
    }
    path.display().to_string()
}

fn options(files: FileAccess) -> SessionOptions {
    SessionOptions { files, timeout: Some(Duration::from_secs(20)), ..SessionOptions::default() }
}

#[test]
fn every_op_asks() {
    let base = folder("asks");
    let (own, other) = (base.join("own"), base.join("other"));
    std::fs::create_dir_all(&own).unwrap();
    std::fs::create_dir_all(&other).unwrap();
    let (inside, outside) = (filled(&own), filled(&other));
    let through = format!("{}/../other/it", own.display());
    for (name, act) in READERS.into_iter().chain(WRITERS) {
        let try_it = |path: &str, files: FileAccess| act(&Graph::new(), path, options(files));
        for (path, files) in [
            (&inside, FileAccess::Nothing),
            (&outside, FileAccess::folders([&own])),
            (&through, FileAccess::folders([&own])),
        ] {
            let error = try_it(path, files).expect_err(name);
            assert_eq!(error.code(), Code::PermissionDenied, "{name} {path}: {error}");
            assert!(error.help().is_some_and(|h| h.contains("SessionOptions::files")), "{name}: {error}");
        }
        for files in [FileAccess::folders([&own]), FileAccess::Everything] {
            filled(&own);
            try_it(&inside, files).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
    for (name, act) in WRITERS {
        // A merge removes its parts.
        filled(&own);
        let files = FileAccess::Nothing.and_read(&own);
        let error = act(&Graph::new(), &inside, options(files)).expect_err(name);
        assert_eq!(error.code(), Code::PermissionDenied, "{name}: {error}");
    }
}

#[test]
fn a_fifo_ends_with_the_deadline() {
    let base = folder("fifo");
    for name in ["it", "it.index"] {
        let made = std::process::Command::new("mkfifo").arg(base.join(name)).status().unwrap();
        assert!(made.success());
    }
    let path = base.join("it").display().to_string();
    for (name, act) in READERS.into_iter().chain(WRITERS).filter(|(name, _)| *name != "MatchingFiles") {
        let start = Instant::now();
        let options =
            SessionOptions { timeout: Some(Duration::from_millis(300)), ..SessionOptions::default() };
        let error = act(&Graph::new(), &path, options).expect_err(name);
        let time = start.elapsed();
        assert!(time < Duration::from_secs(3), "{name}: {time:?}");
        // The part of the merge is missing.
        let expected = if name.starts_with("Merge") { Code::NotFound } else { Code::DeadlineExceeded };
        assert_eq!(error.code(), expected, "{name}: {error}");
    }
}

#[test]
fn a_device_is_read_within_the_limit() {
    for (name, act) in READERS.into_iter().filter(|(name, _)| !["MatchingFiles", "RestoreV2"].contains(name))
    {
        let start = Instant::now();
        let options = SessionOptions { memory_limit: Some(1 << 20), ..options(FileAccess::Everything) };
        // What is zero bytes to one op is a record of zeros to another; none of them goes on for ever.
        let _read = act(&Graph::new(), "/dev/zero", options);
        assert!(start.elapsed() < Duration::from_secs(10), "{name}");
    }
}
