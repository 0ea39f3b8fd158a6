//! [`Queue`]: a queue of tensors with enqueues and dequeues that wait for each other.
//!
//! # Attempts
//!
//! Every operation on a queue is an *attempt*. It ends at once if no other is ahead of it and it can be
//! served; otherwise it waits in line. Enqueues and closings wait in one line, dequeues in the other. Each
//! change of the queue serves the first of each line repeatedly, until neither makes progress:
//!
//! ```text
//!   enqueue, enqueue_many, close ─► line ─► ┌───────┐ ─► line ─► dequeue, dequeue_many, dequeue_up_to
//!                                           │ items │
//!   a row goes in where there is room       └───────┘       an item comes out where there is one
//! ```
//!
//! An attempt on many items takes or adds them as they come, so it may ask for more than the capacity. An
//! attempt that is cancelled, or can never be served, returns the items it took to their places; rows that it
//! added stay in the queue. Items that were handed out return, too, unless their receiver says that it has
//! used them ([`Dequeued`]).
//!
//! No thread blocks: the thread that makes it possible ends a waiting attempt, through its [`Waiter`].
//! Callbacks run after the queue is unlocked.
//!
//! The items of a queue may live in another process ([`Elsewhere`]), which then keeps the lines, too. What is
//! here then checks what goes in, and knows who waits.
//!
//! Definition: TensorFlow's queues (`FIFOQueueV2`, `PaddingFIFOQueueV2`, `RandomShuffleQueueV2`,
//! `PriorityQueueV2`).

mod barrier;
mod dequeued;
mod elsewhere;
mod items;
mod report;
mod spec;
mod tally;

pub use barrier::Barrier;
pub use dequeued::Dequeued;
pub use elsewhere::{Answer, Ask, Elsewhere, ItemStore, Loan, Looked, QueueStore};
pub use report::{Client, Closing, Purpose, QueueReport, Waiting};
pub use spec::{Batches, QueueKind, QueueSpec, dtype_names};
pub use tally::{Taken, Tally};

use crate::cancel::{Cancellation, Registration};
use crate::closures::Closed;
use crate::sync::Ordering::SeqCst;
use crate::sync::{AtomicBool, AtomicUsize, Mutex};
use items::Items;
use millstream_tensor::budget::Room;
use millstream_tensor::pace::{Pace, look};
use millstream_tensor::{Code, Error, Opaque, Result, Tensor};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Instant;

/// The number of items that are taken between two looks at the run.
const LOOK: usize = 1 << 14;

/// One item of a queue: a tensor per component. What the item itself takes, besides the elements, is charged
/// to the budget of the run that makes it, for as long as the item exists: a queue of a million scalars is
/// not free. Whichever run serves a queue later charges nothing.
#[derive(Debug)]
pub struct Item {
    components: SmallVec<[Tensor; 2]>,
    _room: Room,
}

impl Item {
    /// An item of these components.
    pub fn new(components: SmallVec<[Tensor; 2]>) -> Result<Item> {
        Ok(Item { components, _room: Room::of(size_of::<Item>())? })
    }

    /// The components.
    pub fn components(self) -> SmallVec<[Tensor; 2]> {
        self.components
    }
}

impl std::ops::Deref for Item {
    type Target = [Tensor];

    fn deref(&self) -> &[Tensor] {
        &self.components
    }
}

/// The callback of an attempt. It receives the items, or the error. An enqueue or a closing yields no items.
pub type Ended = Box<dyn FnOnce(Result<Dequeued>) + Send>;

/// The owner of an attempt: its name for messages, its cancellation, and its callback.
pub struct Waiter {
    /// The name of the node that makes the attempt.
    pub who: Arc<str>,
    /// Cancels the attempt when it is raised.
    pub cancel: Cancellation,
    /// Called once, on any thread, never under the queue's lock.
    pub ended: Ended,
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("who", &self.who).finish_non_exhaustive()
    }
}

/// The number of items that a dequeue takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// This many, or none at all.
    Exactly(usize),
    /// This many; if the queue is closed, those that are left, at least one.
    UpTo(usize),
}

/// A queue of items, with a line of attempts at each end.
pub struct Queue {
    name: String,
    spec: QueueSpec,
    /// The way to the items, if another process keeps them. Then nothing is in `state`.
    elsewhere: Option<Arc<Elsewhere>>,
    /// The items and the lines. Only a cancellation's list of listeners is locked under this lock, and no
    /// callback runs under it.
    state: Mutex<State>,
    /// The number of [`Dequeued`] that are neither used nor back. Raised under the lock of `state`.
    lent: AtomicUsize,
    /// Whether a dequeue waits in a closed queue for what was lent: it may come back.
    awaits_lent: AtomicBool,
    /// The counts kept for ops that use the queue. No lock is held while this one is taken, and none is taken
    /// under it.
    tally: Closed<Tally>,
}

struct State {
    items: Items,
    enqueues: VecDeque<Attempt<Put>>,
    dequeues: VecDeque<Attempt<Get>>,
    closed: Option<Closing>,
    /// Whether a dequeue of up to a number of items takes those that are there, as if the queue were closed.
    small_batches: bool,
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
    /// Removes the attempt from the line when its run is cancelled. `None` until the listener is registered.
    listening: Option<Registration>,
    /// The queue itself.
    queue: Weak<Queue>,
}

/// The remaining work of an attempt in the line of enqueues.
enum Put {
    Rows(VecDeque<Item>),
    Close(Closing),
}

/// The request of a dequeue, and the items taken so far.
struct Get {
    take: Take,
    taken: Vec<Item>,
    /// The number of tokens in the longest item taken, if tokens are limited.
    longest: usize,
}

/// An attempt that has ended; its callback runs after unlocking.
struct Over {
    ended: Ended,
    result: Result<Vec<Item>>,
    listening: Option<Registration>,
    /// Where the items return to if they are not used.
    queue: Weak<Queue>,
}

/// The attempts that ended under the lock.
type Overs = SmallVec<[Over; 2]>;

#[inline]
fn tell(overs: Overs) {
    // Nearly always none: an item that goes in, or waits for company in a batch, ends no attempt.
    if !overs.is_empty() {
        tell_all(overs);
    }
}

#[inline(never)]
fn tell_all(overs: Overs) {
    for Over { ended, result, listening, queue } in overs {
        drop(listening);
        ended(result.map(|items| Dequeued::of(queue, items)));
    }
}

impl Queue {
    /// An empty queue. `random` yields the numbers by which a shuffling queue picks items; other queues do
    /// not call it.
    pub fn new(
        name: impl Into<String>,
        spec: QueueSpec,
        random: impl FnMut() -> u32 + Send + 'static,
    ) -> Result<Queue> {
        Queue::with(name.into(), spec, random, None)
    }

    /// A queue whose items live in `store`, under this name in this container. `random` yields the seed of a
    /// shuffling queue.
    pub fn kept_by(
        store: &dyn QueueStore,
        container: &str,
        name: &str,
        spec: QueueSpec,
        mut random: impl FnMut() -> u32 + Send + 'static,
    ) -> Result<Queue> {
        spec.check()?;
        let elsewhere = Elsewhere::open(store, container, name, &spec, random())?;
        Queue::with(name.to_owned(), spec, random, Some(elsewhere))
    }

    fn with(
        name: String,
        spec: QueueSpec,
        random: impl FnMut() -> u32 + Send + 'static,
        elsewhere: Option<Arc<Elsewhere>>,
    ) -> Result<Queue> {
        spec.check()?;
        let items = Items::new(spec.kind, random);
        let state = State {
            items,
            enqueues: VecDeque::new(),
            dequeues: VecDeque::new(),
            closed: None,
            small_batches: false,
            next_id: 0,
            n_in: 0,
            n_out: 0,
        };
        Ok(Queue {
            name,
            spec,
            elsewhere,
            state: Mutex::new(state),
            lent: AtomicUsize::new(0),
            awaits_lent: AtomicBool::new(false),
            tally: Closed::new(Tally::default()),
        })
    }

    /// The name in the container.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of the queue.
    pub fn spec(&self) -> &QueueSpec {
        &self.spec
    }

    /// Whether another process keeps the items, so that [`Queue::look_up`] takes a moment.
    pub fn is_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// Calls `looked` with the number of items, and whether the queue is closed: at once, or, if the items
    /// live elsewhere, when the answer comes.
    pub fn look_up(&self, who: Arc<str>, cancel: &Cancellation, looked: Looked) {
        match &self.elsewhere {
            Some(there) => there.look(who, cancel, looked),
            None => looked(Ok((self.len(), self.is_closed()))),
        }
    }

    /// The number of items in the queue. Waits for the answer if they live elsewhere, for a moment at most.
    pub fn len(&self) -> usize {
        if self.is_elsewhere() {
            return self.report().len;
        }
        self.state.lock().items.len()
    }

    /// Whether this many items could be enqueued at this moment without waiting.
    pub fn has_room(&self, items: usize) -> bool {
        if self.is_elsewhere() {
            return false;
        }
        let state = self.state.lock();
        state.enqueues.is_empty() && items <= self.spec.capacity.saturating_sub(state.items.len())
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the queue is closed. Items may be left in it. Waits as [`Queue::len`] does.
    pub fn is_closed(&self) -> bool {
        if self.is_elsewhere() {
            return self.report().closed.is_some();
        }
        self.state.lock().closed.is_some()
    }

    /// Enqueues `item` if that is possible at once; returns it if it has to wait. The way to a queue that
    /// lives elsewhere is a wait.
    pub fn try_enqueue(&self, item: Item) -> Result<Option<Item>> {
        if self.is_elsewhere() {
            return Ok(Some(item));
        }
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

    /// Enqueues all rows if that is possible at once, or none of them. Returns whether it did.
    pub fn try_enqueue_many(&self, rows: Vec<Item>) -> Result<bool> {
        let mut pace = Pace::new();
        for row in &rows {
            pace.spend(1)?;
            self.spec.check_item(row, &self.name)?;
        }
        if rows.is_empty() {
            return Ok(true);
        }
        if self.is_elsewhere() {
            return Ok(false);
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

    /// Enqueues rows one by one, as there is room. With no rows it ends at once, even if the queue is closed.
    /// Rows that were added before the attempt was cancelled, or before pending enqueues were cancelled, stay
    /// in the queue.
    pub fn enqueue(self: &Arc<Self>, rows: Vec<Item>, waiter: Waiter) {
        if let Some(error) = rows.iter().find_map(|row| self.spec.check_item(row, &self.name).err()) {
            return (waiter.ended)(Err(error));
        }
        if let Some(there) = self.elsewhere.as_ref().filter(|_| !rows.is_empty()) {
            there.begin(Ask::Enqueue(rows), waiter);
            return;
        }
        match rows.into_iter().map(kept).collect::<Result<VecDeque<_>>>() {
            Ok(rows) if rows.is_empty() => (waiter.ended)(Ok(Dequeued::default())),
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

    /// Dequeues items if enough are available at once and no attempt is ahead.
    pub fn try_dequeue(self: &Arc<Self>, take: Take) -> Result<Option<Dequeued>> {
        let mut items = Vec::new();
        let mut one = |item| {
            // Under the lock: nobody else sees the queue without the item before it counts as lent.
            if items.is_empty() {
                self.lent.fetch_add(1, SeqCst);
            }
            items.push(item);
        };
        let all = self.try_each(take, &mut one);
        let taken = Dequeued::of(Arc::downgrade(self), items);
        Ok(all?.then_some(taken))
    }

    /// Dequeues the first item if one is available at once and no attempt is ahead.
    pub fn try_dequeue_one(&self) -> Result<Option<Item>> {
        let mut first = None;
        self.try_each(Take::Exactly(1), &mut |item| first = Some(item))?;
        Ok(first)
    }

    /// Calls `each` with the items if enough are available at once. Returns whether they were. An error that
    /// comes after items is the end of the run: they return.
    fn try_each(&self, take: Take, each: &mut dyn FnMut(Item)) -> Result<bool> {
        if take.count() == 0 {
            return Ok(true);
        }
        if self.is_elsewhere() {
            return Ok(false);
        }
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        // A batch limited by tokens ends where the next item does not fit; the line handles that.
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
            if self.may_come_back() {
                return Ok(false);
            }
            return Err(self.closed_to_dequeues(closing, take.count(), available));
        }
        let mut going = Ok(true);
        for i in 0..take.count().min(available) {
            if i % LOOK == LOOK - 1 {
                going = look().map(|()| true);
                if going.is_err() {
                    break;
                }
            }
            state.get().into_iter().for_each(&mut *each);
        }
        if !state.enqueues.is_empty() {
            self.serve(&mut state, &mut overs);
        }
        drop(state);
        tell(overs);
        going
    }

    /// Dequeues items as they come. Returns the number of the attempt, for [`Queue::withdraw`].
    pub fn dequeue(self: &Arc<Self>, take: Take, waiter: Waiter) -> u64 {
        if take.count() == 0 {
            (waiter.ended)(Ok(Dequeued::default()));
            return u64::MAX;
        }
        if let Some(there) = &self.elsewhere {
            return there.begin(Ask::Dequeue(take), waiter);
        }
        let get = Get { take, taken: Vec::new(), longest: 0 };
        self.stand_in_line(waiter, |state, attempt| state.dequeues.push_back(attempt), get)
    }

    /// Ends a dequeue that still waits, with this error.
    pub fn withdraw(&self, attempt: u64, cause: &Error) {
        if let Some(there) = &self.elsewhere {
            return there.call_off(attempt, cause);
        }
        self.call_off::<Get>(attempt, cause);
    }

    /// Returns items that were handed out but not used, in the order in which they were taken, to the head of
    /// the queue. The queue may then hold more items than its capacity.
    fn take_back(&self, items: Vec<Item>) {
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        state.give_back(items);
        self.lent.fetch_sub(1, SeqCst);
        self.awaits_lent.store(false, SeqCst);
        self.serve(&mut state, &mut overs);
        drop(state);
        tell(overs);
    }

    /// Items that were handed out will not come back.
    fn keep_out(&self) {
        if self.lent.fetch_sub(1, SeqCst) == 1 && self.awaits_lent.load(SeqCst) {
            let mut overs = Overs::new();
            let mut state = self.state.lock();
            self.awaits_lent.store(false, SeqCst);
            self.serve(&mut state, &mut overs);
            drop(state);
            tell(overs);
        }
    }

    /// Whether items may come back to a closed queue. If so, a dequeue that lacks items waits, and the end of
    /// the last loan serves it.
    fn may_come_back(&self) -> bool {
        // Called under the lock. The order matters: a loan that ends after the second line sees the first.
        self.awaits_lent.store(true, SeqCst);
        self.lent.load(SeqCst) > 0
    }

    /// Closes the queue: no more items can be enqueued, but those inside can be dequeued. Waiting enqueues
    /// are served first, and the closing waits for them. With `cancel_pending` they end with `CANCELLED`, and
    /// the queue closes at once. Closing a closed queue is an error, except with `cancel_pending`, as in
    /// TensorFlow.
    pub fn close(self: &Arc<Self>, cancel_pending: bool, closing: Closing, waiter: Waiter) {
        if let Some(there) = &self.elsewhere {
            there.begin(Ask::Close(closing), waiter);
            return;
        }
        if !cancel_pending {
            self.stand_in_line(
                waiter,
                |state, attempt| state.enqueues.push_back(attempt),
                Put::Close(closing),
            );
            return;
        }
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        // The first closing is the one that messages report.
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
        (waiter.ended)(Ok(Dequeued::default()));
    }

    /// Lets dequeues of up to a number of items take those that are there, from now on.
    fn allow_small_batches(&self) {
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        state.small_batches = true;
        self.serve(&mut state, &mut overs);
        drop(state);
        tell(overs);
    }

    /// The type of the queue, its content, its waiting attempts, and its closing.
    pub fn report(&self) -> QueueReport {
        let mut report = self.report_here();
        if let Some(there) = &self.elsewhere {
            there.report(&mut report);
        }
        report
    }

    fn report_here(&self) -> QueueReport {
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
            awaits_lent: self.awaits_lent.load(SeqCst) && !state.dequeues.is_empty(),
            place: None,
            clients: Vec::new(),
            incomplete: 0,
            lacking: Vec::new(),
        }
    }

    /// The attempts in line that `cancel` cancels: the names of their nodes and their purposes.
    pub fn waits_of(&self, cancel: &Cancellation) -> Vec<(Arc<str>, Purpose)> {
        fn of<W: Work>(
            line: &VecDeque<Attempt<W>>,
            cancel: &Cancellation,
        ) -> impl Iterator<Item = (Arc<str>, Purpose)> {
            let is_of = |a: &&Attempt<W>| a.listening.as_ref().is_some_and(|l| l.is_of(cancel));
            line.iter().filter(is_of).map(|a| (a.who.clone(), a.work.purpose()))
        }
        if let Some(there) = &self.elsewhere {
            return there.waits_of(cancel);
        }
        let state = self.state.lock();
        of(&state.enqueues, cancel).chain(of(&state.dequeues, cancel)).collect()
    }

    /// Calls `each` with the components of every item in the queue and of every item that waits to be
    /// enqueued. The items are those of one moment: `each` runs without the queue's lock, and may call
    /// methods of the queue.
    pub fn look(&self, each: impl FnMut(&[Tensor])) {
        let mut items: Vec<SmallVec<[Tensor; 2]>> = Vec::new();
        {
            let state = self.state.lock();
            let mut share = |item: &Item| items.push(item.components.clone());
            state.items.each(&mut share);
            for attempt in &state.enqueues {
                if let Put::Rows(rows) = &attempt.work {
                    rows.iter().for_each(&mut share);
                }
            }
        }
        items.iter().map(|item| &**item).for_each(each);
    }

    /// The counts so far.
    pub fn tally(&self) -> Tally {
        self.tally.lock("Queue::count").clone()
    }

    /// Updates the counts.
    ///
    /// # Panics
    ///
    /// If `count` calls [`Queue::tally`] or this method.
    pub fn count(&self, count: impl FnOnce(&mut Tally)) {
        count(&mut self.tally.run("Queue::count"));
    }

    /// Puts an attempt in its line and serves the lines. If the attempt still waits, registers a listener for
    /// its cancellation. Returns the attempt's number.
    fn stand_in_line<W>(
        self: &Arc<Self>,
        waiter: Waiter,
        push: impl FnOnce(&mut State, Attempt<W>),
        work: W,
    ) -> u64
    where
        W: Work,
        State: Line<W>,
    {
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        let id = state.next_id;
        state.next_id += 1;
        let Waiter { who, cancel, ended } = waiter;
        let queue = Arc::downgrade(self);
        let since = Instant::now();
        push(&mut state, Attempt { id, work, who, since, ended, listening: None, queue: queue.clone() });
        self.serve(&mut state, &mut overs);
        let waits = state.place(id).is_some();
        drop(state);
        tell(overs);
        if !waits {
            return id;
        }
        let listening = cancel.on_cancel(move |cause| {
            if let Some(queue) = queue.upgrade() {
                queue.call_off::<W>(id, cause);
            }
        });
        // The attempt may have ended in between; the listener is then dropped.
        let mut state = self.state.lock();
        if let Some(attempt) = state.place(id) {
            attempt.listening = Some(listening);
        }
        id
    }

    /// Cancels an attempt in its line.
    fn call_off<W: Work>(&self, id: u64, cause: &Error)
    where
        State: Line<W>,
    {
        let mut overs = Overs::new();
        let mut state = self.state.lock();
        if let Some(attempt) = state.leave(id) {
            let cause = called_off(attempt.work.purpose(), cause);
            overs.push(attempt.end(Err(cause)));
            // The attempts behind it may be next, and the items it had taken are available again.
            self.serve(&mut state, &mut overs);
        }
        drop(state);
        tell(overs);
    }

    /// Serves the first of each line until neither makes progress.
    fn serve(&self, state: &mut State, overs: &mut Overs) {
        while self.serve_enqueue(state, overs) | self.serve_dequeue(state, overs) {}
    }

    /// Serves the first enqueue or closing. Returns whether it made progress.
    fn serve_enqueue(&self, state: &mut State, overs: &mut Overs) -> bool {
        // The attempt stays in line while it adds its rows: moving it out and back takes longer than a row.
        let State { items, enqueues, closed, n_in, .. } = state;
        let Some(attempt) = enqueues.front_mut() else { return false };
        let result = match (&mut attempt.work, &mut *closed) {
            (Put::Rows(rows), None) => {
                let before = rows.len();
                let mut result = Ok(());
                while result.is_ok()
                    && items.len() < self.spec.capacity
                    && let Some(row) = rows.pop_front()
                {
                    result = items.push(row);
                    *n_in += u64::from(result.is_ok());
                }
                if result.is_ok() && !rows.is_empty() {
                    return rows.len() < before;
                }
                result
            }
            (Put::Rows(_), Some(closing)) => Err(self.closed_to_enqueues(closing)),
            (Put::Close(_), Some(first)) => Err(self.closed_already(first)),
            (Put::Close(closing), None) => {
                *closed = Some(std::mem::take(closing));
                Ok(())
            }
        };
        let ended = enqueues.pop_front();
        overs.extend(ended.map(|attempt| attempt.end(result.map(|()| Vec::new()))));
        true
    }

    /// Serves the first dequeue. Returns whether it made progress.
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
                    self.lent.fetch_add(1, SeqCst);
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
        // A sorted batch must be taken in one go.
        let takes =
            if self.spec.kind.is_sorted() && available < missing { 0 } else { missing.min(available) };
        if takes == missing {
            taken.extend((0..missing).map_while(|_| state.get()));
            let taken = std::mem::take(taken);
            self.lent.fetch_add(1, SeqCst);
            overs.push(attempt.end(Ok(taken)));
            return true;
        }
        // The rows of waiting enqueues may still arrive, ahead of a closing that waits behind them.
        let may_be_small = state.closed.is_some() || state.small_batches;
        if matches!(take, Take::UpTo(_)) && may_be_small && taken.len() + available > 0 {
            taken.extend((0..available).map_while(|_| state.get()));
            let taken = std::mem::take(taken);
            self.lent.fetch_add(1, SeqCst);
            overs.push(attempt.end(Ok(taken)));
            return true;
        }
        if let Some(closing) = state.closed.clone() {
            if self.may_come_back() {
                state.dequeues.push_front(attempt);
                return moved;
            } else {
                // TensorFlow's count: the items taken while waiting are no longer requested, nor are they in
                // the queue.
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

    /// The fast path for a dequeue of many items, run after most enqueues: takes the available items if they
    /// are fewer than the dequeue still needs. Returns whether that made progress that matters to a waiting
    /// attempt; `None` where the full rules apply.
    fn serve_partly(&self, state: &mut State) -> Option<bool> {
        let available = self.available(state);
        let simple =
            state.closed.is_none() && self.spec.batches.max_tokens.is_none() && !self.spec.kind.is_sorted();
        let Get { take, taken, .. } = &mut state.dequeues.front_mut().filter(|_| simple)?.work;
        if available >= take.count() - taken.len() {
            return None;
        }
        taken.extend((0..available).map_while(|_| state.items.pop()));
        state.n_out += available as u64;
        // Only waiting enqueues benefit from the room.
        Some(available > 0 && !state.enqueues.is_empty())
    }

    /// The number of items that may be dequeued now.
    fn available(&self, state: &State) -> usize {
        match &state.closed {
            None => state.items.len().saturating_sub(self.spec.min_after_dequeue),
            Some(_) => state.items.len(),
        }
    }

    fn title(&self) -> Title<'_> {
        Title { kind: self.spec.kind, name: &self.name }
    }

    fn closed_to_enqueues(&self, closing: &Closing) -> Error {
        self.title().closed_to_enqueues(closing)
    }

    fn closed_already(&self, first: &Closing) -> Error {
        self.title().closed_already(first)
    }

    fn closed_to_dequeues(&self, closing: &Closing, requested: usize, len: usize) -> Error {
        self.title().closed_to_dequeues(closing, requested, len)
    }
}

/// A queue in messages.
struct Title<'a> {
    kind: QueueKind,
    name: &'a str,
}

impl Title<'_> {
    fn closed_to_enqueues(&self, closing: &Closing) -> Error {
        Error::new(Code::Cancelled, format!("{self} is closed.")).note(closing.to_string())
    }

    fn closed_already(&self, first: &Closing) -> Error {
        Error::new(Code::Cancelled, format!("{self} is already closed"))
            .led_by(format!("Queue '{}' is already closed.", self.name))
            .note(first.to_string())
    }

    fn closed_to_dequeues(&self, closing: &Closing, requested: usize, len: usize) -> Error {
        let message = format!(
            "{self} is closed and has insufficient elements (requested {requested}, current size {len})"
        );
        Error::new(Code::OutOfRange, message).note(closing.to_string())
    }
}

impl fmt::Display for Title<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} '{}'", self.kind, self.name)
    }
}

/// The error of an attempt that is cancelled by its run, or by a cancelling close: TensorFlow's words, then
/// the cause.
fn called_off(purpose: Purpose, cause: &Error) -> Error {
    let what = match purpose {
        Purpose::Enqueue => "Enqueue",
        Purpose::Close => "Close",
        Purpose::Dequeue => "Dequeue",
    };
    // An expired deadline is reported as such; it is not a cancellation.
    if cause.code() != Code::Cancelled {
        return cause.clone();
    }
    cause.clone().led_by(format!("{what} operation was cancelled"))
}

impl Take {
    /// The largest number of items to take.
    pub fn count(self) -> usize {
        match self {
            Take::Exactly(n) | Take::UpTo(n) => n,
        }
    }
}

/// An item that may outlive the run that enqueues it.
fn kept(mut item: Item) -> Result<Item> {
    item.components.iter_mut().try_for_each(Tensor::keep)?;
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

    /// Returns items to their places.
    fn give_back(&mut self, taken: Vec<Item>) {
        self.n_out -= taken.len() as u64;
        self.items.give_back(taken);
    }
}

impl<W> Attempt<W> {
    fn end(self, result: Result<Vec<Item>>) -> Over {
        Over { ended: self.ended, result, listening: self.listening, queue: self.queue }
    }
}

impl<W: Work> Attempt<W> {
    fn waiting(&self) -> Waiting {
        let purpose = self.work.purpose();
        Waiting { who: self.who.to_string(), purpose, for_time: self.since.elapsed() }
    }
}

/// The remaining work of an attempt.
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

/// A line of attempts, by the type of their work.
trait Line<W> {
    /// The attempt with this id in the line.
    fn place(&mut self, id: u64) -> Option<&mut Attempt<W>>;
    /// Removes that attempt; the items that it took return to the queue.
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
        write!(f, "{}", self.title())
    }
}
