//! [`Reader`]: reads records from one work unit (file) after another. The names of the units come from a
//! queue.
//!
//! # Attempts
//!
//! Every read is an *attempt*. It ends at once if no other is ahead of it and there is a record, or a next
//! name; otherwise it waits in line. The first in line *asks* the queue for a name, like any dequeue. When
//! the name arrives, the line is served until an attempt has to ask again:
//!
//! ```text
//!   read, read_up_to ─► line ─► first ── asks ──► queue of names
//!                                 ▲                    │ a name, on the thread that enqueued it
//!                                 └── the line is served by a thread of the run that asked
//! ```
//!
//! No thread blocks on the queue. One thread at a time reads the file, which may take long: a FIFO has
//! nothing to read until somebody writes to it. Meanwhile only the format is locked, so attempts can join the
//! line and be cancelled, records can return, and the position can be asked for.
//!
//! Attempts are cancelled one by one: the queue cancels the first in line, the reader cancels the others, and
//! the files' check ends a read that is going on. If a name arrives for an attempt that is gone, the reader
//! still uses it, so that no file is lost. Records that were handed out and not used come back ([`Records`]),
//! and the next attempt gets them; the first in line stops asking for a name then.
//!
//! Definition: TensorFlow's readers (`ReaderBase`). An error is returned to the attempt that met it and to
//! all later ones until the reader is reset; the records found before it are returned first. The end of the
//! run that reads is no such error: the next run goes on where it ended.

use crate::cancel::{Cancellation, Registration};
use crate::queue::{Dequeued, Item, Queue, Take, Waiter};
use millstream_files::Files;
use millstream_tensor::budget::{self, Here};
use millstream_tensor::pace::uninterrupted;
use millstream_tensor::{Code, DType, Error, Opaque, Result, Str, ensure, invalid};
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A record: its key and its value.
pub type Record = (Str, Str);

/// A file format: how a reader finds the records of a work unit. `files` are those of the run that reads,
/// which need not be the run that opened the unit.
pub trait Format: Send {
    /// Begins a work unit. After an error no unit is open. If the error is the end of the run, the same unit
    /// is begun again by the next.
    fn begin(&mut self, work: &Str, files: &Files) -> Result<()>;

    /// The next record of the open work unit. If the run is over, nothing that was read is lost: the next run
    /// goes on from there.
    fn record(&mut self, files: &Files) -> Result<Found>;

    /// Closes the open work unit, if any.
    fn reset(&mut self);

    /// Whether [`Progress`] describes the position completely.
    fn can_be_saved(&self) -> bool {
        false
    }
}

/// The result of looking for a record.
#[derive(Clone, Debug)]
pub enum Found {
    /// A record that may be followed by others.
    Record(Record),
    /// The last record.
    Last(Record),
    /// The end: there are no more records.
    End,
}

/// The position of a reader. A reader can resume from it if its format allows that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of work units begun.
    pub started: i64,
    /// The number of work units read to the end: as many as were begun, or one fewer.
    pub finished: i64,
    /// The number of records returned.
    pub produced: i64,
    /// The work unit begun last.
    pub work: Str,
}

/// The callback of an attempt. It receives the records, or the error.
pub type Told = Box<dyn FnOnce(Result<Records>) + Send>;

/// Records that a reader hands out. They are the receiver's once it calls [`Records::used`]. If the value
/// drops before that, because the run is over when they arrive or has no memory for them, the next attempt
/// gets them.
#[must_use = "records that are not used return to their reader"]
pub struct Records {
    records: Vec<Record>,
    reader: Weak<Reader>,
    /// [`State::epoch`] when they were read.
    epoch: u64,
}

impl Records {
    /// Takes the records for good.
    pub fn used(mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }
}

impl Deref for Records {
    type Target = [Record];

    fn deref(&self) -> &[Record] {
        &self.records
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("records", &self.records.len()).finish_non_exhaustive()
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        let records = std::mem::take(&mut self.records);
        if !records.is_empty()
            && let Some(reader) = self.reader.upgrade()
        {
            reader.take_back(records, self.epoch);
        }
    }
}

/// Runs a job soon, on a free thread.
pub type Spawn = Arc<dyn Fn(Box<dyn FnOnce() + Send>) + Send + Sync>;

/// A request to read: where the names come from, how many records, and where the result goes.
pub struct Reading {
    /// The queue of names.
    pub names: Arc<Queue>,
    /// The files that the run may open.
    pub files: Files,
    /// The number of records; fewer if the work unit has fewer left.
    pub up_to: usize,
    /// The name of the node that reads.
    pub who: Arc<str>,
    /// Cancels the attempt when it is raised.
    pub cancel: Cancellation,
    /// Runs the job that serves the line once a name has arrived.
    pub spawn: Spawn,
    /// Called once, on any thread, never under the reader's lock.
    pub told: Told,
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("who", &self.who).field("up_to", &self.up_to).finish_non_exhaustive()
    }
}

/// Reads records from one work unit after another.
pub struct Reader {
    name: String,
    op: &'static str,
    /// Whether the position can be saved.
    can_be_saved: bool,
    /// The format, with its open file. Held while a file is read; `state` may be locked under it.
    format: Mutex<Box<dyn Format>>,
    /// The position and the line. While this lock is held, the listeners of cancellations may be locked; no
    /// file is read and no callback runs under it.
    state: Mutex<State>,
}

/// The longest time between two looks at the run, of a thread that waits for the format.
const PATIENCE: Duration = Duration::from_millis(20);

struct State {
    /// The name of a work unit that has arrived but is not begun.
    next: Option<Str>,
    /// Whether a work unit is open.
    in_work: bool,
    progress: Progress,
    /// The error of the current work unit; later attempts get it too.
    failed: Option<Error>,
    /// Records that were handed out and came back.
    returned: VecDeque<Record>,
    /// The number of times that the position was changed from outside. Records read before that do not come
    /// back.
    epoch: u64,
    line: VecDeque<Attempt>,
    /// Whether a thread reads. The others leave the line to it.
    busy: bool,
    /// Whether it reads for the first in line.
    served: bool,
    /// Whether the first in line waits for the queue.
    asking: bool,
    /// The queue that it asks and the number of the question, once it is known.
    asked: Option<(Arc<Queue>, u64)>,
    next_id: u64,
}

struct Attempt {
    id: u64,
    reading: Reading,
    /// What the run that reads works within.
    here: Arc<Here>,
    /// Removes the attempt from the line when its run is cancelled. The first in line has none: its wait in
    /// the queue is cancelled by the queue.
    listening: Option<Registration>,
}

impl Reader {
    /// A reader that has read nothing. `op` is the type of the op that makes it.
    pub fn new(name: impl Into<String>, op: &'static str, format: Box<dyn Format>) -> Reader {
        let state = State {
            next: None,
            in_work: false,
            progress: Progress::default(),
            failed: None,
            returned: VecDeque::new(),
            epoch: 0,
            line: VecDeque::new(),
            busy: false,
            served: false,
            asking: false,
            asked: None,
            next_id: 0,
        };
        let can_be_saved = format.can_be_saved();
        Reader { name: name.into(), op, can_be_saved, format: Mutex::new(format), state: Mutex::new(state) }
    }

    /// The type of the op that made the reader.
    pub fn op(&self) -> &'static str {
        self.op
    }

    /// Returns up to `up_to` records if they are available at once and no attempt is ahead.
    pub fn try_read(self: &Arc<Self>, names: &Queue, files: &Files, up_to: usize) -> Result<Option<Records>> {
        {
            let mut state = self.state.lock();
            if state.busy || !state.line.is_empty() {
                return Ok(None);
            }
            state.busy = true;
        }
        let _busy = Busy(self);
        self.read_now(names, files, up_to)
    }

    /// The format, when no thread reads any more. An error if the run of these files is over before.
    fn format(&self, files: &Files) -> Result<MutexGuard<'_, Box<dyn Format>>> {
        loop {
            if let Some(format) = self.format.try_lock_for(PATIENCE) {
                return Ok(format);
            }
            files.check()?;
        }
    }

    /// Takes back records that were not used, ahead of those that came back before.
    fn take_back(self: &Arc<Self>, records: Vec<Record>, epoch: u64) {
        let mut state = self.state.lock();
        if state.epoch != epoch {
            return;
        }
        state.progress.produced -= records.len() as i64;
        records.into_iter().rev().for_each(|record| state.returned.push_front(record));
        let asked = state.asked.take();
        let serves = state.server();
        drop(state);
        match (asked, serves) {
            // The first in line has a record now: it need not ask for a name.
            (Some((names, question)), _) => names.withdraw(question, &no_longer_asked()),
            // This thread may hold locks of its run, so it reads nothing.
            (None, Some(spawn)) => {
                let reader = self.clone();
                spawn(Box::new(move || reader.serve()));
            }
            (None, None) => {}
        }
    }

    /// Reads now, or as soon as a record is available.
    pub fn read(self: &Arc<Self>, reading: Reading) {
        let mut state = self.state.lock();
        let id = state.next_id;
        state.next_id += 1;
        let cancel = reading.cancel.clone();
        state.line.push_back(Attempt { id, reading, here: Arc::new(budget::here()), listening: None });
        drop(state);
        self.serve();
        // The queue listens for the cancellation of the first in line, and the files for that of one served.
        if self.state.lock().behind(id).is_none() {
            return;
        }
        let reader = Arc::downgrade(self);
        let listening = cancel.on_cancel(move |cause| {
            if let Some(reader) = reader.upgrade() {
                reader.call_off(id, cause);
            }
        });
        // The attempt may have become the first, or ended, in between.
        let mut state = self.state.lock();
        if let Some(attempt) = state.behind(id) {
            attempt.listening = Some(listening);
        }
    }

    /// Removes an attempt from the line, unless it is the first and waits for the queue or a file, which then
    /// handles the cancellation.
    fn call_off(&self, id: u64, cause: &Error) {
        let mut state = self.state.lock();
        let at = state.line.iter().position(|attempt| attempt.id == id).filter(|&at| at >= state.n_held());
        let gone = at.and_then(|at| state.line.remove(at));
        drop(state);
        if let Some(attempt) = gone {
            drop(attempt.listening);
            (attempt.reading.told)(Err(cause.clone()));
        }
    }

    /// Serves the line until it is empty or its first attempt has to ask for a name.
    fn serve(self: &Arc<Self>) {
        loop {
            let mut state = self.state.lock();
            if state.asking || state.busy {
                return;
            }
            let Some(first) = state.line.front_mut() else { return };
            let (names, up_to, here) = (first.reading.names.clone(), first.reading.up_to, first.here.clone());
            let (who, cancel, spawn) =
                (first.reading.who.clone(), first.reading.cancel.clone(), first.reading.spawn.clone());
            let files = first.reading.files.clone();
            let was_listening = first.listening.take();
            (state.busy, state.served) = (true, true);
            drop(state);
            let busy = Busy(self);
            // The deadline of this thread's own run is none of the attempt's.
            let apart = uninterrupted();
            let entered = here.enter();
            let result = cancel.check().and_then(|()| self.read_now(&names, &files, up_to)).transpose();
            drop((entered, apart));
            let mut state = busy.over();
            let Some(result) = result else {
                state.asking = true;
                drop(state);
                drop(was_listening);
                return self.ask(names, who, cancel, spawn);
            };
            let first = state.line.pop_front();
            drop(state);
            drop(was_listening);
            if let Some(first) = first {
                (first.reading.told)(result);
            }
        }
    }

    /// Returns up to `up_to` records of one work unit; `None` if there is nothing to read until the queue has
    /// a name. Only the thread that is [`Busy`] calls this.
    fn read_now(self: &Arc<Self>, names: &Queue, files: &Files, up_to: usize) -> Result<Option<Records>> {
        let mut format = self.format(files)?;
        // The position is not changed from outside while the format is locked.
        let epoch = self.state.lock().epoch;
        let hand_out = |records| Records { records, reader: Arc::downgrade(self), epoch };
        {
            let mut state = self.state.lock();
            if !state.returned.is_empty() {
                let n = up_to.min(state.returned.len());
                state.progress.produced += n as i64;
                return Ok(Some(hand_out(state.returned.drain(..n).collect())));
            }
            if let Some(failed) = &state.failed {
                return Err(failed.clone());
            }
        }
        check_names(names)?;
        if up_to == 0 {
            return Ok(Some(hand_out(Vec::new())));
        }
        loop {
            if !self.state.lock().in_work && !self.begin_next(&mut **format, names, files)? {
                return Ok(None);
            }
            let records = self.records_of_work(&mut **format, files, up_to)?;
            if !records.is_empty() {
                return Ok(Some(hand_out(records)));
            }
        }
    }

    /// Begins the next work unit. Returns false if the queue has no name for it.
    fn begin_next(&self, format: &mut dyn Format, names: &Queue, files: &Files) -> Result<bool> {
        let next = self.state.lock().next.take();
        let name = match next {
            Some(name) => name,
            None => match names.try_dequeue_one() {
                Ok(Some(item)) => name_of(&item)?,
                Ok(None) => return Ok(false),
                Err(error) => {
                    // The position that TensorFlow saves at this point has no work unit.
                    self.state.lock().progress.work = Str::default();
                    return Err(error);
                }
            },
        };
        let begun = format.begin(&name, files);
        let mut state = self.state.lock();
        if let Err(error) = begun {
            if files.ended_by(&error) {
                state.next = Some(name);
            }
            return Err(error);
        }
        state.progress.started += 1;
        state.progress.work = name;
        state.in_work = true;
        Ok(true)
    }

    /// Reads up to `up_to` records of the open work unit.
    fn records_of_work(&self, format: &mut dyn Format, files: &Files, up_to: usize) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        while records.len() < up_to {
            let found = match format.record(files) {
                Ok(found) => found,
                // The file is not to blame: the next run gets what was found, and reads on.
                Err(error) if files.ended_by(&error) => {
                    let mut state = self.state.lock();
                    state.progress.produced -= records.len() as i64;
                    state.returned.extend(records);
                    return Err(error);
                }
                Err(error) => {
                    self.state.lock().failed = Some(error.clone());
                    // Records found before the error are returned first.
                    return if records.is_empty() { Err(error) } else { Ok(records) };
                }
            };
            let mut state = self.state.lock();
            let goes_on = matches!(found, Found::Record(_));
            if !goes_on {
                state.progress.finished = state.progress.started;
                state.in_work = false;
            }
            if let Found::Record(record) | Found::Last(record) = found {
                state.progress.produced += 1;
                records.push(record);
            }
            if !goes_on {
                break;
            }
        }
        Ok(records)
    }

    /// Asks the queue for a name, for the first in line.
    fn ask(self: &Arc<Self>, names: Arc<Queue>, who: Arc<str>, cancel: Cancellation, spawn: Spawn) {
        let reader = self.clone();
        let ended = Box::new(move |names: Result<Dequeued>| {
            spawn(Box::new(move || reader.arrived(names)));
        });
        let question = names.dequeue(Take::Exactly(1), Waiter { who, cancel, ended });
        let mut state = self.state.lock();
        if !state.asking {
            return;
        }
        match state.returned.is_empty() {
            true => state.asked = Some((names, question)),
            // Records came back in between.
            false => {
                drop(state);
                names.withdraw(question, &no_longer_asked());
            }
        }
    }

    /// Receives the name for the first in line, or the error in its place.
    fn arrived(self: &Arc<Self>, names: Result<Dequeued>) {
        let mut state = self.state.lock();
        state.asking = false;
        state.asked = None;
        let name = names.and_then(|items| match items.used().into_iter().next() {
            Some(item) => name_of(&item),
            None => Err(Error::internal("a queue gave no item")),
        });
        let gone = match name {
            Ok(name) => {
                state.next = Some(name);
                None
            }
            Err(error) if error.code() == Code::Aborted && !state.returned.is_empty() => None,
            Err(error) => state.line.pop_front().map(|first| (first, error)),
        };
        drop(state);
        if let Some((first, error)) = gone {
            (first.reading.told)(Err(error));
        }
        self.serve();
    }

    /// The attempts in line that `cancel` cancels, without the first if it waits in the queue of names.
    pub fn waits_of(&self, cancel: &Cancellation) -> Vec<Arc<str>> {
        let state = self.state.lock();
        let is_of = |a: &&Attempt| a.listening.as_ref().is_some_and(|l| l.is_of(cancel));
        state.line.iter().skip(state.n_held()).filter(is_of).map(|a| a.reading.who.clone()).collect()
    }

    /// The position of the reader.
    pub fn progress(&self) -> Progress {
        self.state.lock().progress.clone()
    }

    /// The position of the reader, to resume from. `UNIMPLEMENTED` if the format cannot describe its position
    /// in a file.
    pub fn save(&self) -> Result<Progress> {
        self.check_can_be_saved()?;
        let state = self.state.lock();
        if !state.returned.is_empty() {
            let n = state.returned.len();
            let text =
                format!("{self:?} holds {n} records that a failed run did not use, and a position does not");
            return Err(Error::new(Code::FailedPrecondition, text).with_help("read them first"));
        }
        Ok(state.progress.clone())
    }

    fn check_can_be_saved(&self) -> Result<()> {
        match self.can_be_saved {
            true => Ok(()),
            false => Err(Error::unimplemented(format!(
                "{self:?} cannot tell its position in a file, so its state cannot be saved or restored"
            ))),
        }
    }

    /// Resumes from the position of another reader.
    pub fn restore(&self, progress: Progress, files: &Files) -> Result<()> {
        self.check_can_be_saved()?;
        let Progress { started, finished, produced, .. } = progress;
        ensure!(
            started >= 0 && finished >= 0 && produced >= 0,
            "a state for {self:?} has a negative count: {started} work units begun, {finished} finished, {produced} records"
        );
        ensure!(
            started <= finished,
            "a state for {self:?} has {started} work units begun and {finished} finished: it was not saved between two reads"
        );
        self.clear(progress, files)
    }

    /// Discards the position and the open work unit. The next read begins with the next name. Waits for a
    /// read that is going on; an error if the run that waits is over before.
    pub fn reset(&self, files: &Files) -> Result<()> {
        self.clear(Progress::default(), files)
    }

    fn clear(&self, progress: Progress, files: &Files) -> Result<()> {
        let mut format = self.format(files)?;
        format.reset();
        let mut state = self.state.lock();
        state.returned.clear();
        state.epoch += 1;
        state.failed = None;
        state.next = None;
        state.in_work = false;
        state.progress = progress;
        Ok(())
    }
}

/// The thread that reads. Dropped by a read outside of the line, or by a panic, it leaves the line to another
/// thread.
struct Busy<'a>(&'a Arc<Reader>);

impl<'a> Busy<'a> {
    /// The state, for the same thread to serve the line on.
    fn over(self) -> MutexGuard<'a, State> {
        let reader = self.0;
        std::mem::forget(self);
        let mut state = reader.state.lock();
        (state.busy, state.served) = (false, false);
        state
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        (state.busy, state.served) = (false, false);
        let server = state.server();
        drop(state);
        // This thread may hold locks of its run, so it reads no more.
        if let Some(spawn) = server {
            let reader = self.0.clone();
            spawn(Box::new(move || reader.serve()));
        }
    }
}

impl State {
    /// How many of the first attempts in line wait for the queue or a file, one or none.
    fn n_held(&self) -> usize {
        usize::from(self.asking || self.served)
    }

    /// The attempt with this id, if it is in line and waits neither for the queue nor for a file.
    fn behind(&mut self, id: u64) -> Option<&mut Attempt> {
        let held = self.n_held();
        self.line.iter_mut().skip(held).find(|attempt| attempt.id == id)
    }

    /// How the line can be served, if it has to be.
    fn server(&self) -> Option<Spawn> {
        let first = self.line.front().filter(|_| !self.asking && !self.busy);
        first.map(|first| first.reading.spawn.clone())
    }
}

/// The end of a question to the queue whose answer is no longer needed.
fn no_longer_asked() -> Error {
    Error::new(Code::Aborted, "the reader got records back that another run did not use")
}

/// Returns an error unless the items of the queue are names.
fn check_names(names: &Queue) -> Result<()> {
    let dtypes = &names.spec().dtypes;
    ensure!(
        dtypes[..] == [DType::Str],
        "a reader takes names from a queue of one string component, but {names:?} holds components of {dtypes:?}"
    );
    Ok(())
}

fn name_of(item: &Item) -> Result<Str> {
    match item.first().map(|value| (value, value.as_strs())) {
        Some((_, Some([name]))) => Ok(name.clone()),
        Some((value, _)) => Err(invalid!(
            "a reader takes one name at a time, but the queue gave {}{}",
            value.dtype(),
            value.shape()
        )),
        None => Err(Error::internal("an item of a queue has no component")),
    }
}

impl Opaque for Reader {
    fn kind(&self) -> &'static str {
        "reader"
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.op, self.name)
    }
}
