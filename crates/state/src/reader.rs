//! [`Reader`]: records of one work (file) after the other, whose names come from a queue.
//!
//! # Attempts
//!
//! Whoever reads makes an *attempt*. It ends at once if nobody is ahead of it and there is a record, or a next name; otherwise it
//! stands in line. The first in line *asks* the queue for a name, as any dequeue does; when the name comes, the line is served
//! until somebody has to ask again:
//!
//! ```text
//!   read, read_up_to ─► line ─► first ── asks ──► queue of names
//!                                 ▲                    │ a name, on whichever thread enqueued it
//!                                 └── the line is served by a thread of the run that asked
//! ```
//!
//! No thread waits for the queue. An attempt is called off alone: the first by the queue, the others here. A name that comes for
//! an attempt that is gone becomes the reader's work all the same, so that no file is lost.
//!
//! Definition: the readers of TensorFlow (`ReaderBase`). An error is that of the attempt that met it, and of those that come
//! later until the reader is reset; records found before it are handed out first.

use crate::cancel::{Cancellation, Registration};
use crate::queue::{Item, Queue, Take, Waiter};
use millstream_tensor::budget::{self, Budget};
use millstream_tensor::{DType, Error, Opaque, Result, Str, ensure, invalid};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// A record: its key and its value.
pub type Record = (Str, Str);

/// What a reader reads its works with: the format of files.
pub trait Format: Send {
    /// Begins a work. After an error there is none.
    fn begin(&mut self, work: &Str) -> Result<()>;

    /// The next record of the work that was begun.
    fn record(&mut self) -> Result<Found>;

    /// Forgets the work that was begun, if there is one.
    fn reset(&mut self);

    /// Whether [`Progress`] says all there is to say of how far it is.
    fn can_be_saved(&self) -> bool {
        false
    }
}

/// What a format finds in its work.
#[derive(Clone, Debug)]
pub enum Found {
    /// A record.
    Record(Record),
    /// A record, the last.
    Last(Record),
    /// Nothing more.
    End,
}

/// How far a reader is: what it can be told to go on from, if its format allows that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Works that were begun.
    pub started: i64,
    /// Works that are read to their ends; as many as were begun, or one fewer.
    pub finished: i64,
    /// Records handed out.
    pub produced: i64,
    /// The work that was begun last.
    pub work: Str,
}

/// What is called with an attempt's records, or why there are none.
pub type Told = Box<dyn FnOnce(Result<Vec<Record>>) + Send>;

/// Does work soon, on a thread that has time for it.
pub type Spawn = Arc<dyn Fn(Box<dyn FnOnce() + Send>) + Send + Sync>;

/// Who reads: where the names come from, how many records, and what to do with them.
pub struct Reading {
    /// The queue of names.
    pub names: Arc<Queue>,
    /// As many records, or those that are left of the work.
    pub up_to: usize,
    /// The node that asks.
    pub who: Arc<str>,
    /// Calls the attempt off when it is raised.
    pub cancel: Cancellation,
    /// Where the line is served when a name has come.
    pub spawn: Spawn,
    /// Called once, on any thread, never under the reader's lock.
    pub told: Told,
}

/// Reads records of one work after the other.
pub struct Reader {
    name: String,
    op: &'static str,
    /// The work and the line. Queues are looked into under it, and cancellations' lists of listeners; nobody is told under it.
    state: Mutex<State>,
}

struct State {
    format: Box<dyn Format>,
    /// A work whose name came, but which is not begun.
    next: Option<Str>,
    /// A work is begun and not at its end.
    in_work: bool,
    progress: Progress,
    /// What was wrong with the work, and will be.
    failed: Option<Error>,
    line: VecDeque<Attempt>,
    /// The first in line waits for the queue.
    asking: bool,
    next_id: u64,
}

struct Attempt {
    id: u64,
    reading: Reading,
    /// The budget of the run that reads.
    budget: Option<Arc<Budget>>,
    /// Takes the attempt off the line when its run is called off. The first in line has none: the queue listens for it.
    listening: Option<Registration>,
}

impl Reader {
    /// A reader that has read nothing, made by ops of type `op`.
    pub fn new(name: impl Into<String>, op: &'static str, format: Box<dyn Format>) -> Reader {
        let state = State {
            format,
            next: None,
            in_work: false,
            progress: Progress::default(),
            failed: None,
            line: VecDeque::new(),
            asking: false,
            next_id: 0,
        };
        Reader { name: name.into(), op, state: Mutex::new(state) }
    }

    /// The type of op that made it.
    pub fn op(&self) -> &'static str {
        self.op
    }

    /// Up to so many records if they can be had at once, and nobody is ahead.
    pub fn try_read(&self, names: &Queue, up_to: usize) -> Result<Option<Vec<Record>>> {
        let mut state = self.state.lock();
        match state.line.is_empty() {
            true => state.read(names, up_to),
            false => Ok(None),
        }
    }

    /// Reads, now or when there is something to read.
    pub fn read(self: &Arc<Self>, reading: Reading) {
        let mut state = self.state.lock();
        let id = state.next_id;
        state.next_id += 1;
        let cancel = reading.cancel.clone();
        state.line.push_back(Attempt { id, reading, budget: budget::current(), listening: None });
        drop(state);
        self.serve();
        // The first in line is listened for by the queue.
        if self.state.lock().behind(id).is_none() {
            return;
        }
        let reader = Arc::downgrade(self);
        let listening = cancel.on_cancel(move |cause| {
            if let Some(reader) = reader.upgrade() {
                reader.call_off(id, cause);
            }
        });
        // It may have come first, or to its end, in between.
        let mut state = self.state.lock();
        if let Some(attempt) = state.behind(id) {
            attempt.listening = Some(listening);
        }
    }

    /// Takes an attempt off the line, if it is not the first, of which the queue knows.
    fn call_off(&self, id: u64, cause: &Error) {
        let mut state = self.state.lock();
        let at = state.line.iter().position(|attempt| attempt.id == id).filter(|&at| at > 0 || !state.asking);
        let gone = at.and_then(|at| state.line.remove(at));
        drop(state);
        if let Some(attempt) = gone {
            drop(attempt.listening);
            (attempt.reading.told)(Err(cause.clone()));
        }
    }

    /// Serves the line until it is empty or its first has to ask for a name.
    fn serve(self: &Arc<Self>) {
        loop {
            let mut state = self.state.lock();
            if state.asking {
                return;
            }
            let Some(first) = state.line.front_mut() else { return };
            let (names, up_to, budget) =
                (first.reading.names.clone(), first.reading.up_to, first.budget.clone());
            let (who, cancel, spawn) =
                (first.reading.who.clone(), first.reading.cancel.clone(), first.reading.spawn.clone());
            let was_listening = first.listening.take();
            let entered = budget::enter(budget.as_ref());
            let result = cancel.check().and_then(|()| state.read(&names, up_to)).transpose();
            drop(entered);
            let Some(result) = result else {
                state.asking = true;
                drop(state);
                drop(was_listening);
                let reader = self.clone();
                let ended = Box::new(move |names: Result<Vec<Item>>| {
                    spawn(Box::new(move || reader.arrived(names)));
                });
                return names.dequeue(Take::Exactly(1), Waiter { who, cancel, ended });
            };
            let first = state.line.pop_front();
            drop(state);
            drop(was_listening);
            if let Some(first) = first {
                (first.reading.told)(result);
            }
        }
    }

    /// A name came for the first in line, or why there is none.
    fn arrived(self: &Arc<Self>, names: Result<Vec<Item>>) {
        let mut state = self.state.lock();
        state.asking = false;
        let name = names.and_then(|items| match items.into_iter().next() {
            Some(item) => name_of(&item),
            None => Err(Error::internal("a queue gave no item")),
        });
        let gone = match name {
            Ok(name) => {
                state.next = Some(name);
                None
            }
            Err(error) => state.line.pop_front().map(|first| (first, error)),
        };
        drop(state);
        if let Some((first, error)) = gone {
            (first.reading.told)(Err(error));
        }
        self.serve();
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.state.lock().progress.clone()
    }

    /// How far it is, to go on from there. `UNIMPLEMENTED` where that does not say where in a file it is.
    pub fn save(&self) -> Result<Progress> {
        let state = self.state.lock();
        self.check_can_be_saved(&state)?;
        Ok(state.progress.clone())
    }

    fn check_can_be_saved(&self, state: &State) -> Result<()> {
        match state.format.can_be_saved() {
            true => Ok(()),
            false => Err(Error::unimplemented(format!(
                "{self:?} cannot say where in a file it is: its state is neither saved nor restored"
            ))),
        }
    }

    /// Goes on from where another was.
    pub fn restore(&self, progress: Progress) -> Result<()> {
        let mut state = self.state.lock();
        self.check_can_be_saved(&state)?;
        let Progress { started, finished, produced, .. } = progress;
        ensure!(
            started >= 0 && finished >= 0 && produced >= 0,
            "a state for {self:?} has a negative count: {started} works begun, {finished} finished, {produced} records"
        );
        ensure!(
            started <= finished,
            "a state for {self:?} has {started} works begun and {finished} finished: it was not saved between two reads"
        );
        state.clear();
        state.progress = progress;
        Ok(())
    }

    /// Forgets what it has read, and the work it is in. The next read begins with the next name.
    pub fn reset(&self) {
        self.state.lock().clear();
    }
}

impl State {
    /// An attempt in line that is not the first.
    fn behind(&mut self, id: u64) -> Option<&mut Attempt> {
        self.line.iter_mut().skip(1).find(|attempt| attempt.id == id)
    }

    fn clear(&mut self) {
        self.format.reset();
        self.failed = None;
        self.next = None;
        self.in_work = false;
        self.progress = Progress::default();
    }

    /// Up to so many records of one work; `None` if there is nothing to read until the queue has a name.
    fn read(&mut self, names: &Queue, up_to: usize) -> Result<Option<Vec<Record>>> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        check_names(names)?;
        if up_to == 0 {
            return Ok(Some(Vec::new()));
        }
        let mut records = Vec::new();
        loop {
            if !self.in_work {
                let name = match self.next.take() {
                    Some(name) => name,
                    None => match names.try_dequeue_one() {
                        Ok(Some(item)) => name_of(&item)?,
                        Ok(None) => return Ok(None),
                        Err(error) => {
                            // As TensorFlow has it in the state that is saved then.
                            self.progress.work = Str::default();
                            return Err(error);
                        }
                    },
                };
                self.format.begin(&name)?;
                self.progress.started += 1;
                self.progress.work = name;
                self.in_work = true;
            }
            while records.len() < up_to && self.in_work {
                let found = match self.format.record() {
                    Ok(found) => found,
                    Err(error) => {
                        self.failed = Some(error.clone());
                        // What was found before is told first.
                        return if records.is_empty() { Err(error) } else { Ok(Some(records)) };
                    }
                };
                if !matches!(found, Found::Record(_)) {
                    self.progress.finished = self.progress.started;
                    self.in_work = false;
                }
                if let Found::Record(record) | Found::Last(record) = found {
                    self.progress.produced += 1;
                    records.push(record);
                }
            }
            if !records.is_empty() {
                return Ok(Some(records));
            }
        }
    }
}

/// An error unless the items of the queue are names.
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
