//! [`Queue`]: tensors that some hand in and others take out, each waiting for the other where they must.
//!
//! # Attempts
//!
//! Whoever asks something of a queue makes an *attempt*. It ends at once if nobody is ahead of it and what it asks can be had;
//! otherwise it stands in line, the enqueues (and the closing) in one, the dequeues in the other. Each change of the queue
//! serves the first of each line, again and again, until neither gets further:
//!
//! ```text
//!   enqueue, enqueue_many, close ─► line ─► ┌───────┐ ─► line ─► dequeue, dequeue_many, dequeue_up_to
//!                                           │ items │
//!   a row goes in where there is room       └───────┘       an item comes out where there is one
//! ```
//!
//! An attempt on many items takes or leaves them as they come, so that it may ask for more than the queue can hold. One that is
//! called off, or can never be served, puts what it took back to where it was; rows that went in stay in.
//!
//! Nothing blocks a thread: an attempt that has to wait is ended later by whoever makes it possible, through its [`Waiter`].
//! Waiters are told after the queue is unlocked.
//!
//! Definition: the queues of TensorFlow (`FIFOQueueV2`, `PaddingFIFOQueueV2`, `RandomShuffleQueueV2`, `PriorityQueueV2`).

mod items;
mod report;
mod spec;
mod tally;

pub use report::{Closing, Purpose, QueueReport, Waiting};
pub use spec::{Batches, QueueKind, QueueSpec, dtype_names};
pub use tally::{Taken, Tally};

use crate::cancel::{Cancellation, Registration};
use crate::sync::Mutex;
use items::Items;
use millstream_tensor::{Code, Error, Opaque, Result, Tensor};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// One item of a queue: a tensor for each component.
pub type Item = SmallVec<[Tensor; 2]>;

/// What is called with the items of an attempt, or why there are none. An enqueue and a closing end with no items.
pub type Ended = Box<dyn FnOnce(Result<Vec<Item>>) + Send>;

/// Who waits in line: its name for messages, what calls it off, and what it is told in the end.
pub struct Waiter {
    /// The node that asks.
    pub who: Arc<str>,
    /// Calls the attempt off when it is raised.
    pub cancel: Cancellation,
    /// Called once, on any thread, never under the queue's lock.
    pub ended: Ended,
}

/// How many items a dequeue takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// So many, or none at all.
    Exactly(usize),
    /// So many, or when the queue is closed what is left, at least one.
    UpTo(usize),
}

/// A queue of items, with a line of attempts at either end.
pub struct Queue {
    name: String,
    spec: QueueSpec,
    /// The items and the lines. Nothing is locked beneath it but a cancellation's list of listeners, and nobody is told under it.
    state: Mutex<State>,
    /// What the ops that use it were asked to count. Nothing is locked beneath it, nor is it locked beneath anything.
    tally: Mutex<Tally>,
}

struct State {
    items: Items,
    enqueues: VecDeque<Attempt<Put>>,
    dequeues: VecDeque<Attempt<Get>>,
    closed: Option<Closing>,
    next_id: u64,
    n_in: u64,
    n_out: u64,
}

struct Attempt<W> {
    id: u64,
    work: W,
    who: Arc<str>,
    since: Instant,
    ended: Ended,
    /// Takes the attempt off the line when its run is called off. Absent in the moment before it is known.
    listening: Option<Registration>,
}

/// What is left to do of an attempt in the line of enqueues.
enum Put {
    Rows(VecDeque<Item>),
    Close(Closing),
}

/// What a dequeue wants, and what it has.
struct Get {
    take: Take,
    taken: Vec<Item>,
    /// How many tokens the longest of those has, where that is limited.
    longest: usize,
}

/// An attempt that is over, to be told after unlocking.
struct Over {
    ended: Ended,
    result: Result<Vec<Item>>,
    listening: Option<Registration>,
}

/// Attempts that ended under the lock.
type Overs = SmallVec<[Over; 2]>;

fn tell(overs: Overs) {
    for Over { ended, result, listening } in overs {
        drop(listening);
        ended(result);
    }
}

impl Queue {
    /// An empty queue. `random` gives the numbers by which a shuffling queue picks; others never ask.
    pub fn new(
        name: impl Into<String>,
        spec: QueueSpec,
        random: impl FnMut() -> u32 + Send + 'static,
    ) -> Result<Queue> {
        spec.check()?;
        let items = Items::new(spec.kind, random);
        let state = State {
            items,
            enqueues: VecDeque::new(),
            dequeues: VecDeque::new(),
            closed: None,
            next_id: 0,
            n_in: 0,
            n_out: 0,
        };
        Ok(Queue { name: name.into(), spec, state: Mutex::new(state), tally: Mutex::new(Tally::default()) })
    }

    /// Its name in its container.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it holds, and how.
    pub fn spec(&self) -> &QueueSpec {
        &self.spec
    }

    /// How many items are in it.
    pub fn len(&self) -> usize {
        self.state.lock().items.len()
    }

    /// Whether so many items could be handed in at this moment without waiting.
    pub fn has_room(&self, items: usize) -> bool {
        let state = self.state.lock();
        state.enqueues.is_empty() && items <= self.spec.capacity.saturating_sub(state.items.len())
    }

    /// Whether there is no item in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is closed. Items may be left.
    pub fn is_closed(&self) -> bool {
        self.state.lock().closed.is_some()
    }

    /// Hands `item` in if that can be done at once; gives it back if it has to wait.
    pub fn try_enqueue(&self, item: Item) -> Result<Option<Item>> {
        self.spec.check_item(&item, &self.name)?;
        let item = kept(item)?;
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        if let Some(closing) = &state.closed {
            return Err(self.closed_to_enqueues(closing));
        }
        if !state.enqueues.is_empty() || state.items.len() >= self.spec.capacity {
            return Ok(Some(item));
        }
        state.put(item)?;
        if !state.dequeues.is_empty() {
            self.serve(&mut state, &mut overs);
        }
        drop(state);
        tell(overs);
        Ok(None)
    }

    /// Hands all rows in if that can be done at once, or none of them; says which.
    pub fn try_enqueue_many(&self, rows: Vec<Item>) -> Result<bool> {
        for row in &rows {
            self.spec.check_item(row, &self.name)?;
        }
        if rows.is_empty() {
            return Ok(true);
        }
        let rows = rows.into_iter().map(kept).collect::<Result<Vec<_>>>()?;
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        if let Some(closing) = &state.closed {
            return Err(self.closed_to_enqueues(closing));
        }
        if !state.enqueues.is_empty() || rows.len() > self.spec.capacity.saturating_sub(state.items.len()) {
            return Ok(false);
        }
        for row in rows {
            state.put(row)?;
        }
        self.serve(&mut state, &mut overs);
        drop(state);
        tell(overs);
        Ok(true)
    }

    /// Hands rows in, one by one as there is room. No rows at all end at once, also where it is closed. Rows that went in before the attempt was called
    /// off, or before pending enqueues were cancelled, stay in.
    pub fn enqueue(self: &Arc<Self>, rows: Vec<Item>, waiter: Waiter) {
        if let Some(error) = rows.iter().find_map(|row| self.spec.check_item(row, &self.name).err()) {
            return (waiter.ended)(Err(error));
        }
        match rows.into_iter().map(kept).collect::<Result<VecDeque<_>>>() {
            Ok(rows) if rows.is_empty() => (waiter.ended)(Ok(Vec::new())),
            Ok(rows) => {
                self.stand_in_line(
                    waiter,
                    |state, attempt| state.enqueues.push_back(attempt),
                    Put::Rows(rows),
                );
            }
            Err(error) => (waiter.ended)(Err(error)),
        }
    }

    /// Items if as many as asked for can be had at once, and nobody is ahead.
    pub fn try_dequeue(&self, take: Take) -> Result<Option<Vec<Item>>> {
        let mut items = Vec::new();
        let mut one = |item| items.push(item);
        Ok(self.try_each(take, &mut one)?.then_some(items))
    }

    /// The first item if one can be had at once, and nobody is ahead.
    pub fn try_dequeue_one(&self) -> Result<Option<Item>> {
        let mut first = None;
        self.try_each(Take::Exactly(1), &mut |item| first = Some(item))?;
        Ok(first)
    }

    /// Whether items could be had at once; hands them to `each`.
    fn try_each(&self, take: Take, each: &mut dyn FnMut(Item)) -> Result<bool> {
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        if take.count() == 0 {
            return Ok(true);
        }
        // A batch by tokens ends where the next item has no room: that is for the line.
        let by_tokens = self.spec.batches.max_tokens.is_some() && take.count() > 1;
        let available = self.available(&state);
        if by_tokens || !state.dequeues.is_empty() || (available < take.count() && state.closed.is_none()) {
            return Ok(false);
        }
        let enough = match take {
            Take::Exactly(n) => available >= n,
            Take::UpTo(_) => available > 0,
        };
        if let (false, Some(closing)) = (enough, &state.closed) {
            return Err(self.closed_to_dequeues(closing, take.count(), available));
        }
        for _ in 0..take.count().min(available) {
            state.get().into_iter().for_each(&mut *each);
        }
        if !state.enqueues.is_empty() {
            self.serve(&mut state, &mut overs);
        }
        drop(state);
        tell(overs);
        Ok(true)
    }

    /// Takes items out as they come.
    pub fn dequeue(self: &Arc<Self>, take: Take, waiter: Waiter) {
        if take.count() == 0 {
            return (waiter.ended)(Ok(Vec::new()));
        }
        let get = Get { take, taken: Vec::new(), longest: 0 };
        self.stand_in_line(waiter, |state, attempt| state.dequeues.push_back(attempt), get);
    }

    /// Closes it: nothing more goes in; what is in can still be taken out. Enqueues that wait are served first, and the closing waits for
    /// them; with `cancel_pending` they end with `CANCELLED`, and it is closed at once. Closing what is closed is an error, but not with
    /// `cancel_pending`, as in TensorFlow.
    pub fn close(self: &Arc<Self>, cancel_pending: bool, closing: Closing, waiter: Waiter) {
        if !cancel_pending {
            return self.stand_in_line(
                waiter,
                |state, attempt| state.enqueues.push_back(attempt),
                Put::Close(closing),
            );
        }
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        // The story that is told is the first one's.
        state.closed.get_or_insert(closing);
        for attempt in std::mem::take(&mut state.enqueues) {
            let cause = match (&attempt.work, &state.closed) {
                (Put::Close(_), Some(first)) => self.closed_already(first),
                (Put::Rows(_), Some(first)) => called_off(Purpose::Enqueue, &self.closed_to_enqueues(first)),
                (_, None) => continue,
            };
            overs.push(attempt.end(Err(cause)));
        }
        self.serve(&mut state, &mut overs);
        drop(state);
        tell(overs);
        (waiter.ended)(Ok(Vec::new()));
    }

    /// What it holds, who waits, and how it was closed.
    pub fn report(&self) -> QueueReport {
        let state = self.state.lock();
        QueueReport {
            name: self.name.clone(),
            spec: self.spec.clone(),
            len: state.items.len(),
            n_in: state.n_in,
            n_out: state.n_out,
            enqueuing: state.enqueues.iter().map(Attempt::waiting).collect(),
            dequeuing: state.dequeues.iter().map(Attempt::waiting).collect(),
            closed: state.closed.clone(),
        }
    }

    /// Who waits in the lines on behalf of the run that `cancel` calls off, and what for.
    pub fn waits_of(&self, cancel: &Cancellation) -> Vec<(Arc<str>, Purpose)> {
        fn of<W: Work>(
            line: &VecDeque<Attempt<W>>,
            cancel: &Cancellation,
        ) -> impl Iterator<Item = (Arc<str>, Purpose)> {
            let is_of = |a: &&Attempt<W>| a.listening.as_ref().is_some_and(|l| l.is_of(cancel));
            line.iter().filter(is_of).map(|a| (a.who.clone(), a.work.purpose()))
        }
        let state = self.state.lock();
        of(&state.enqueues, cancel).chain(of(&state.dequeues, cancel)).collect()
    }

    /// Shows every item that is in it, and those that wait to go in.
    pub fn look(&self, mut each: impl FnMut(&Item)) {
        let state = self.state.lock();
        state.items.each(&mut each);
        for attempt in &state.enqueues {
            if let Put::Rows(rows) = &attempt.work {
                rows.iter().for_each(&mut each);
            }
        }
    }

    /// What was counted so far.
    pub fn tally(&self) -> Tally {
        self.tally.lock().clone()
    }

    /// Counts something.
    pub fn count(&self, count: impl FnOnce(&mut Tally)) {
        count(&mut self.tally.lock());
    }

    /// Puts an attempt in its line and serves the lines; what still waits then listens for being called off.
    fn stand_in_line<W>(self: &Arc<Self>, waiter: Waiter, push: impl FnOnce(&mut State, Attempt<W>), work: W)
    where
        W: Work,
        State: Line<W>,
    {
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        let id = state.next_id;
        state.next_id += 1;
        let Waiter { who, cancel, ended } = waiter;
        push(&mut state, Attempt { id, work, who, since: Instant::now(), ended, listening: None });
        self.serve(&mut state, &mut overs);
        let waits = state.place(id).is_some();
        drop(state);
        tell(overs);
        if !waits {
            return;
        }
        let queue = Arc::downgrade(self);
        let listening = cancel.on_cancel(move |cause| {
            if let Some(queue) = queue.upgrade() {
                queue.call_off::<W>(id, cause);
            }
        });
        // It may have ended in between: then nobody listens any more.
        let mut state = self.state.lock();
        if let Some(attempt) = state.place(id) {
            attempt.listening = Some(listening);
        }
    }

    /// Takes an attempt off its line.
    fn call_off<W: Work>(&self, id: u64, cause: &Error)
    where
        State: Line<W>,
    {
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        if let Some(attempt) = state.leave(id) {
            let cause = called_off(attempt.work.purpose(), cause);
            overs.push(attempt.end(Err(cause)));
            // Those behind it may be next, and what it had taken is there again.
            self.serve(&mut state, &mut overs);
        }
        drop(state);
        tell(overs);
    }

    /// Serves the first of each line until neither gets further.
    fn serve(&self, state: &mut State, overs: &mut Overs) {
        while self.serve_enqueue(state, overs) | self.serve_dequeue(state, overs) {}
    }

    /// Whether the first enqueue, or closing, got further.
    fn serve_enqueue(&self, state: &mut State, overs: &mut Overs) -> bool {
        let Some(mut attempt) = state.enqueues.pop_front() else { return false };
        let closed = state.closed.clone();
        let result = match (&mut attempt.work, closed) {
            (Put::Rows(rows), None) => {
                let before = rows.len();
                let mut result = Ok(());
                while result.is_ok()
                    && state.items.len() < self.spec.capacity
                    && let Some(row) = rows.pop_front()
                {
                    result = state.put(row);
                }
                let moved = rows.len() < before;
                if result.is_ok() && !rows.is_empty() {
                    state.enqueues.push_front(attempt);
                    return moved;
                }
                result
            }
            (Put::Rows(_), Some(closing)) => Err(self.closed_to_enqueues(&closing)),
            (Put::Close(_), Some(first)) => Err(self.closed_already(&first)),
            (Put::Close(closing), None) => {
                state.closed = Some(std::mem::take(closing));
                Ok(())
            }
        };
        overs.push(attempt.end(result.map(|()| Vec::new())));
        true
    }

    /// Whether the first dequeue got further.
    fn serve_dequeue(&self, state: &mut State, overs: &mut Overs) -> bool {
        if let Some(moved) = self.serve_partly(state) {
            return moved;
        }
        let mut moved = false;
        let Some(mut attempt) = state.dequeues.pop_front() else { return false };
        let Get { take, taken, longest } = &mut attempt.work;
        if let Some(most) = self.spec.batches.max_tokens {
            while taken.len() < take.count()
                && let Some(item) = state.get()
            {
                let tokens = self.spec.tokens_of(&item).max(*longest);
                if !taken.is_empty() && tokens.saturating_mul(taken.len() + 1) > most {
                    state.give_back(vec![item]);
                    let taken = std::mem::take(taken);
                    overs.push(attempt.end(Ok(taken)));
                    return true;
                }
                *longest = tokens;
                taken.push(item);
                moved = true;
            }
        }
        let available = self.available(state);
        let missing = take.count() - taken.len();
        // A sorted batch has to be taken in one go.
        let takes = if self.spec.kind == QueueKind::Priority && available < missing {
            0
        } else {
            missing.min(available)
        };
        if takes == missing {
            taken.extend((0..missing).map_while(|_| state.get()));
            let taken = std::mem::take(taken);
            overs.push(attempt.end(Ok(taken)));
            return true;
        }
        if let Some(closing) = state.closed.clone() {
            // What waits to go in may still come, before a closing that it waits behind.
            let rest = taken.len() + available;
            if matches!(take, Take::UpTo(_)) && rest > 0 {
                taken.extend((0..available).map_while(|_| state.get()));
                let taken = std::mem::take(taken);
                overs.push(attempt.end(Ok(taken)));
            } else {
                // As TensorFlow counts: what it took while it waited is neither asked for any more nor in the queue.
                let (count, rest) = (missing, available);
                state.give_back(std::mem::take(taken));
                overs.push(attempt.end(Err(self.closed_to_dequeues(&closing, count, rest))));
            }
            return true;
        }
        taken.extend((0..takes).map_while(|_| state.get()));
        state.dequeues.push_front(attempt);
        moved || takes > 0
    }

    /// What happens at most enqueues where many are waited for: the first dequeue takes what there is, which is not all it wants. Says whether it
    /// got further, as far as that matters to anybody; `None` where there is more to it.
    fn serve_partly(&self, state: &mut State) -> Option<bool> {
        let available = self.available(state);
        let simple = state.closed.is_none()
            && self.spec.batches.max_tokens.is_none()
            && self.spec.kind != QueueKind::Priority;
        let Get { take, taken, .. } = &mut state.dequeues.front_mut().filter(|_| simple)?.work;
        if available >= take.count() - taken.len() {
            return None;
        }
        taken.extend((0..available).map_while(|_| state.items.pop()));
        state.n_out += available as u64;
        // Room is something to those who wait for it.
        Some(available > 0 && !state.enqueues.is_empty())
    }

    /// How many items may be taken out now.
    fn available(&self, state: &State) -> usize {
        match &state.closed {
            None => state.items.len().saturating_sub(self.spec.min_after_dequeue),
            Some(_) => state.items.len(),
        }
    }

    fn closed_to_enqueues(&self, closing: &Closing) -> Error {
        Error::new(Code::Cancelled, format!("{self:?} is closed.")).note(closing.to_string())
    }

    fn closed_already(&self, first: &Closing) -> Error {
        Error::new(Code::Cancelled, format!("{self:?} is already closed"))
            .led_by(format!("Queue '{}' is already closed.", self.name))
            .note(first.to_string())
    }

    fn closed_to_dequeues(&self, closing: &Closing, requested: usize, len: usize) -> Error {
        let message = format!(
            "{self:?} is closed and has insufficient elements (requested {requested}, current size {len})"
        );
        Error::new(Code::OutOfRange, message).note(closing.to_string())
    }
}

/// What ends an attempt that its run, or a cancelling close, calls off: in TensorFlow's words, then why.
fn called_off(purpose: Purpose, cause: &Error) -> Error {
    let what = match purpose {
        Purpose::Enqueue => "Enqueue",
        Purpose::Close => "Close",
        Purpose::Dequeue => "Dequeue",
    };
    // Time that is up is said to be so: nobody called that off.
    if cause.code() != Code::Cancelled {
        return cause.clone();
    }
    cause.clone().led_by(format!("{what} operation was cancelled"))
}

impl Take {
    /// The most items it takes.
    pub fn count(self) -> usize {
        match self {
            Take::Exactly(n) | Take::UpTo(n) => n,
        }
    }
}

/// An item that may outlive the run that hands it in.
fn kept(mut item: Item) -> Result<Item> {
    item.iter_mut().try_for_each(Tensor::keep)?;
    Ok(item)
}

impl State {
    fn put(&mut self, item: Item) -> Result<()> {
        self.items.push(item)?;
        self.n_in += 1;
        Ok(())
    }

    fn get(&mut self) -> Option<Item> {
        let item = self.items.pop()?;
        self.n_out += 1;
        Some(item)
    }

    /// Puts items back to where they came from.
    fn give_back(&mut self, taken: Vec<Item>) {
        self.n_out -= taken.len() as u64;
        self.items.give_back(taken);
    }
}

impl<W> Attempt<W> {
    fn end(self, result: Result<Vec<Item>>) -> Over {
        Over { ended: self.ended, result, listening: self.listening }
    }
}

impl<W: Work> Attempt<W> {
    fn waiting(&self) -> Waiting {
        let purpose = self.work.purpose();
        Waiting { who: self.who.to_string(), purpose, for_time: self.since.elapsed() }
    }
}

/// What is left to do of an attempt.
trait Work {
    fn purpose(&self) -> Purpose;
}

impl Work for Put {
    fn purpose(&self) -> Purpose {
        match self {
            Put::Rows(_) => Purpose::Enqueue,
            Put::Close(_) => Purpose::Close,
        }
    }
}

impl Work for Get {
    fn purpose(&self) -> Purpose {
        Purpose::Dequeue
    }
}

/// A line by the work of those who stand in it.
trait Line<W> {
    /// Who stands in it under this number.
    fn place(&mut self, id: u64) -> Option<&mut Attempt<W>>;
    /// Takes that one out; what it held goes back.
    fn leave(&mut self, id: u64) -> Option<Attempt<W>>;
}

impl Line<Put> for State {
    fn place(&mut self, id: u64) -> Option<&mut Attempt<Put>> {
        self.enqueues.iter_mut().find(|a| a.id == id)
    }

    fn leave(&mut self, id: u64) -> Option<Attempt<Put>> {
        let at = self.enqueues.iter().position(|a| a.id == id)?;
        self.enqueues.remove(at)
    }
}

impl Line<Get> for State {
    fn place(&mut self, id: u64) -> Option<&mut Attempt<Get>> {
        self.dequeues.iter_mut().find(|a| a.id == id)
    }

    fn leave(&mut self, id: u64) -> Option<Attempt<Get>> {
        let at = self.dequeues.iter().position(|a| a.id == id)?;
        let mut attempt = self.dequeues.remove(at)?;
        self.give_back(std::mem::take(&mut attempt.work.taken));
        Some(attempt)
    }
}

impl Opaque for Queue {
    fn kind(&self) -> &'static str {
        "queue"
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} '{}'", self.spec.kind, self.name)
    }
}
