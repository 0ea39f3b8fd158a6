//! [`EventFile`]: one event file and the thread that writes it.
//!
//! Events wait in memory, framed as records. The thread takes them and writes them without holding a lock, so
//! adding an event never blocks. What was flushed is durable. If a write fails, the file is truncated to its
//! last whole record, at once and before the next try.

use super::writer::{FileWriterBuilder, closed, now};
use millstream_checkpoint::records::RecordWriter;
use millstream_files::{Files, Output, file_error, folder_of};
use millstream_interop::proto::event::What;
use millstream_interop::proto::{Event, encode};
use millstream_state::Asleep;
use millstream_tensor::{Code, Error, Result};
use parking_lot::{Condvar, Mutex};
use std::io::{self, ErrorKind, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The content of a file's first record.
const VERSION: &str = "brain.Event:2";

/// An event file. Dropping it writes all events.
#[derive(Debug)]
pub(super) struct EventFile {
    shared: Arc<Shared>,
    /// `None` once the file is closed.
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    max_queue: usize,
    flush_every: Duration,
    max_waiting: usize,
    /// Not held while the file is written. No other lock is taken under it.
    state: Mutex<State>,
    /// Signals the thread that there is work.
    work: Condvar,
    /// Signals that the thread has tried to write.
    tried: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Records that the thread has not taken yet, and their number.
    waiting: Vec<u8>,
    n_waiting: usize,
    /// The bytes of these records and of those that are taken but not written.
    unwritten: usize,
    /// The time of the oldest unwritten event, or of the last try.
    since: Option<Instant>,
    /// The number of flush requests, and the last request that was tried.
    asked: u64,
    answered: u64,
    /// An error that no call has returned yet.
    error: Option<Error>,
    closing: bool,
}

/// The destination of records: a file, or a substitute in tests.
trait Disk: Send {
    /// Appends all bytes, or nothing that will be read.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
}

struct Appended {
    file: Output,
    /// The length of its whole records in bytes.
    len: u64,
    /// Whether a partial record may follow them.
    torn: bool,
}

impl Disk for Appended {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.torn {
            self.file.file().set_len(self.len)?;
            self.file.file().seek(SeekFrom::Start(self.len))?;
        }
        self.torn = true;
        // After a sync that failed, nobody knows which bytes the disk has: all are written again.
        if let Err(error) = self.file.write_all(bytes).and_then(|()| self.file.sync()) {
            // There may be no other try. If this fails too, the next one begins with it.
            self.file.file().set_len(self.len).ok();
            return Err(error);
        }
        self.torn = false;
        self.len += bytes.len() as u64;
        Ok(())
    }
}

impl EventFile {
    /// Creates a file that starts with the version of its format.
    pub fn create(options: &FileWriterBuilder) -> Result<EventFile> {
        let (path, file) = fresh(&options.files, &options.logdir, &options.suffix)?;
        Self::start(options, path, Box::new(Appended { file, len: 0, torn: false }))
    }

    fn start(options: &FileWriterBuilder, path: PathBuf, disk: Box<dyn Disk>) -> Result<EventFile> {
        let shared = Arc::new(Shared {
            path,
            max_queue: options.max_queue,
            flush_every: options.flush_every,
            max_waiting: options.max_waiting,
            state: Mutex::default(),
            work: Condvar::new(),
            tried: Condvar::new(),
        });
        let writing = shared.clone();
        let thread = std::thread::Builder::new().name("event file".into()).spawn(move || {
            // No queue waits for this thread.
            let _idle = Asleep::outside();
            writing.write(disk);
        });
        let thread = thread.map_err(|e| {
            Error::new(Code::ResourceExhausted, format!("no thread could be started to write events: {e}"))
        })?;
        let file = EventFile { shared, thread: Some(thread) };
        let version = What::FileVersion(VERSION.into());
        file.add(&Event { wall_time: now(), step: 0, what: Some(version) })?;
        // An unwritable disk is reported at once.
        file.begin_flush().map_or(Ok(()), |flushing| flushing.wait())?;
        Ok(file)
    }

    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    pub fn is_closed(&self) -> bool {
        self.thread.is_none()
    }

    /// Passes an event to the thread. An error is one that occurred since the last call; the event is kept
    /// even then, unless too many bytes wait.
    pub fn add(&self, event: &Event) -> Result<()> {
        if self.is_closed() {
            return Err(closed(self.path()));
        }
        let event = encode(event);
        let mut state = self.shared.state.lock();
        let most = self.shared.max_waiting;
        if most.saturating_sub(state.unwritten) < event.len() {
            let waits = state.unwritten;
            let error = state.error.take();
            let error = error.unwrap_or_else(|| {
                let path = self.path().display();
                Error::new(
                    Code::ResourceExhausted,
                    format!("{waits} bytes of events wait to be written to `{path}`, and {most} may at most"),
                )
                .with_help("write fewer summaries, or raise `max_waiting_bytes`")
            });
            return Err(error.note("the event was left out"));
        }
        let before = state.waiting.len();
        RecordWriter::new(&mut state.waiting)
            .write(&event)
            .map_err(|e| file_error("write", self.path(), &e))?;
        state.unwritten += state.waiting.len() - before;
        state.n_waiting += 1;
        // The first event starts the clock.
        let first = state.since.is_none();
        state.since.get_or_insert_with(Instant::now);
        if first || self.shared.max_queue <= state.n_waiting {
            self.shared.work.notify_one();
        }
        state.error.take().map_or(Ok(()), Err)
    }

    /// Requests that all events be written; `None` if the file is closed.
    pub fn begin_flush(&self) -> Option<Flushing> {
        self.thread.as_ref()?;
        let mut state = self.shared.state.lock();
        state.asked += 1;
        self.shared.work.notify_one();
        Some(Flushing { shared: self.shared.clone(), request: state.asked })
    }

    /// Writes all events and ends the thread. After an error the file is still open.
    pub fn close(&mut self) -> Result<()> {
        if let Some(flushing) = self.begin_flush() {
            flushing.wait()?;
        }
        self.end().map_or(Ok(()), Err)
    }

    /// Writes all events in one try and ends the thread. Returns the error if it failed: unwritten events are
    /// lost.
    fn end(&mut self) -> Option<Error> {
        let thread = self.thread.take()?;
        self.shared.state.lock().closing = true;
        self.shared.work.notify_one();
        let ended = thread.join();
        let mut state = self.shared.state.lock();
        let unwritten = std::mem::take(&mut state.unwritten);
        if unwritten == 0 && ended.is_ok() {
            return None;
        }
        let error = state.error.take();
        let error = error.unwrap_or_else(|| file_error("write", self.path(), &ErrorKind::Other.into()));
        Some(error.note(format!("{unwritten} bytes of events are lost")))
    }
}

impl Drop for EventFile {
    #[expect(clippy::print_stderr, reason = "nobody else is left whom the loss could be told to")]
    fn drop(&mut self) {
        if let Some(error) = self.end() {
            eprintln!("{error}");
        }
    }
}

/// A request to write all events.
pub(super) struct Flushing {
    shared: Arc<Shared>,
    request: u64,
}

impl Flushing {
    /// Waits until the thread has tried.
    pub fn wait(self) -> Result<()> {
        let mut state = self.shared.state.lock();
        while state.answered < self.request {
            self.shared.tried.wait(&mut state);
        }
        state.error.take().map_or(Ok(()), Err)
    }
}

impl Shared {
    /// The body of the thread: writes until the file is closed.
    fn write(&self, mut disk: Box<dyn Disk>) {
        let mut taken = Vec::new();
        loop {
            let (request, closing) = {
                let mut state = self.state.lock();
                self.wait(&mut state);
                match taken.is_empty() {
                    true => taken = std::mem::take(&mut state.waiting),
                    false => taken.append(&mut state.waiting),
                }
                state.n_waiting = 0;
                (state.asked, state.closing)
            };
            let written = match taken.is_empty() {
                true => Ok(()),
                false => disk.append(&taken),
            };
            let mut state = self.state.lock();
            state.answered = request;
            match written {
                Ok(()) => {
                    state.unwritten -= taken.len();
                    taken = Vec::new();
                }
                Err(error) => {
                    let error = file_error("write", &self.path, &error);
                    let again = format!("{} bytes of events are kept, and will be tried again", taken.len());
                    match closing {
                        true => state.error = Some(error),
                        false => {
                            state.error.get_or_insert_with(|| error.note(again));
                        }
                    }
                }
            }
            state.since = (0 < state.unwritten).then(Instant::now);
            self.tried.notify_all();
            if closing {
                return;
            }
        }
    }

    /// Waits until there is work.
    fn wait(&self, state: &mut parking_lot::MutexGuard<'_, State>) {
        while !state.closing && state.asked == state.answered && state.n_waiting < self.max_queue {
            match state.since.and_then(|since| since.checked_add(self.flush_every)) {
                Some(due) if self.work.wait_until(state, due).timed_out() => return,
                Some(_) => {}
                None => self.work.wait(state),
            }
        }
    }
}

/// Creates a new file: two writers that start in the same second get one each.
fn fresh(files: &Files, folder: &Path, suffix: &str) -> Result<(PathBuf, Output)> {
    files.make_folders(folder)?;
    let host = gethostname::gethostname();
    let host: String = host.to_string_lossy().chars().map(|c| if c == '/' { '_' } else { c }).collect();
    let base = format!("events.out.tfevents.{:010}.{host}", now() as u64);
    let names = std::iter::once(String::new()).chain((1u32..).map(|i| format!(".{i}")));
    for number in names {
        let path = folder.join(format!("{base}{number}{suffix}"));
        match files.create_new(&path) {
            Ok(file) => {
                files.sync_folder(folder_of(&path))?;
                return Ok((path, file));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(file_error("create", &path, &error)),
        }
    }
    Err(Error::internal("there is always another name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::FileWriter;
    use millstream_checkpoint::records::RecordReader;
    use millstream_interop::proto::decode;
    use std::sync::mpsc::{Receiver, Sender, channel};

    const SOON: Duration = Duration::from_secs(20);

    /// A disk in memory that fails a given number of times and can be told to wait before each write.
    #[derive(Clone)]
    struct Shown {
        file: Arc<Mutex<Vec<u8>>>,
        failures: Arc<Mutex<usize>>,
    }

    struct Slow {
        shown: Shown,
        go_on: Option<Receiver<()>>,
    }

    impl Disk for Slow {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            if let Some(go_on) = &self.go_on {
                let _told = go_on.recv();
            }
            let mut failures = self.shown.failures.lock();
            if 0 < *failures {
                *failures -= 1;
                return Err(io::Error::from(ErrorKind::StorageFull));
            }
            self.shown.file.lock().extend_from_slice(bytes);
            Ok(())
        }
    }

    impl Shown {
        fn new() -> Shown {
            Shown { file: Arc::default(), failures: Arc::default() }
        }

        fn steps(&self) -> Vec<i64> {
            let file = self.file.lock().clone();
            let records =
                RecordReader::new(&file[..], "shown").map(|r| decode::<Event>(&r.unwrap()).unwrap());
            records.skip(1).map(|e| e.step).collect()
        }

        fn open(&self, options: &FileWriterBuilder, go_on: Option<Receiver<()>>) -> Result<EventFile> {
            let disk = Slow { shown: self.clone(), go_on };
            EventFile::start(options, "shown".into(), Box::new(disk))
        }

        fn opened(&self, options: &FileWriterBuilder) -> (EventFile, Sender<()>) {
            let (tell, go_on) = channel();
            tell.send(()).unwrap();
            (self.open(options, Some(go_on)).unwrap(), tell)
        }
    }

    fn event(step: i64) -> Event {
        Event { step, ..Event::default() }
    }

    fn options() -> FileWriterBuilder {
        FileWriter::builder("none").flush_secs(1e6)
    }

    #[test]
    fn nobody_waits_for_a_disk_that_stalls() {
        let shown = Shown::new();
        let (file, tell) = shown.opened(&options().max_queue(2));
        for step in 0..1000 {
            file.add(&event(step)).unwrap();
        }
        assert!(shown.steps().is_empty(), "the disk has not gone on");
        drop(tell);
        drop(file);
        assert_eq!(shown.steps(), (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn what_a_failing_disk_does_not_take_is_kept() {
        let shown = Shown::new();
        let file = shown.open(&options(), None).unwrap();
        *shown.failures.lock() = 2;
        file.add(&event(1)).unwrap();
        let flush = || file.begin_flush().map_or(Ok(()), |f| f.wait());
        let error = flush().unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted);
        assert!(error.to_string().contains("cannot write `shown`"), "{error}");
        assert!(error.to_string().contains("bytes of events are kept"), "{error}");
        file.add(&event(2)).unwrap();
        assert!(flush().is_err(), "it is told each time");
        flush().unwrap();
        assert_eq!(shown.steps(), [1, 2]);
    }

    #[test]
    fn the_next_event_tells_of_a_failure_and_is_kept() {
        let shown = Shown::new();
        let file = shown.open(&options().max_queue(1), None).unwrap();
        *shown.failures.lock() = 1;
        file.add(&event(1)).unwrap();
        let until = Instant::now() + SOON;
        while *shown.failures.lock() != 0 || file.shared.state.lock().error.is_none() {
            assert!(Instant::now() < until, "nothing was tried");
            std::thread::yield_now();
        }
        assert!(file.add(&event(2)).is_err());
        file.add(&event(3)).unwrap();
        drop(file);
        assert_eq!(shown.steps(), [1, 2, 3]);
    }

    #[test]
    fn a_failure_to_close_leaves_it_open() {
        let shown = Shown::new();
        let mut file = shown.open(&options(), None).unwrap();
        *shown.failures.lock() = 1;
        file.add(&event(1)).unwrap();
        assert!(file.close().is_err() && !file.is_closed());
        file.close().unwrap();
        assert!(file.is_closed());
        let error = file.add(&event(2)).unwrap_err();
        assert!(error.to_string().contains("call `reopen`"), "{error}");
        assert_eq!(shown.steps(), [1]);
    }

    /// A dropped file can report only to the standard error; it prints the error that `end` returns.
    #[test]
    fn what_is_lost_at_the_end_is_told() {
        let shown = Shown::new();
        let mut file = shown.open(&options(), None).unwrap();
        file.add(&event(1)).unwrap();
        *shown.failures.lock() = 1;
        let error = file.end().unwrap().to_string();
        assert!(error.contains("cannot write `shown`") && !error.contains("tried again"), "{error}");
        assert!(error.contains("18 bytes of events are lost"), "{error}");
        assert!(file.end().is_none(), "it is told once");
        let mut file = Shown::new().open(&options(), None).unwrap();
        file.add(&event(1)).unwrap();
        assert!(file.end().is_none());
    }

    #[test]
    fn a_disk_that_takes_nothing_is_known_at_once() {
        let shown = Shown::new();
        *shown.failures.lock() = 1;
        assert!(shown.open(&options(), None).is_err());
    }

    #[test]
    fn what_waits_is_bounded() {
        let shown = Shown::new();
        let (file, tell) = shown.opened(&options().max_waiting_bytes(200));
        let mut kept = Vec::new();
        for step in 1..100 {
            match file.add(&event(step)) {
                Ok(()) => kept.push(step),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("of events wait to be written to `shown`"), "{text}");
                    assert!(text.contains("and 200 may at most"), "{text}");
                    assert!(text.contains("the event was left out"), "{text}");
                }
            }
        }
        assert!(kept.len() < 20, "{kept:?}");
        drop(tell);
        drop(file);
        assert_eq!(shown.steps(), kept);
    }

    #[test]
    fn time_alone_writes() {
        let shown = Shown::new();
        let file = shown.open(&options().flush_secs(0.01), None).unwrap();
        file.add(&event(7)).unwrap();
        let until = Instant::now() + SOON;
        while shown.steps() != [7] {
            assert!(Instant::now() < until, "nothing was written");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_torn_record_is_cut_off() {
        let folder = std::env::temp_dir().join(format!("millstream-torn-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, mut file) = fresh(&Files::everything(), &folder, ".x").unwrap();
        file.write_all(b"whole, and half").unwrap();
        let mut disk = Appended { file, len: 5, torn: true };
        disk.append(b"+next").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole+next");
        assert_ne!(
            fresh(&Files::everything(), &folder, ".x").unwrap().0,
            path,
            "a file of that name is there"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
