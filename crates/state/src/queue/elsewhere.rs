//! [`Elsewhere`]: attempts on a queue whose items another process keeps, and [`ItemStore`], the way to that
//! process.
//!
//! The queue checks what is enqueued, and makes all errors. The other process keeps the items and both lines
//! of attempts, of all its clients, and serves them by the rules of [`Queue`](super::Queue). This side knows
//! who waits for which attempt. An attempt ends once: with the answer, or when its run is cancelled. What
//! comes after that returns to the queue.

use super::{
    Closing, Dequeued, Ended, Item, Purpose, QueueReport, QueueSpec, Take, Title, Waiter, called_off,
};
use crate::activity::Job;
use crate::cancel::{Cancellation, Registration};
use crate::sync::Mutex;
use millstream_tensor::{Code, Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A request to the process that keeps the items.
#[derive(Debug)]
pub enum Ask {
    /// To enqueue these items, as there is room.
    Enqueue(Vec<Item>),
    /// To dequeue items.
    Dequeue(Take),
    /// To close the queue; pending enqueues are cancelled if the closing says so.
    Close(Closing),
    /// To tell how many items there are, and whether the queue is closed.
    Look,
}

/// The answer to an [`Ask`].
#[derive(Debug)]
pub enum Answer {
    /// The items are in, or the queue is closed.
    Done,
    /// Items, lent until they are used.
    Items(Vec<Item>, Box<dyn Loan>),
    /// The number of items, and whether the queue is closed.
    Looked(usize, bool),
    /// The queue was closed before the items were in.
    ClosedToEnqueues(Closing),
    /// The queue was closed before.
    ClosedAlready(Closing),
    /// A closing cancelled the enqueue.
    CalledOff(Closing),
    /// The queue is closed and has fewer items.
    ClosedToDequeues {
        /// How it was closed.
        closing: Closing,
        /// The number of items that are missing.
        requested: usize,
        /// The number of items in the queue.
        len: usize,
    },
    /// The attempt failed for another reason.
    Failed(Error),
}

/// What was taken out of an object that outlives the taker: items of a queue in another process, elements of
/// an iterator ([`Loans`](crate::Loans)).
pub trait Loan: Send + fmt::Debug {
    /// The taker has used them.
    fn used(self: Box<Self>);
    /// They return to the place that they came from.
    fn unused(self: Box<Self>);
}

/// The way to the process that keeps a queue's items. Calls return without waiting, except for `report`.
pub trait ItemStore: Send + Sync + fmt::Debug {
    /// Begins the attempt `id`, which the node `who` makes. [`Elsewhere::answer`] ends it.
    fn begin(&self, id: u64, ask: Ask, who: &str);
    /// Nobody waits for this attempt any more.
    fn cancel(&self, id: u64);
    /// Completes the report of the queue, waiting for a moment at most.
    fn report(&self, report: &mut QueueReport);
}

/// A place where queues may live instead of in this process.
pub trait QueueStore: Send + Sync + fmt::Debug {
    /// Begins to use the queue of this name, which is created if it does not exist. `seed` starts the order
    /// of a shuffling queue. The queue's attempts end in `to`.
    fn open(
        &self,
        container: &str,
        name: &str,
        spec: &QueueSpec,
        seed: u32,
        to: &Arc<Elsewhere>,
    ) -> Result<Arc<dyn ItemStore>>;
}

/// The attempts of this process on a queue whose items live elsewhere.
pub struct Elsewhere {
    name: String,
    spec: QueueSpec,
    store: OnceLock<Arc<dyn ItemStore>>,
    /// Guards only itself. No callback runs under it.
    waits: Mutex<Waits>,
}

#[derive(Default)]
struct Waits {
    next_id: u64,
    attempts: BTreeMap<u64, Attempt>,
}

struct Attempt {
    who: Arc<str>,
    /// `None`: a look, which waits only for the way there and back.
    purpose: Option<Purpose>,
    /// The number of items that a dequeue asks for.
    take: Option<Take>,
    then: Then,
    since: Instant,
    /// `None` until the listener is registered.
    listening: Option<Registration>,
    /// While the wait lasts, this process is not stuck: another one may end it.
    _job: Job,
}

/// The callback of an attempt.
enum Then {
    Ended(Ended),
    Looked(Looked),
}

/// The callback of a look at a queue: the number of items, and whether it is closed.
pub type Looked = Box<dyn FnOnce(Result<(usize, bool)>) + Send>;

impl Elsewhere {
    /// Opens the queue in `store`.
    pub(super) fn open(
        store: &dyn QueueStore,
        container: &str,
        name: &str,
        spec: &QueueSpec,
        seed: u32,
    ) -> Result<Arc<Elsewhere>> {
        let there = Arc::new(Elsewhere {
            name: name.to_owned(),
            spec: spec.clone(),
            store: OnceLock::new(),
            waits: Mutex::default(),
        });
        let items = store.open(container, name, spec, seed, &there)?;
        // The cell is empty: nobody else has seen it.
        let _ = there.store.set(items);
        Ok(there)
    }

    fn store(&self) -> Option<&Arc<dyn ItemStore>> {
        self.store.get()
    }

    /// Begins an attempt. Returns its number.
    pub(super) fn begin(self: &Arc<Self>, ask: Ask, waiter: Waiter) -> u64 {
        let purpose = match &ask {
            Ask::Enqueue(_) => Some(Purpose::Enqueue),
            Ask::Dequeue(_) => Some(Purpose::Dequeue),
            Ask::Close(_) => Some(Purpose::Close),
            Ask::Look => None,
        };
        let Waiter { who, cancel, ended } = waiter;
        self.attempt(ask, purpose, who, &cancel, Then::Ended(ended))
    }

    /// Asks for the number of items, and whether the queue is closed.
    pub(super) fn look(self: &Arc<Self>, who: Arc<str>, cancel: &Cancellation, looked: Looked) {
        self.attempt(Ask::Look, None, who, cancel, Then::Looked(looked));
    }

    fn attempt(
        self: &Arc<Self>,
        ask: Ask,
        purpose: Option<Purpose>,
        who: Arc<str>,
        cancel: &Cancellation,
        then: Then,
    ) -> u64 {
        let take = match &ask {
            Ask::Dequeue(take) => Some(*take),
            _ => None,
        };
        let attempt = Attempt {
            who: who.clone(),
            purpose,
            take,
            then,
            since: Instant::now(),
            listening: None,
            _job: Job::begin(),
        };
        let id = {
            let mut waits = self.waits.lock();
            waits.next_id += 1;
            let id = waits.next_id;
            waits.attempts.insert(id, attempt);
            id
        };
        if let Some(store) = self.store() {
            store.begin(id, ask, &who);
        }
        let there = Arc::downgrade(self);
        let listening = cancel.on_cancel(move |cause| {
            if let Some(there) = there.upgrade() {
                there.call_off(id, cause);
            }
        });
        // The attempt may have ended in between; the listener is then dropped.
        let mut waits = self.waits.lock();
        if let Some(attempt) = waits.attempts.get_mut(&id) {
            attempt.listening = Some(listening);
        }
        id
    }

    /// Ends an attempt of this process with this error, if it still waits.
    pub(super) fn call_off(&self, id: u64, cause: &Error) {
        let attempt = self.waits.lock().attempts.remove(&id);
        let Some(attempt) = attempt else { return };
        if let Some(store) = self.store() {
            store.cancel(id);
        }
        let purpose = attempt.purpose;
        let error = purpose.map_or_else(|| cause.clone(), |purpose| called_off(purpose, cause));
        attempt.end(Err(error));
    }

    /// Whether an attempt still waits.
    pub fn waits(&self, id: u64) -> bool {
        self.waits.lock().attempts.contains_key(&id)
    }

    /// The name and the type of the queue.
    pub fn queue(&self) -> (&str, &QueueSpec) {
        (&self.name, &self.spec)
    }

    /// Ends an attempt with the answer of the process that keeps the items. Items for which nobody waits any
    /// more return to the queue.
    ///
    /// The reference to the queue is dropped before the callback runs. If the callback's receiver drops the
    /// last other reference, the queue is then closed on the receiver's thread, which can wait for that.
    pub fn answer(self: Arc<Self>, id: u64, answer: Answer) {
        let attempt = self.waits.lock().attempts.remove(&id);
        match (attempt, answer) {
            (Some(attempt), answer) => {
                let told = self.told(answer, attempt.take);
                drop(self);
                attempt.end(told);
            }
            (None, Answer::Items(_, loan)) => loan.unused(),
            (None, _) => {}
        }
    }

    /// Ends the attempts that began before `then` with this error. Returns their numbers. The
    /// reference to the queue is dropped before the callbacks run, as by [`Elsewhere::answer`].
    pub fn fail_older(self: Arc<Self>, then: Instant, error: &Error) -> Vec<u64> {
        let attempts = {
            let mut waits = self.waits.lock();
            let (old, rest) =
                std::mem::take(&mut waits.attempts).into_iter().partition(|(_, a)| a.since <= then);
            waits.attempts = rest;
            let old: BTreeMap<u64, Attempt> = old;
            old
        };
        let ids = attempts.keys().copied().collect();
        drop(self);
        attempts.into_values().for_each(|attempt| attempt.end(Err(error.clone())));
        ids
    }

    fn told(&self, answer: Answer, take: Option<Take>) -> Result<Reply> {
        let title = Title { kind: self.spec.kind, name: &self.name };
        match answer {
            Answer::Done => Ok(Reply::Items(Dequeued::default())),
            Answer::Looked(len, closed) => Ok(Reply::Looked(len, closed)),
            Answer::Items(items, loan) => {
                let items = Dequeued::on_loan(items, loan);
                // What others wrote is not trusted to be what they said.
                self.check_number(items.len(), take)?;
                for item in items.iter() {
                    self.spec.check_item(item, &self.name)?;
                }
                Ok(Reply::Items(items))
            }
            Answer::ClosedToEnqueues(closing) => Err(title.closed_to_enqueues(&closing)),
            Answer::ClosedAlready(closing) => Err(title.closed_already(&closing)),
            Answer::CalledOff(closing) => {
                Err(called_off(Purpose::Enqueue, &title.closed_to_enqueues(&closing)))
            }
            Answer::ClosedToDequeues { closing, requested, len } => {
                Err(title.closed_to_dequeues(&closing, requested, len))
            }
            Answer::Failed(error) => Err(error),
        }
    }

    /// Returns an error if the number of items is not the number that was asked for: the static shape of a
    /// batch may depend on it.
    fn check_number(&self, n: usize, take: Option<Take>) -> Result<()> {
        let fits = match take {
            // A limit of tokens makes batches smaller.
            Some(take) if self.spec.batches.max_tokens.is_some() => (1..=take.count()).contains(&n),
            Some(Take::Exactly(count)) => n == count,
            Some(Take::UpTo(most)) => (1..=most).contains(&n),
            None => false,
        };
        if fits {
            return Ok(());
        }
        let asked = take.map_or(0, Take::count);
        let text = format!("the keeper of queue '{}' sent {n} items where {asked} were asked for", self.name);
        Err(Error::new(Code::DataLoss, text))
    }

    /// Completes the report of the queue.
    pub(super) fn report(&self, report: &mut QueueReport) {
        if let Some(store) = self.store() {
            store.report(report);
        }
    }

    /// The attempts that `cancel` cancels: the names of their nodes and their purposes.
    pub(super) fn waits_of(&self, cancel: &Cancellation) -> Vec<(Arc<str>, Purpose)> {
        let waits = self.waits.lock();
        let of = |attempt: &Attempt| {
            attempt.listening.as_ref().filter(|l| l.is_of(cancel))?;
            Some((attempt.who.clone(), attempt.purpose?))
        };
        waits.attempts.values().filter_map(of).collect()
    }
}

/// What an attempt ends with.
enum Reply {
    Items(Dequeued),
    Looked(usize, bool),
}

impl Attempt {
    fn end(self, result: Result<Reply>) {
        let Attempt { then, listening, _job: job, .. } = self;
        drop(listening);
        match (then, result) {
            (Then::Ended(ended), Ok(Reply::Items(items))) => ended(Ok(items)),
            (Then::Looked(looked), Ok(Reply::Looked(len, closed))) => looked(Ok((len, closed))),
            (Then::Ended(ended), Ok(_)) => ended(Err(Error::internal("a queue told its size instead"))),
            (Then::Looked(looked), Ok(_)) => looked(Err(Error::internal("a queue did not tell its size"))),
            (Then::Ended(ended), Err(error)) => ended(Err(error)),
            (Then::Looked(looked), Err(error)) => looked(Err(error)),
        }
        // The job lasts until the callback has woken the waiting run: the stall detector sees no gap.
        drop(job);
    }
}

impl fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elsewhere").field("name", &self.name).finish_non_exhaustive()
    }
}
