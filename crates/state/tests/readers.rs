//! Readers on their own: records that were handed out and not used come back.

use millstream_files::Files;
use millstream_state::{
    Cancellation, Closing, Format, Found, Item, Queue, QueueKind, QueueSpec, Reader, Reading, Records, Waiter,
};
use millstream_tensor::{Code, DType, Error, PartialShape, Result, Str, Tensor};
use parking_lot::Mutex;
use smallvec::smallvec;
use std::sync::{Arc, mpsc};

/// Each work unit has three records: its name and a number.
#[derive(Default)]
struct Three {
    work: Str,
    next: usize,
}

impl Format for Three {
    fn begin(&mut self, work: &Str, _files: &Files) -> Result<()> {
        (self.work, self.next) = (work.clone(), 0);
        Ok(())
    }

    fn record(&mut self, _files: &Files) -> Result<Found> {
        self.next += 1;
        let record = (self.work.clone(), Str::from(self.next.to_string().as_str()));
        Ok(if self.next == 3 { Found::Last(record) } else { Found::Record(record) })
    }

    fn reset(&mut self) {}

    fn can_be_saved(&self) -> bool {
        true
    }
}

fn names() -> Arc<Queue> {
    let spec = QueueSpec {
        kind: QueueKind::Fifo,
        capacity: 10,
        dtypes: vec![DType::Str],
        shapes: Some(vec![PartialShape::unknown_of_rank(0)]),
        min_after_dequeue: 0,
        seeds: (0, 0),
        batches: Default::default(),
    };
    Arc::new(Queue::new("names", spec, || 0).unwrap())
}

fn put(names: &Queue, name: &str) {
    assert!(
        names.try_enqueue(Item::new(smallvec![Tensor::str(Str::from(name))]).unwrap()).unwrap().is_none()
    );
}

fn close(names: &Arc<Queue>) {
    let ended = Box::new(|closed: Result<_>| drop(closed.unwrap()));
    let waiter = Waiter { who: "close".into(), cancel: Cancellation::new(), ended };
    names.close(false, Closing::default(), waiter);
}

fn text(records: &[(Str, Str)]) -> Vec<String> {
    records.iter().map(|(key, value)| format!("{}{}", key.text(), value.text())).collect()
}

/// The result of a read, once it has ended.
type Answer = Arc<Mutex<Option<Result<Records>>>>;

fn read(reader: &Arc<Reader>, names: &Arc<Queue>, up_to: usize, cancel: &Cancellation) -> Answer {
    let answer = Answer::default();
    let told = answer.clone();
    reader.read(Reading {
        names: names.clone(),
        files: Files::everything(),
        up_to,
        who: "read".into(),
        cancel: cancel.clone(),
        spawn: Arc::new(|work: Box<dyn FnOnce() + Send>| work()),
        told: Box::new(move |records| *told.lock() = Some(records)),
    });
    answer
}

fn of(answer: &Answer) -> Vec<String> {
    text(&answer.lock().take().expect("still waits").unwrap().used())
}

#[test]
fn unused_records_come_back_in_their_order() {
    let (reader, names) = (Arc::new(Reader::new("r", "Reader", Box::<Three>::default())), names());
    put(&names, "a");
    put(&names, "b");
    let first = reader.try_read(&names, &Files::everything(), 2).unwrap().unwrap();
    assert_eq!(text(&first), ["a1", "a2"]);
    assert_eq!(reader.progress().produced, 2);
    drop(first);
    assert_eq!(reader.progress().produced, 0);
    assert_eq!(reader.save().unwrap_err().code(), Code::FailedPrecondition, "they would be lost");
    let mut all = Vec::new();
    for up_to in [1, 5, 5, 2, 1] {
        all.extend(text(&reader.try_read(&names, &Files::everything(), up_to).unwrap().unwrap().used()));
    }
    assert_eq!(all, ["a1", "a2", "a3", "b1", "b2", "b3"]);
    assert_eq!(reader.progress().produced, 6);
    assert!(reader.save().is_ok());
}

/// A read whose run is over when its record arrives leaves the record to the next read, even if that one
/// waits for a name that never comes.
#[test]
fn a_record_that_comes_too_late_is_the_next_ones() {
    let (reader, names) = (Arc::new(Reader::new("r", "Reader", Box::<Three>::default())), names());
    let never = Cancellation::new();
    let late = read(&reader, &names, 3, &never);
    let (second, third) = (read(&reader, &names, 2, &never), read(&reader, &names, 2, &never));
    assert!(late.lock().is_none() && second.lock().is_none());
    put(&names, "a");
    assert!(late.lock().is_some() && second.lock().is_none(), "the second asks for a name");
    assert_eq!(reader.waits_of(&never).len(), 1, "the third stands behind it");
    drop(late.lock().take());
    assert_eq!(of(&second), ["a1", "a2"]);
    assert_eq!(of(&third), ["a3"]);
    assert!(names.report().dequeuing.is_empty(), "no question is left");
    let last = read(&reader, &names, 1, &never);
    close(&names);
    assert_eq!(last.lock().take().unwrap().unwrap_err().code(), Code::OutOfRange);
}

#[test]
fn a_reset_reader_takes_nothing_back() {
    let (reader, names) = (Arc::new(Reader::new("r", "Reader", Box::<Three>::default())), names());
    put(&names, "a");
    put(&names, "b");
    let old = reader.try_read(&names, &Files::everything(), 1).unwrap().unwrap();
    reader.reset(&Files::everything()).unwrap();
    drop(old);
    assert_eq!(text(&reader.try_read(&names, &Files::everything(), 1).unwrap().unwrap().used()), ["b1"]);
    let cancel = Cancellation::new();
    cancel.cancel(Error::new(Code::Cancelled, "called off"));
    let off = read(&reader, &names, 1, &cancel);
    assert_eq!(off.lock().take().unwrap().unwrap_err().code(), Code::Cancelled);
    assert_eq!(text(&reader.try_read(&names, &Files::everything(), 1).unwrap().unwrap().used()), ["b2"]);
}

/// A file that gives a record each time the test says so, as a FIFO does.
struct Slow {
    begun: mpsc::Sender<()>,
    records: mpsc::Receiver<&'static str>,
}

impl Format for Slow {
    fn begin(&mut self, _work: &Str, _files: &Files) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, _files: &Files) -> Result<Found> {
        self.begun.send(()).unwrap();
        let value = self.records.recv().unwrap();
        Ok(Found::Record((Str::default(), Str::from(value))))
    }

    fn reset(&mut self) {}
}

/// While one run waits for a FIFO, everything else goes on: others join the line and are cancelled, and the
/// position can be asked for. What cannot go on, because it needs the file, ends with its run.
#[test]
fn nobody_else_waits_for_a_file() {
    let ((begun, has_begun), (give, records)) = (mpsc::channel(), mpsc::channel());
    let reader = Arc::new(Reader::new("r", "Reader", Box::new(Slow { begun, records })));
    let names = names();
    put(&names, "fifo");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| reader.try_read(&names, &Files::everything(), 1));
        has_begun.recv().unwrap();
        assert_eq!(reader.progress().started, 1);
        assert!(reader.try_read(&names, &Files::everything(), 1).unwrap().is_none(), "it would wait");
        let (never, over) = (Cancellation::new(), Cancellation::new());
        let (second, third) = (read(&reader, &names, 1, &over), read(&reader, &names, 1, &never));
        assert_eq!(reader.waits_of(&over).len(), 1);
        over.cancel(Error::new(Code::Cancelled, "called off"));
        assert_eq!(second.lock().take().unwrap().unwrap_err().code(), Code::Cancelled);
        {
            let token = over.clone();
            let files = Files::everything().checked_by(move || token.check());
            assert_eq!(reader.reset(&files).unwrap_err().code(), Code::Cancelled);
        }
        assert!(third.lock().is_none() && !first.is_finished());
        // The thread that read for the first serves the line then: here `spawn` works on the same thread.
        give.send("a").unwrap();
        has_begun.recv().unwrap();
        assert!(third.lock().is_none());
        give.send("b").unwrap();
        assert_eq!(text(&first.join().unwrap().unwrap().unwrap().used()), ["a"]);
        assert_eq!(of(&third), ["b"]);
    });
    assert_eq!(reader.progress().produced, 2);
    reader.reset(&Files::everything()).unwrap();
}

/// Three records, whose every first attempt comes too late.
struct Late {
    three: Three,
    tries: usize,
}

impl Late {
    fn is_late(&mut self) -> Result<()> {
        self.tries += 1;
        match self.tries % 3 {
            0 => Ok(()),
            1 => Err(Error::new(Code::DeadlineExceeded, "the time is over")),
            _ => Err(Error::new(Code::Cancelled, "called off")),
        }
    }
}

impl Format for Late {
    fn begin(&mut self, work: &Str, files: &Files) -> Result<()> {
        self.is_late()?;
        self.three.begin(work, files)
    }

    fn record(&mut self, files: &Files) -> Result<Found> {
        self.is_late()?;
        self.three.record(files)
    }

    fn reset(&mut self) {}
}

/// A run that ends is no fault of the file: neither a name nor a record is lost, and later reads go on.
#[test]
fn reads_go_on_where_a_run_ended() {
    let reader = Arc::new(Reader::new("r", "Reader", Box::new(Late { three: Three::default(), tries: 0 })));
    let names = names();
    put(&names, "a");
    put(&names, "b");
    let (mut all, mut late) = (Vec::new(), 0);
    while all.len() < 6 {
        match reader.try_read(&names, &Files::everything(), 2) {
            Ok(records) => all.extend(text(&records.expect("there is a name").used())),
            Err(error) => {
                assert!(error.to_string().contains("the time is over") || error.code() == Code::Cancelled);
                late += 1;
            }
        }
        assert!(late < 100, "{all:?}");
    }
    assert_eq!(all, ["a1", "a2", "a3", "b1", "b2", "b3"]);
    assert_eq!((reader.progress().produced, reader.progress().finished), (6, 2));
}
