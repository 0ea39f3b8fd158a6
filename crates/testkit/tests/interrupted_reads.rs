//! A run that is called off while it reads a file loses nothing: the next run goes on where it ended, with
//! every format, of readers and of datasets.

use millstream_graph::{Graph, Output};
use millstream_runtime::{Poll, RunOptions, Session, SessionOptions, feed};
use millstream_tensor::DType::Str as S;
use millstream_tensor::{Code, DType, Error, PartialShape, Result, Str, Tensor};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// The records of a file: enough for several runs, and of a length that no buffer is a multiple of.
const RECORDS: usize = 30_000;

fn record(i: usize) -> String {
    format!("record {i:06}, which is of no round length")
}

/// The formats: the ops that read them, and a file of `RECORDS` records from the `first` on.
#[derive(Clone, Copy, Debug)]
enum Form {
    Lines,
    Fixed,
    Records,
}

impl Form {
    fn write(self, path: &Path, first: usize) -> Result<()> {
        let records = first..first + RECORDS;
        match self {
            Form::Lines => fs::write(path, records.map(|i| record(i) + "\n").collect::<String>()),
            Form::Fixed => {
                let body: String = records.map(record).collect();
                fs::write(path, format!("header{body}foot"))
            }
            Form::Records => {
                let mut writer =
                    millstream::checkpoint::records::TfRecordWriter::create(path, Default::default())?;
                for i in records {
                    writer.write(record(i).as_bytes())?;
                }
                return writer.close();
            }
        }
        .map_err(|e| Error::new(Code::Unknown, e.to_string()))
    }

    fn reader(self, g: &Graph) -> Output<'_> {
        match self {
            Form::Lines => g.op("TextLineReaderV2"),
            Form::Records => g.op("TFRecordReaderV2"),
            Form::Fixed => {
                let reader = g.op("FixedLengthRecordReaderV2").attr("record_bytes", record(0).len());
                reader.attr("header_bytes", 6).attr("footer_bytes", 4)
            }
        }
        .output()
    }

    fn dataset<'g>(self, g: &'g Graph, files: Output<'g>) -> Output<'g> {
        let long = |n: usize| g.constant(n as i64);
        match self {
            Form::Lines => g.op("TextLineDataset").input(files).input(g.constant("")).input(long(0)),
            Form::Records => g.op("TFRecordDataset").input(files).input(g.constant("")).input(long(0)),
            Form::Fixed => {
                let dataset = g.op("FixedLengthRecordDataset").input(files).input(long(6));
                dataset.input(long(record(0).len())).input(long(4)).input(long(0))
            }
        }
        .output()
    }
}

const FORMS: [Form; 3] = [Form::Lines, Form::Fixed, Form::Records];

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("millstream-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("creates");
        Folder(path)
    }

    /// Two files, which hold the records one after another.
    fn files(&self, form: Form) -> Result<Tensor> {
        let name = |k: usize| -> Result<Str> {
            let path = self.0.join(format!("{form:?}-{k}"));
            form.write(&path, k * RECORDS)?;
            Str::new(path.to_string_lossy().as_bytes())
        };
        Tensor::strings([2], vec![name(0)?, name(1)?])
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.0);
    }
}

/// How runs are called off.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    /// By their deadline.
    Timeout,
    /// By the caller, who is asked from time to time and says so once, as Ctrl-C in Python does.
    Caller,
}

const CALLED_OFF: &str = "called off by the caller";

impl By {
    fn options(self) -> RunOptions {
        match self {
            By::Timeout => RunOptions { timeout: Some(Duration::from_millis(2)), ..RunOptions::default() },
            By::Caller => {
                let asked = AtomicUsize::new(0);
                let poll = Poll::new(move || match asked.fetch_add(1, Relaxed) {
                    1 => Err(Error::new(Code::Unknown, CALLED_OFF)),
                    _ => Ok(()),
                });
                RunOptions { poll: Some(poll), ..RunOptions::default() }
            }
        }
    }
}

/// Runs `values` until the end of the input, and calls off all but every third run. All records must come, in
/// order.
#[track_caller]
fn comes_whole(form: Form, by: By, values: Output<'_>, session: &Session) -> Result<()> {
    let (mut next, mut interrupted) = (0, 0);
    for k in 0.. {
        let calls_off = k % 3 != 2;
        let options = if calls_off { by.options() } else { RunOptions::default() };
        match session.run_with::<Tensor>(values, (), &options) {
            Ok((batch, _)) => {
                for text in batch.as_strs().expect("strings") {
                    assert_eq!(text.text(), record(next), "{form:?} in run {k}");
                    next += 1;
                }
            }
            Err(e) if calls_off && (e.code() == Code::DeadlineExceeded || e.message() == CALLED_OFF) => {
                interrupted += 1;
            }
            Err(e) if e.code() == Code::OutOfRange => break,
            Err(e) => return Err(e),
        }
    }
    assert_eq!(next, 2 * RECORDS, "{form:?} {by:?}");
    assert!(interrupted > 0 || by == By::Caller, "{form:?}: no run was called off");
    Ok(())
}

fn options() -> SessionOptions {
    SessionOptions { threads: Some(1), ..SessionOptions::default() }
}

#[test]
fn readers_go_on_where_a_run_was_called_off() -> Result<()> {
    let folder = Folder::new("readers");
    for form in FORMS {
        let g = Graph::with_ops(millstream_ops::registry());
        let files = g.placeholder_of("files", S, PartialShape::unknown());
        let queue = g.op("FIFOQueueV2").attr("component_types", vec![S]);
        let queue = queue.attr("shapes", vec![PartialShape::scalar()]).output();
        let fill = g.op("QueueEnqueueManyV2").input(queue).input(files).finish();
        let close = g.op("QueueCloseV2").input(queue).finish();
        let read = g.op("ReaderReadUpToV2").input(form.reader(&g)).input(queue).input(g.constant(10_000i64));
        let session = Session::with_options(&g, options())?;
        let read = read.finish().output(1);
        let value = folder.files(form)?;
        session.run::<()>(fill, feed![files => value])?;
        session.run::<()>(close, ())?;
        comes_whole(form, By::Timeout, read, &session)?;
    }
    Ok(())
}

#[test]
fn datasets_go_on_where_a_run_was_called_off() -> Result<()> {
    let folder = Folder::new("datasets");
    for (form, by) in FORMS.into_iter().flat_map(|form| [(form, By::Timeout), (form, By::Caller)]) {
        let g = Graph::with_ops(millstream_ops::registry());
        let files = g.placeholder_of("files", S, PartialShape::unknown());
        let of = || vec![DType::Str];
        let shapes = || vec![PartialShape::unknown_of_rank(1)];
        // The caller is asked every 50 ms.
        let size = if by == By::Caller { 30_000i64 } else { 10_000 };
        let batches = g.op("BatchDatasetV2").input(form.dataset(&g, files)).input(g.constant(size));
        let batches = batches.input(g.constant(false));
        let batches = batches.attr("output_types", of()).attr("output_shapes", shapes()).output();
        let iterator = g.op("IteratorV2").attr("shared_name", "it").attr("container", "");
        let iterator = iterator.attr("output_types", of()).attr("output_shapes", shapes()).output();
        let make = g.op("MakeIterator").input(batches).input(iterator).finish();
        let next = g.op("IteratorGetNext").input(iterator);
        let next = next.attr("output_types", of()).attr("output_shapes", shapes()).output();
        let session = Session::with_options(&g, options())?;
        let value = folder.files(form)?;
        session.run::<()>(make, feed![files => value])?;
        comes_whole(form, by, next, &session)?;
    }
    Ok(())
}
