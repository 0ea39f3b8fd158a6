//! [`Barrier`]: elements whose components arrive one by one, under keys, and that can be taken once they are
//! complete.
//!
//! The complete elements are the items of a queue of the kind [`QueueKind::Barrier`]. Waiting, cancellation
//! and the return of elements that their receiver did not use are the queue's:
//!
//! ```text
//!   insert (key, component) ─► incomplete elements ─► last component ─► queue, sorted by index ─► take
//! ```
//!
//! An element's index is the number of the insertion that brought its key. Insertions that bring no new key
//! are not counted. The components of an item in the queue are its index, its key, and its values.
//!
//! A closed barrier takes no new keys, but the missing components of the keys that it has. The queue is
//! closed once no element is incomplete. In TensorFlow, a take that waits while the barrier is closed waits
//! for ever unless it gets all elements. Here it ends as later takes do: a small batch with the next
//! complete element, the others when the queue is closed.
//!
//! Definition: TensorFlow's `Barrier`.

use super::{Closing, Item, Queue, QueueKind, QueueReport, QueueSpec, Take, Title, Waiter, dtype_names};
use crate::cancel::Cancellation;
use crate::sync::Mutex;
use millstream_tensor::budget::Room;
use millstream_tensor::pace::{Pace, uninterrupted};
use millstream_tensor::{Code, DType, Error, Opaque, PartialShape, Result, Str, Tensor, ensure, invalid};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The number of incomplete elements that a report names.
const NAMED: usize = 3;

/// A set of elements whose components are inserted one by one.
pub struct Barrier {
    /// The complete elements.
    ready: Arc<Queue>,
    /// The incomplete elements. Under this lock, that of the queue is taken only to look at it, and no
    /// callback runs.
    state: Mutex<State>,
}

struct State {
    incomplete: BTreeMap<Str, Incomplete>,
    /// The index of the next insertion that brings a new key.
    next_index: i64,
    /// The number of complete elements on their way to the queue.
    n_arriving: usize,
    /// How the barrier was closed. The queue is closed later, once no element is incomplete or arriving.
    closed: Option<Closing>,
    queue_closed: bool,
}

/// An element with components missing.
struct Incomplete {
    index: i64,
    /// The key, as a component of the item.
    key: Tensor,
    values: SmallVec<[Option<Tensor>; 2]>,
    /// What the item will take.
    room: Room,
    /// What the entry takes until then.
    _room: Room,
}

impl Incomplete {
    fn new(index: i64, key: &Str, n_values: usize) -> Result<Incomplete> {
        let entry = 2 * size_of::<(Str, Incomplete)>() + n_values * size_of::<Option<Tensor>>();
        Ok(Incomplete {
            index,
            key: Tensor::str(key.clone()),
            values: smallvec![None; n_values],
            room: Room::of(size_of::<Item>())?,
            _room: Room::of(entry)?,
        })
    }

    fn is_complete(&self) -> bool {
        self.values.iter().all(Option::is_some)
    }

    fn into_item(self) -> Item {
        let mut components: SmallVec<[Tensor; 2]> = smallvec![Tensor::scalar(self.index), self.key];
        components.extend(self.values.into_iter().flatten());
        Item { components, _room: self.room }
    }
}

impl Barrier {
    /// The bytes that an insertion works with for each key: its value, twice while it is copied, and the
    /// complete element in a list that grows.
    pub const INSERTION: usize = 2 * size_of::<Tensor>() + 2 * size_of::<Item>();

    /// A barrier without elements, whose values have these dtypes and shapes.
    pub fn new(name: &str, dtypes: &[DType], shapes: &[PartialShape]) -> Result<Barrier> {
        ensure!(!dtypes.is_empty(), "a barrier needs at least one component");
        ensure!(
            shapes.len() == dtypes.len(),
            "All of the component shapes must be specified";
            "a barrier of {} components was given {} shapes", dtypes.len(), shapes.len()
        );
        for (i, shape) in shapes.iter().enumerate() {
            ensure!(
                shape.rank().is_none() || shape.is_full(),
                "Shape {shape} is not fully defined";
                "component {i} of barrier '{name}' must have a shape without unknown dimensions, or an unknown one"
            );
        }
        let scalar = PartialShape::unknown_of_rank(0);
        let spec = QueueSpec {
            kind: QueueKind::Barrier,
            capacity: QueueSpec::capacity_of(-1),
            dtypes: [DType::I64, DType::Str].iter().chain(dtypes).copied().collect(),
            shapes: Some([scalar.clone(), scalar].iter().chain(shapes).cloned().collect()),
            min_after_dequeue: 0,
            seeds: (0, 0),
            batches: Default::default(),
        };
        let state = State {
            incomplete: BTreeMap::new(),
            next_index: i64::MIN,
            n_arriving: 0,
            closed: None,
            queue_closed: false,
        };
        Ok(Barrier { ready: Arc::new(Queue::new(name, spec, || 0)?), state: Mutex::new(state) })
    }

    /// The name in the container.
    pub fn name(&self) -> &str {
        self.ready.name()
    }

    /// The dtypes of an element's values.
    pub fn dtypes(&self) -> &[DType] {
        &self.ready.spec().dtypes[2..]
    }

    /// The shapes of an element's values.
    pub fn shapes(&self) -> &[PartialShape] {
        &self.ready.spec().shapes.as_deref().unwrap_or_default()[2..]
    }

    /// The queue of complete elements: for waits and batches. Its items are an index, a key and the values.
    pub fn ready(&self) -> &Arc<Queue> {
        &self.ready
    }

    /// The number of complete elements.
    pub fn n_ready(&self) -> usize {
        self.ready.len()
    }

    /// The number of incomplete elements.
    pub fn n_incomplete(&self) -> usize {
        self.state.lock().incomplete.len()
    }

    /// Returns an error, in TensorFlow's words, if a node asks for a barrier of this name with other
    /// components.
    pub fn check_same(&self, dtypes: &[DType], shapes: &[PartialShape]) -> Result<()> {
        let help = "give one of them another shared_name, or make both alike";
        if self.dtypes() != dtypes {
            let [have, want] = [self.dtypes(), dtypes].map(|dtypes| dtype_names(dtypes.iter().copied()));
            return Err(invalid!(
                "Shared barrier '{}' has component types {have} but requested component types were {want}",
                self.name()
            )
            .with_help(help));
        }
        if self.shapes() != shapes {
            let listed = |shapes: &[PartialShape]| {
                shapes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
            };
            return Err(invalid!(
                "Shared barrier '{}' has component shapes [{}] but requested component shapes were [{}]",
                self.name(),
                listed(self.shapes()),
                listed(shapes)
            )
            .with_help(help));
        }
        Ok(())
    }

    /// Inserts a value under each key, as the component with this number. An error ends the insertion; what
    /// was inserted before stays.
    pub fn insert(&self, component: usize, keys: &[Str], values: Vec<Tensor>) -> Result<()> {
        ensure!(keys.len() == values.len(), "{} values were given for {} keys", values.len(), keys.len());
        let n = self.dtypes().len();
        ensure!(component < n, "component {component} of barrier '{}', which has {n}", self.name());
        let mut pace = Pace::new();
        let kept = |value: Tensor| {
            pace.spend(1)?;
            self.check(component, &value)?;
            value.kept()
        };
        let values = values.into_iter().map(kept).collect::<Result<Vec<_>>>()?;
        // A part of the insertion would fail when it is tried again: these keys would have a value.
        let _whole = uninterrupted();
        let (inserted, ready) = {
            let mut state = self.state.lock();
            self.check_open(&state, keys.len())?;
            let mut ready = Vec::new();
            let inserted = self.insert_all(&mut state, component, keys, values, &mut ready);
            state.n_arriving += ready.len();
            (inserted, ready)
        };
        let n_ready = ready.len();
        let arrived = self.ready.try_enqueue_many(ready);
        let to_close = {
            let mut state = self.state.lock();
            state.n_arriving -= n_ready;
            state.drained()
        };
        self.close_queue(to_close);
        inserted?;
        ensure!(arrived?, "barrier '{}' holds too many elements", self.name());
        Ok(())
    }

    fn check(&self, component: usize, value: &Tensor) -> Result<()> {
        let (dtype, shape) = (self.dtypes()[component], &self.shapes()[component]);
        let name = self.name();
        ensure!(
            value.dtype() == dtype,
            "component {component} of barrier '{name}' is {dtype}, not {}",
            value.dtype()
        );
        ensure!(
            shape.admits(value.shape()),
            "Shape mismatch in tuple component {component}. Expected {shape}, got {}",
            value.shape();
            "inserted in barrier '{name}'"
        );
        ensure!(
            value.elements() > 0,
            "Tensors with no elements are not supported {name}: received shape {}",
            value.shape();
            "component {component} of barrier '{name}' must have elements"
        );
        Ok(())
    }

    /// Returns an error if a closed barrier cannot take any of `n` keys.
    fn check_open(&self, state: &State, n: usize) -> Result<()> {
        let Some(closing) = &state.closed else { return Ok(()) };
        if !closing.cancelled_pending && (n == 0 || !state.incomplete.is_empty()) {
            return Ok(());
        }
        let words =
            format!("Number of new insertions: {n}.  Number of incomplete keys: {}.", state.incomplete.len());
        Err(self.closed_to(closing, ".", &words, "no element lacks a component"))
    }

    /// The error of an insertion into a closed barrier, in TensorFlow's words and in ours.
    fn closed_to(&self, closing: &Closing, but: &str, counts: &str, why: &str) -> Error {
        let cancelled = u8::from(closing.cancelled_pending);
        Error::new(Code::Cancelled, format!("Barrier '{}' is closed: {why}", self.name()))
            .led_by(format!(
                "Barrier {} is closed{but}  Pending enqueues cancelled: {cancelled}.  {counts}",
                self.name()
            ))
            .note(closing.to_string())
            .with_help("insert all keys before the barrier is closed")
    }

    /// Inserts the values in turn, and moves the elements that they complete to `ready`.
    fn insert_all(
        &self,
        state: &mut State,
        component: usize,
        keys: &[Str],
        values: Vec<Tensor>,
        ready: &mut Vec<Item>,
    ) -> Result<()> {
        let index = state.next_index;
        let mut insert = |i: usize, key: &Str, value: Tensor| {
            if !state.incomplete.contains_key(key) {
                if let Some(closing) = &state.closed {
                    let but = format!(", but attempted to insert a brand new key: {}.", key.text());
                    let incomplete = state.incomplete.len();
                    let counts = format!("Insertion index: {i}.  Number of incomplete keys: {incomplete}.");
                    let why = format!("key `{}` is new", key.text());
                    return Err(self.closed_to(closing, &but, &counts, &why));
                }
                let new = Incomplete::new(index, key, self.dtypes().len())?;
                state.incomplete.insert(key.clone(), new);
                state.next_index = index + 1;
            }
            let Some(element) = state.incomplete.get_mut(key) else { return Ok(()) };
            let place = &mut element.values[component];
            ensure!(
                place.is_none(),
                "Key {} already has a value for component {component} in barrier {}",
                key.text(),
                self.name()
            );
            *place = Some(value);
            if element.is_complete() {
                ready.extend(state.incomplete.remove(key).map(Incomplete::into_item));
            }
            Ok(())
        };
        keys.iter().zip(values).enumerate().try_for_each(|(i, (key, value))| insert(i, key, value))
    }

    /// Takes complete elements, as [`Queue::dequeue`] does: `n` of them, or, if the barrier is closed and
    /// `allow_small_batch`, those that are complete now, at least one.
    pub fn take(&self, n: usize, allow_small_batch: bool, waiter: Waiter) {
        match self.request(n, allow_small_batch) {
            Ok(take) => {
                self.ready.dequeue(take, waiter);
            }
            Err(error) => (waiter.ended)(Err(error)),
        }
    }

    /// What to ask the queue for. An error if a closed barrier will never have as many elements.
    fn request(&self, n: usize, allow_small_batch: bool) -> Result<Take> {
        let state = self.state.lock();
        let take = if allow_small_batch { Take::UpTo } else { Take::Exactly };
        let Some(closing) = &state.closed else { return Ok(take(n)) };
        let ready = self.ready.len() + state.n_arriving;
        // TensorFlow's counts: a small batch does not wait for elements that lack a component.
        let (requested, total) = match allow_small_batch {
            true => (n.min(ready), ready),
            false => (n, ready + state.incomplete.len()),
        };
        if total < requested.max(1) && !self.ready.may_come_back() {
            let message = format!(
                "Barrier '{}' is closed and has insufficient elements (requested {requested}, total size {total})",
                self.name()
            );
            return Err(Error::new(Code::OutOfRange, message).note(closing.to_string()));
        }
        Ok(take(requested.max(n.min(1))))
    }

    /// Closes the barrier: it takes no new keys, but the missing components of those that it has. If
    /// `closing` cancels what is pending, the incomplete elements are dropped. Closing a closed barrier is an
    /// error, unless only the second closing cancels what is pending.
    pub fn close(&self, closing: Closing) -> Result<()> {
        let to_close = {
            let mut state = self.state.lock();
            if let Some(first) = &state.closed
                && (first.cancelled_pending || !closing.cancelled_pending)
            {
                return Err(Error::new(
                    Code::Cancelled,
                    format!("Barrier '{}' is already closed.", self.name()),
                )
                .note(first.to_string()));
            }
            let cancel = closing.cancelled_pending;
            // The first closing is the one that messages report.
            state.closed.get_or_insert(closing).cancelled_pending |= cancel;
            if cancel {
                state.incomplete.clear();
            }
            state.drained()
        };
        self.ready.allow_small_batches();
        self.close_queue(to_close);
        Ok(())
    }

    /// Closes the queue, if there is a closing. Nothing waits to be enqueued, so this ends at once.
    fn close_queue(&self, closing: Option<Closing>) {
        let Some(closing) = closing else { return };
        let (who, cancel) = (closing.by.as_str().into(), Cancellation::new());
        self.ready.close(true, closing, Waiter { who, cancel, ended: Box::new(|_| ()) });
    }

    /// The complete elements, the attempts that wait for them, and what incomplete elements lack.
    pub fn report(&self) -> QueueReport {
        let mut report = self.ready.report();
        let state = self.state.lock();
        report.closed = state.closed.clone();
        report.incomplete = state.incomplete.len();
        let lacks = |(key, element): (&Str, &Incomplete)| {
            let missing = |(i, value): (usize, &Option<Tensor>)| value.is_none().then(|| i.to_string());
            let missing: Vec<String> = element.values.iter().enumerate().filter_map(missing).collect();
            let s = if missing.len() == 1 { "" } else { "s" };
            format!("`{}` lacks component{s} {}", key.text(), missing.join(", "))
        };
        report.lacking = state.incomplete.iter().take(NAMED).map(lacks).collect();
        report
    }
}

impl State {
    /// The closing, if the queue is to be closed now: nothing will be added to it.
    fn drained(&mut self) -> Option<Closing> {
        let is_done = self.incomplete.is_empty() && self.n_arriving == 0 && !self.queue_closed;
        let closing = self.closed.clone().filter(|_| is_done)?;
        self.queue_closed = true;
        Some(closing)
    }
}

impl Opaque for Barrier {
    fn kind(&self) -> &'static str {
        "barrier"
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Title { kind: QueueKind::Barrier, name: self.name() })
    }
}
