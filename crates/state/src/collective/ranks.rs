//! [`Ranks`]: the collective of several ranks.
//!
//! # Protocol
//!
//! A call is noted in a table and told to rank 0 (`Ready`). Once all ranks have told rank 0, it tells them to
//! perform the call (`Go`), and they all do, on one thread each, in the order in which rank 0 said so. A call
//! that was given up stays in the table until `Go` or `Failed` comes: if the others perform it already, this
//! rank must take part. Of a call that a rank cannot make, it tells rank 0 that it refuses (`Refused`), and
//! the call fails on the others. A rank that ends says `Bye`, goes on until rank 0's `Bye` comes, and then
//! sends nothing more; rank 0 says it to a rank that has, or to all when it ends itself.
//!
//! The thread polls: MPI has no wait that a thread of the same process could end. It sleeps 50 µs between
//! looks after something happened, and longer the longer nothing does, up to a millisecond, or five where no
//! call waits.

use super::coordinator::{Coordinator, Decision};
use super::reduce::{Part, fold};
use super::wire::{Batch, Key, Message, Offer};
use super::{Call, Caller, Collective, Finish, Reduction, Transport, What, ended, shares, starts};
use crate::activity::Threads;
use crate::cancel::{Cancellation, Registration};
use millstream_tensor::{Code, DType, Error, Result, Tensor, ensure};
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The options of [`Ranks`]. Those of rank 0 decide.
#[derive(Clone, Debug)]
pub struct RanksOptions {
    /// Sums and the like that are ready at the same time are performed as one, up to this many bytes.
    pub fuse_bytes: usize,
    /// How long rank 0 gathers calls that are ready before it starts them, if it started others just before
    /// and some ranks have begun calls that others have not.
    pub cycle: Duration,
    /// A call that only some ranks have made for this long is an error on them.
    pub stall: Duration,
}

impl Default for RanksOptions {
    fn default() -> Self {
        RanksOptions {
            fuse_bytes: 64 << 20,
            cycle: Duration::from_millis(1),
            stall: Duration::from_secs(600),
        }
    }
}

/// How long an ending rank waits for the others to have heard of it.
const FAREWELL: Duration = Duration::from_secs(3);

/// The most bytes that are moved at once, a multiple of every element's size. The memory for the parts of
/// other ranks is no larger. Two ranks on one machine reduce 64 MiB equally fast in pieces of 16 to 64 MiB,
/// and take half as long again in pieces of 1 MiB.
const PIECE: usize = 32 << 20;

/// Reductions whose parts take no more bytes than this, all ranks together, are gathered by all ranks and
/// folded by each: one exchange instead of two.
const SMALL: usize = 32 << 10;

/// The ranks of a job of several processes.
pub struct Ranks {
    rank: usize,
    size: usize,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranks").field("rank", &self.rank).field("size", &self.size).finish_non_exhaustive()
    }
}

struct Shared {
    /// The calls. Slots and cancellations are locked after it is released.
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    /// The calls that were told to rank 0, until they are performed or fail.
    pending: HashMap<Key, Pending>,
    names: HashMap<Arc<str>, Name>,
    outbox: Vec<Message>,
    /// The reason for which this rank is to end.
    closing: Option<String>,
    /// The error of calls from now on.
    over: Option<Error>,
}

/// The calls under one name.
#[derive(Default)]
struct Name {
    turn: u64,
    n_waiting: usize,
    /// The run that made those which wait.
    run: Cancellation,
}

struct Pending {
    call: Call,
    /// Where the result goes, if not in place of the value.
    out: Option<Tensor>,
    slot: Arc<Slot>,
    /// Whether nobody waits for it any more.
    given_up: bool,
}

type Ended = Box<dyn FnOnce(Result<Finish>) + Send>;

/// The end of a call, which happens once.
struct Slot {
    ended: Mutex<Option<Ended>>,
    listening: Mutex<Option<Registration>>,
}

impl Slot {
    /// Ends the call. Returns whether it had not ended before.
    fn end(&self, result: Result<Finish>) -> bool {
        let Some(ended) = self.ended.lock().take() else { return false };
        let listening = self.listening.lock().take();
        drop(listening);
        ended(result);
        true
    }

    fn listen(&self, registration: Registration) {
        *self.listening.lock() = Some(registration);
        if self.ended.lock().is_none() {
            let registration = self.listening.lock().take();
            drop(registration);
        }
    }
}

impl Ranks {
    /// Joins the job that the transport connects. Starts a thread, which owns the transport.
    pub fn start(transport: impl Transport + 'static, options: RanksOptions) -> Result<Ranks> {
        let (rank, size) = (transport.rank(), transport.size());
        ensure!(rank < size, "rank {rank} of a job of {size} ranks");
        let shared = Arc::new(Shared { state: Mutex::default(), wake: Condvar::new() });
        let coordinator = || Coordinator::new(size, options.fuse_bytes, options.stall);
        let progress = Progress {
            rank,
            size,
            shared: shared.clone(),
            coordinator: (rank == 0).then(coordinator),
            options: options.clone(),
            transport,
            parted: vec![false; size],
            has_said_bye: false,
            decided: None,
            fused: Vec::new(),
            scratch: Vec::new(),
        };
        let thread = std::thread::Builder::new().name(format!("rank {rank}")).spawn(move || {
            Threads::engines_began();
            progress.run();
            Threads::engines_ended();
        });
        let thread = thread.map_err(|e| {
            Error::new(Code::ResourceExhausted, format!("the system refuses the thread of a collective: {e}"))
        })?;
        Ok(Ranks { rank, size, shared, thread: Mutex::new(Some(thread)) })
    }

    /// Ends this rank: calls that wait end with an error, those of other ranks with an error that gives the
    /// reason. Returns when the other ranks know, or after three seconds.
    pub fn shutdown(&self, why: &str) {
        {
            let mut state = self.shared.state.lock();
            state.closing.get_or_insert_with(|| why.to_owned());
        }
        self.shared.wake.notify_all();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.shutdown("its program needs it no longer");
    }
}

impl Collective for Ranks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn start(&self, mut call: Call, caller: Caller) {
        let Caller { who, cancel, ended } = caller;
        let out = match call.check(self.size).and_then(|()| call.out()) {
            Ok(out) => out,
            Err(error) => {
                self.refuse(&who, &error);
                return ended(Err(error));
            }
        };
        let slot = Arc::new(Slot { ended: Mutex::new(Some(ended)), listening: Mutex::new(None) });
        let key = match self.shared.state.lock().begin(who, (call, out), &cancel, &slot) {
            Ok(key) => key,
            Err(error) => {
                slot.end(Err(error));
                return;
            }
        };
        self.shared.wake.notify_one();
        let (shared, gives_up) = (Arc::downgrade(&self.shared), slot.clone());
        slot.listen(cancel.on_cancel(move |cause| give_up(&shared, key, &gives_up, cause)));
    }

    fn refuse(&self, who: &str, error: &Error) {
        self.shared.state.lock().refuse(who.into(), error);
        self.shared.wake.notify_one();
    }
}

fn give_up(shared: &Weak<Shared>, key: Key, slot: &Slot, cause: &Error) {
    if slot.end(Err(cause.clone()))
        && let Some(shared) = shared.upgrade()
    {
        shared.state.lock().give_up(key, cause);
        shared.wake.notify_one();
    }
}

impl Call {
    /// A tensor for the result, if that has the shape of the value but cannot take its place, because
    /// something else shares the value. The run that makes the call pays for it.
    fn out(&mut self) -> Result<Option<Tensor>> {
        let in_place = matches!(self.what, What::AllReduce(_) | What::Broadcast { .. });
        let is_plain = 0 < self.value.rank() && self.value.dtype() != DType::Bool;
        if !in_place || !is_plain || self.value.make_mut_bytes().is_some() {
            return Ok(None);
        }
        Tensor::zeros(self.value.dtype(), self.value.shape().clone()).map(Some)
    }

    fn bytes(&self) -> Result<&[u8]> {
        bytes_of(&self.value)
    }

    fn row_bytes(&self) -> usize {
        let row = self.value.shape().iter().skip(1).product::<usize>();
        row * self.value.dtype().size().unwrap_or(1)
    }
}

impl State {
    fn begin(
        &mut self,
        who: Arc<str>,
        (call, out): (Call, Option<Tensor>),
        cancel: &Cancellation,
        slot: &Arc<Slot>,
    ) -> Result<Key> {
        if let Some(error) = &self.over {
            return Err(error.clone());
        }
        if self.closing.is_some() {
            return Err(shut_down());
        }
        let name = self.names.entry(who.clone()).or_default();
        ensure!(
            name.n_waiting == 0 || name.run.is(cancel),
            "`{who}` waits for the other ranks in another run: calls of the ranks meet by their names, so the \
             runs that make one must not overlap"
        );
        let key = Key { name: who, turn: name.turn };
        name.turn += 1;
        name.n_waiting += 1;
        name.run = cancel.clone();
        let offer = Offer {
            what: call.what,
            dtype: call.value.dtype(),
            shape: call.value.shape().to_vec(),
            splits: call.splits.clone(),
        };
        self.outbox.push(Message::Ready(key.clone(), offer));
        self.pending.insert(key.clone(), Pending { call, out, slot: slot.clone(), given_up: false });
        Ok(key)
    }

    /// Notes that this rank does not make its next call under this name.
    fn refuse(&mut self, who: Arc<str>, error: &Error) {
        if self.over.is_some() || self.closing.is_some() {
            return;
        }
        let name = self.names.entry(who.clone()).or_default();
        let key = Key { name: who, turn: name.turn };
        name.turn += 1;
        self.outbox.push(Message::Refused(key, error.message().to_owned()));
    }

    /// Notes that nobody waits for the call any more. It stays in the table: the other ranks may perform it.
    fn give_up(&mut self, key: Key, cause: &Error) {
        if let Some(pending) = self.pending.get_mut(&key) {
            pending.given_up = true;
            if let Some(name) = self.names.get_mut(&key.name) {
                name.n_waiting -= 1;
            }
        }
        self.outbox.push(Message::GaveUp(key, cause.message().to_owned()));
    }

    fn take(&mut self, key: &Key) -> Option<Pending> {
        let pending = self.pending.remove(key)?;
        if let Some(name) = self.names.get_mut(&key.name) {
            name.n_waiting -= usize::from(!pending.given_up);
        }
        Some(pending)
    }

    fn take_all(&mut self) -> Vec<(Key, Pending)> {
        let mut keys: Vec<Key> = self.pending.keys().cloned().collect();
        keys.sort();
        keys.into_iter().filter_map(|key| self.take(&key).map(|pending| (key, pending))).collect()
    }
}

fn panicked() -> Error {
    Error::internal("the thread of a collective panicked")
}

fn shut_down() -> Error {
    Error::new(Code::Cancelled, "this rank has left the job: it was shut down")
}

/// What the thread of a rank has.
struct Progress<T> {
    rank: usize,
    size: usize,
    shared: Arc<Shared>,
    coordinator: Option<Coordinator>,
    options: RanksOptions,
    transport: T,
    /// The ranks that have said `Bye`, of those that this one talks with.
    parted: Vec<bool>,
    has_said_bye: bool,
    /// The time of the last decisions.
    decided: Option<Instant>,
    /// Values that are reduced together.
    fused: Vec<u8>,
    /// Parts of other ranks.
    scratch: Vec<u8>,
}

impl<T: Transport> Progress<T> {
    fn run(mut self) {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work()));
        let error = match outcome {
            Ok(Ok(())) => shut_down(),
            Ok(Err(error)) => {
                // The others may not have noticed.
                let bye = Message::Bye(error.message().to_owned()).encode();
                let peers: Vec<usize> = self.peers().collect();
                for to in peers {
                    let _ = self.transport.send(to, bye.clone());
                }
                error
            }
            Err(_) => panicked(),
        };
        self.fail_all(&error);
        let _ = self.transport.finish();
    }

    /// The ranks that this one talks with and that have not said `Bye`.
    fn peers(&self) -> impl Iterator<Item = usize> + use<'_, T> {
        let all = if self.rank == 0 { 1..self.size } else { 0..1 };
        all.filter(|&r| !self.parted[r])
    }

    fn fail_all(&self, error: &Error) {
        let pending = {
            let mut state = self.shared.state.lock();
            state.over.get_or_insert_with(|| error.clone());
            state.take_all()
        };
        for (_, Pending { slot, .. }) in pending {
            slot.end(Err(error.clone()));
        }
    }

    fn work(&mut self) -> Result<()> {
        let mut happened = Instant::now();
        let mut leaves_at = None;
        loop {
            let (outbox, closing) = {
                let mut state = self.shared.state.lock();
                (std::mem::take(&mut state.outbox), state.closing.clone())
            };
            let mut to = Vec::new();
            let mut came = !outbox.is_empty();
            for message in outbox {
                self.tell_rank_0(message, &mut to)?;
            }
            if let Some(why) = closing.filter(|_| !self.has_said_bye) {
                self.leave(&why, &mut to)?;
                leaves_at = Some(Instant::now() + FAREWELL);
            }
            while let Some((from, message)) = self.transport.receive()? {
                came = true;
                self.hear(from, Message::decode(&message)?, &mut to)?;
            }
            self.decide(to)?;
            let alone = self.peers().next().is_none();
            if self.has_said_bye && alone || leaves_at.is_some_and(|end| end < Instant::now()) {
                return Ok(());
            }
            if came {
                happened = Instant::now();
            }
            self.rest(happened);
        }
    }

    /// Sleeps until the next look, or until this rank has something to say.
    fn rest(&self, happened: Instant) {
        let mut state = self.shared.state.lock();
        if !state.outbox.is_empty() || state.closing.is_some() && !self.has_said_bye {
            return;
        }
        let waits = !state.pending.is_empty()
            || self.has_said_bye
            || self.coordinator.as_ref().is_some_and(Coordinator::is_busy);
        let most = Duration::from_millis(if waits { 1 } else { 5 });
        let pause = (happened.elapsed() / 8).clamp(Duration::from_micros(50), most);
        self.shared.wake.wait_for(&mut state, pause);
    }

    fn tell_rank_0(&mut self, message: Message, to: &mut Vec<Decision>) -> Result<()> {
        match self.rank {
            0 => self.hear(0, message, to),
            _ if self.has_said_bye => Ok(()),
            _ => self.transport.send(0, message.encode()),
        }
    }

    /// Begins to end this rank.
    fn leave(&mut self, why: &str, to: &mut Vec<Decision>) -> Result<()> {
        let waiting: Vec<(Key, Arc<Slot>)> = {
            let state = self.shared.state.lock();
            let mut waiting: Vec<_> =
                state.pending.iter().map(|(k, p)| (k.clone(), p.slot.clone())).collect();
            waiting.sort_by(|a, b| a.0.cmp(&b.0));
            waiting
        };
        for (key, slot) in waiting {
            if slot.end(Err(shut_down())) {
                self.tell_rank_0(Message::GaveUp(key, format!("it was shut down: {why}")), to)?;
            }
        }
        // What is ready was promised to the others, and is performed before the last word.
        self.decide(std::mem::take(to))?;
        self.say_bye(why)
    }

    fn say_bye(&mut self, why: &str) -> Result<()> {
        self.has_said_bye = true;
        let bye = Message::Bye(why.to_owned()).encode();
        let peers: Vec<usize> = self.peers().collect();
        peers.into_iter().try_for_each(|r| self.transport.send(r, bye.clone()))
    }

    fn hear(&mut self, from: usize, message: Message, to: &mut Vec<Decision>) -> Result<()> {
        let now = Instant::now();
        match (message, &mut self.coordinator) {
            // After its own last word rank 0 decides nothing: the others end all they wait for.
            (Message::Ready(..) | Message::GaveUp(..) | Message::Refused(..), Some(_))
                if self.has_said_bye => {}
            (Message::Ready(key, offer), Some(coordinator)) => coordinator.offer(from, key, offer, now, to),
            (Message::GaveUp(key, why), Some(coordinator)) => coordinator.give_up(from, &key, &why, to),
            (Message::Refused(key, why), Some(coordinator)) => {
                coordinator.refuse(from, key, &why, now, to);
            }
            (Message::Bye(why), Some(coordinator)) => {
                coordinator.bye(from, &why, to);
                self.parted[from] = true;
                if !self.has_said_bye {
                    // The rank takes part in what is ready, and leaves when it hears the answer.
                    self.carry_out(std::mem::take(to), true)?;
                    self.transport.send(from, Message::Bye(String::new()).encode())?;
                }
            }
            (Message::Bye(why), None) => {
                self.parted[from] = true;
                if !self.has_said_bye {
                    self.fail_all(&ended(from, &why));
                    self.has_said_bye = true;
                    self.transport.send(from, Message::Bye(String::new()).encode())?;
                }
            }
            (Message::Go(batches), None) => batches.iter().try_for_each(|batch| self.perform(batch))?,
            (Message::Failed(key, code, text), None) => self.failed(&key, Error::new(code, text)),
            (message, _) => {
                return Err(Error::internal(format!("rank {from} sent what it must not: {message:?}")));
            }
        }
        Ok(())
    }

    fn failed(&self, key: &Key, error: Error) {
        let pending = self.shared.state.lock().take(key);
        if let Some(Pending { slot, .. }) = pending {
            slot.end(Err(error));
        }
    }

    /// Rank 0: decides what is to be done, tells the others, and does it.
    fn decide(&mut self, mut to: Vec<Decision>) -> Result<()> {
        let Some(coordinator) = self.coordinator.as_mut().filter(|_| !self.has_said_bye) else {
            return Ok(());
        };
        let now = Instant::now();
        coordinator.look(now, &mut to);
        let just_now = self.decided.is_some_and(|last| now - last < self.options.cycle);
        // To gather is worth the delay only if there is something to wait for.
        let gathers = just_now && coordinator.is_half_begun();
        let leaves = self.shared.state.lock().closing.is_some();
        self.carry_out(to, !gathers || leaves)
    }

    /// Rank 0: carries decisions out, and begins the calls that are ready if `begins` is set.
    fn carry_out(&mut self, mut to: Vec<Decision>, begins: bool) -> Result<()> {
        let Some(coordinator) = self.coordinator.as_mut() else { return Ok(()) };
        if begins && coordinator.is_ready() {
            self.decided = Some(Instant::now());
            coordinator.decide(&mut to);
        }
        let mut batches = Vec::new();
        for decision in to {
            match decision {
                Decision::Go(batch) => batches.push(batch),
                Decision::Failed(ranks, key, error) => {
                    let told =
                        Message::Failed(key.clone(), error.code(), error.message().to_owned()).encode();
                    for rank in ranks {
                        match rank {
                            0 => self.failed(&key, error.clone()),
                            _ if self.parted[rank] => {}
                            _ => self.transport.send(rank, told.clone())?,
                        }
                    }
                }
            }
        }
        if batches.is_empty() {
            return Ok(());
        }
        let go = Message::Go(batches.clone()).encode();
        for rank in 1..self.size {
            self.transport.send(rank, go.clone())?;
        }
        batches.iter().try_for_each(|batch| self.perform(batch))
    }

    /// Performs calls, together with all other ranks.
    fn perform(&mut self, batch: &Batch) -> Result<()> {
        let taken = {
            let mut state = self.shared.state.lock();
            batch.keys.iter().map(|key| state.take(key)).collect::<Option<Vec<_>>>()
        };
        let Some(taken) = taken else {
            return Err(Error::internal("rank 0 performs a call that this rank has not made"));
        };
        let (calls, slots): (Vec<_>, Vec<_>) = taken.into_iter().map(|p| ((p.call, p.out), p.slot)).unzip();
        // The callers wait for these slots, which are in no table any more: a panic must end them, too.
        let results = catch_unwind(AssertUnwindSafe(|| self.results(calls, &batch.splits)));
        match results.unwrap_or_else(|_| Err(panicked())) {
            Ok(results) => {
                for (slot, result) in slots.into_iter().zip(results) {
                    slot.end(Ok(result));
                }
                Ok(())
            }
            Err(error) => {
                for slot in slots {
                    slot.end(Err(error.clone()));
                }
                Err(error)
            }
        }
    }

    fn results(
        &mut self,
        mut calls: Vec<(Call, Option<Tensor>)>,
        splits: &[Vec<usize>],
    ) -> Result<Vec<Finish>> {
        let Some(what) = calls.first().map(|(call, _)| call.what) else { return Ok(Vec::new()) };
        if let What::AllReduce(reduction) = what {
            return self.all_reduced(calls, reduction);
        }
        let Some((call, out)) = calls.pop() else { return Ok(Vec::new()) };
        let (rank, row) = (self.rank, call.row_bytes());
        let rows: Vec<usize> = splits.iter().filter_map(|s| s.first().copied()).collect();
        let finish: Finish = match what {
            What::Broadcast { root } => self.broadcasted(call, out, root)?,
            What::AllGather => {
                let counts: Vec<usize> = rows.iter().map(|n| n * row).collect();
                let mut all = blank(counts.iter().sum())?;
                let at = starts(&counts)[rank];
                all[at..at + counts[rank]].copy_from_slice(call.bytes()?);
                self.transport.all_gather(&mut all, &counts)?;
                made_of(call, rows.iter().sum(), all)
            }
            What::ReduceScatter(reduction) => {
                let counts: Vec<usize> = rows.iter().map(|n| n * row).collect();
                let mut own = blank(counts[rank])?;
                let bytes = call.bytes()?;
                let at = starts(&counts)[rank];
                own.copy_from_slice(&bytes[at..at + counts[rank]]);
                self.reduce_part(bytes, &counts, reduction, call.value.dtype(), &mut own)?;
                made_of(call, rows[rank], own)
            }
            What::AllToAll => {
                let sent: Vec<usize> = splits[rank].iter().map(|n| n * row).collect();
                let came: Vec<usize> = splits.iter().map(|s| s[rank]).collect();
                let taken: Vec<usize> = came.iter().map(|n| n * row).collect();
                let mut all = blank(taken.iter().sum())?;
                let (from, to) = (starts(&sent)[rank], starts(&taken)[rank]);
                let bytes = call.bytes()?;
                all[to..to + taken[rank]].copy_from_slice(&bytes[from..from + sent[rank]]);
                self.transport.all_to_all(bytes, &sent, &mut all, &taken)?;
                let rows = made_of(call, came.iter().sum(), all);
                Box::new(move || {
                    let came: Vec<i32> = came.iter().map(|&n| i32::try_from(n).unwrap_or(i32::MAX)).collect();
                    let mut outputs = rows()?;
                    outputs.push(Tensor::vector(&came)?);
                    Ok(outputs)
                })
            }
            What::Barrier => Box::new(|| Ok(Vec::new())),
            What::AllReduce(_) => return Err(Error::internal("a reduction that is no reduction")),
        };
        Ok(vec![finish])
    }

    fn broadcasted(&mut self, call: Call, out: Option<Tensor>, root: usize) -> Result<Finish> {
        let mut value = match out {
            Some(out) if self.rank == root => written(out, call.bytes()?)?,
            Some(out) => out,
            None => call.value,
        };
        let mut send = |bytes: &mut [u8]| {
            bytes.chunks_mut(PIECE).try_for_each(|piece| self.transport.broadcast(piece, root))
        };
        match value.make_mut_bytes() {
            Some(bytes) => send(bytes)?,
            None => {
                let mut bytes = bytes_of(&value)?.to_vec();
                send(&mut bytes)?;
                value = written(value, &bytes)?;
            }
        }
        Ok(Box::new(move || Ok(vec![value])))
    }

    fn all_reduced(
        &mut self,
        mut calls: Vec<(Call, Option<Tensor>)>,
        reduction: Reduction,
    ) -> Result<Vec<Finish>> {
        let dtype = calls[0].0.value.dtype();
        let finish = |value: Tensor| Box::new(move || Ok(vec![value])) as Finish;
        if let [(call, out)] = calls.as_mut_slice() {
            let (from, value) = match out.take() {
                Some(out) => (Some(std::mem::replace(&mut call.value, out)), &mut call.value),
                None => (None, &mut call.value),
            };
            if let Some(bytes) = value.make_mut_bytes() {
                let from = from.as_ref().map(bytes_of).transpose()?;
                for (i, piece) in bytes.chunks_mut(PIECE).enumerate() {
                    let from = from.map(|from| &from[i * PIECE..i * PIECE + piece.len()]);
                    self.reduce(from, piece, reduction, dtype)?;
                }
                return Ok(calls.into_iter().map(|(call, _)| finish(call.value)).collect());
            }
        }
        let mut fused = std::mem::take(&mut self.fused);
        fused.clear();
        for (call, _) in &calls {
            fused.extend_from_slice(call.bytes()?);
        }
        fused.chunks_mut(PIECE).try_for_each(|piece| self.reduce(None, piece, reduction, dtype))?;
        let mut at = 0;
        let results = calls.into_iter().map(|(call, out)| {
            let start = at;
            at += call.bytes()?.len();
            Ok(finish(written(out.unwrap_or(call.value), &fused[start..at])?))
        });
        let results = results.collect::<Result<Vec<_>>>()?;
        self.fused = fused;
        Ok(results)
    }

    /// Sets `data` to the reduction, over all ranks, of `from`, or of itself if there is none.
    fn reduce(
        &mut self,
        from: Option<&[u8]>,
        data: &mut [u8],
        reduction: Reduction,
        dtype: DType,
    ) -> Result<()> {
        let (size, rank, n) = (self.size, self.rank, data.len());
        if n * size <= SMALL {
            let all = grown(&mut self.scratch, n * size)?;
            all[n * rank..n * (rank + 1)].copy_from_slice(from.unwrap_or(data));
            self.transport.all_gather(all, &vec![n; size])?;
            let parts: Vec<Part> = (0..size).map(|r| Part::At(&all[n * r..n * (r + 1)])).collect();
            return fold(reduction, dtype, &parts, data);
        }
        let width = dtype.size().unwrap_or(1);
        let counts: Vec<usize> = shares(n / width, size).iter().map(|n| n * width).collect();
        let own = starts(&counts)[rank]..starts(&counts)[rank] + counts[rank];
        self.exchange(from.unwrap_or(data), &counts)?;
        let mine = from.map_or(Part::InPlace, |from| Part::At(&from[own.clone()]));
        fold(reduction, dtype, &parts_of(&self.scratch, mine, counts[rank], rank, size), &mut data[own])?;
        self.transport.all_gather(data, &counts)
    }

    /// Reduces this rank's part of all ranks' `bytes` into `own`, which is that part.
    fn reduce_part(
        &mut self,
        bytes: &[u8],
        counts: &[usize],
        reduction: Reduction,
        dtype: DType,
        own: &mut [u8],
    ) -> Result<()> {
        self.exchange(bytes, counts)?;
        let parts = parts_of(&self.scratch, Part::InPlace, own.len(), self.rank, self.size);
        fold(reduction, dtype, &parts, own)
    }

    /// Gives each rank its part of `bytes`, and puts the other ranks' parts for this one into `scratch`, in
    /// their order.
    fn exchange(&mut self, bytes: &[u8], counts: &[usize]) -> Result<()> {
        let own = counts[self.rank];
        let parts = grown(&mut self.scratch, own * self.size)?;
        self.transport.all_to_all(bytes, counts, parts, &vec![own; self.size])
    }
}

fn parts_of<'a>(scratch: &'a [u8], mine: Part<'a>, n: usize, rank: usize, size: usize) -> Vec<Part<'a>> {
    let part = |r| if r == rank { mine } else { Part::At(&scratch[n * r..n * (r + 1)]) };
    (0..size).map(part).collect()
}

fn bytes_of(value: &Tensor) -> Result<&[u8]> {
    value.as_bytes().ok_or_else(|| Error::internal("a value without bytes"))
}

/// The tensor with these bytes, in place where that is possible.
fn written(mut value: Tensor, bytes: &[u8]) -> Result<Tensor> {
    match value.make_mut_bytes() {
        Some(own) => {
            own.copy_from_slice(bytes);
            Ok(value)
        }
        None => Tensor::from_bytes(value.dtype(), value.shape().clone(), bytes),
    }
}

/// The first `n` bytes of `scratch`, which grows if it is smaller. What they hold is arbitrary.
fn grown(scratch: &mut Vec<u8>, n: usize) -> Result<&mut [u8]> {
    if scratch.len() < n {
        *scratch = blank(n)?;
    }
    Ok(&mut scratch[..n])
}

/// Zeros, or an error where there is no memory for them.
fn blank(n: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let reserved = bytes.try_reserve_exact(n);
    reserved.map_err(|_| Error::new(Code::ResourceExhausted, format!("there is no memory for {n} bytes")))?;
    bytes.resize(n, 0);
    Ok(bytes)
}

/// Makes a tensor like the call's value, of this many rows.
fn made_of(call: Call, rows: usize, bytes: Vec<u8>) -> Finish {
    Box::new(move || {
        let mut shape = call.value.shape().clone();
        shape.dims_mut()[0] = rows;
        Ok(vec![Tensor::from_bytes(call.value.dtype(), shape, &bytes)?])
    })
}
