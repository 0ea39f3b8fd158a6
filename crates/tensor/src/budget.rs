//! A byte budget for tensor memory. A kernel that exceeds it reports an error; the process is not killed.
//!
//! The budget in force is a property of the thread ([`enter`]). A buffer remembers the budget that it was
//! charged to and returns its bytes when it is dropped.

use crate::pace::{self, Stop};
use crate::{Code, Error, Result, Tensor};
use parking_lot::Mutex;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// A limit on the bytes of living tensors, and the number of bytes charged.
#[derive(Debug)]
pub struct Budget {
    account: &'static Account,
}

/// The counters of a budget. Buffers and threads refer to an account without a reference count, since threads
/// that update the same counter wait for each other. An account is therefore never freed, but used again once
/// nothing is charged to it.
#[derive(Debug, Default)]
struct Account {
    /// The budget that the account belongs to. The lock guards only this field, and no other lock is taken
    /// under it.
    owner: Mutex<Weak<Budget>>,
    limit: AtomicUsize,
    /// The bytes charged, including what threads have in hand.
    used: AtomicUsize,
    peak: AtomicUsize,
}

/// The accounts of dropped budgets. The lock guards only this list, and no other lock is taken under it.
static CLOSED: Mutex<Vec<&'static Account>> = Mutex::new(Vec::new());

/// The most bytes that a thread takes in hand at a time, to hand out without asking the account each time.
const MOST_IN_HAND: usize = 64 << 10;

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Arc<Budget> {
        let mut closed = CLOSED.lock();
        let free = closed.iter().position(|account| account.used.load(Relaxed) == 0);
        let account = free.map_or_else(|| &*Box::leak(Box::default()), |i| closed.swap_remove(i));
        account.limit.store(limit, Relaxed);
        account.peak.store(0, Relaxed);
        let budget = Arc::new(Budget { account });
        *account.owner.lock() = Arc::downgrade(&budget);
        budget
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.account.limit.load(Relaxed)
    }

    /// The bytes charged now. This includes what other threads that use the budget have in hand: at most a
    /// thousandth of the limit each.
    pub fn used(&self) -> usize {
        let in_hand = PURSE.with(|p| if p.is_for(self.account) { p.in_hand.get() } else { 0 });
        self.account.used.load(Relaxed).saturating_sub(in_hand)
    }

    /// The most bytes ever charged at a time, including what threads had in hand.
    pub fn peak(&self) -> usize {
        self.account.peak.load(Relaxed)
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        // No thread has the budget in force any more: that would borrow it.
        CLOSED.lock().push(self.account);
    }
}

impl Account {
    /// The number of bytes that a thread takes in hand: few enough that the limit stays accurate.
    fn portion(&self) -> usize {
        (self.limit.load(Relaxed) / 1024).min(MOST_IN_HAND)
    }

    /// Charges `bytes`, over the limit if need be; the next charge then fails.
    #[cold]
    fn force(&self, bytes: usize) {
        let used = self.used.fetch_add(bytes, Relaxed).saturating_add(bytes);
        self.peak.fetch_max(used, Relaxed);
    }

    /// Charges `bytes`; the error is the total that the charge would have reached.
    fn charge(&self, bytes: usize) -> Result<(), usize> {
        let used = self.used.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if used > self.limit.load(Relaxed) {
            self.used.fetch_sub(bytes, Relaxed);
            return Err(used);
        }
        if used > self.peak.load(Relaxed) {
            self.peak.fetch_max(used, Relaxed);
        }
        Ok(())
    }
}

/// The budget in force on a thread, and the bytes of it that the thread has in hand.
struct Purse {
    account: Cell<Option<&'static Account>>,
    in_hand: Cell<usize>,
    /// The deadline of the thread's work. Work that allocates much looks at it here.
    deadline: Cell<Option<Instant>>,
    /// Whether bytes over the limit are charged all the same ([`overdraw`]).
    overdraws: Cell<bool>,
    /// Whether a value whose constructor returns no error exceeded the limit. The next kernel fails.
    exceeded: Cell<bool>,
}

thread_local! {
    static PURSE: Purse = const {
        Purse {
            account: Cell::new(None),
            in_hand: Cell::new(0),
            deadline: Cell::new(None),
            overdraws: Cell::new(false),
            exceeded: Cell::new(false),
        }
    };
}

impl Purse {
    fn is_for(&self, account: &'static Account) -> bool {
        self.account.get().is_some_and(|a| ptr::eq(a, account))
    }

    /// Puts another account in force. Returns the previous one.
    #[inline]
    fn replace(&self, account: Option<&'static Account>) -> Option<&'static Account> {
        let in_hand = self.in_hand.take();
        let before = self.account.replace(account);
        if let (Some(before), true) = (before, in_hand > 0) {
            before.used.fetch_sub(in_hand, Relaxed);
        }
        before
    }

    #[inline]
    fn charge(&self, account: &'static Account, bytes: usize) -> Result<(), Refused> {
        let in_hand = self.in_hand.get();
        if bytes <= in_hand {
            self.in_hand.set(in_hand - bytes);
            return Ok(());
        }
        if self.deadline.get().is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(Refused::TooLate);
        }
        if let Some(reason) = pace::called_off() {
            return Err(Refused::CalledOff(reason));
        }
        let portion = account.portion();
        if bytes < portion && account.charge(portion).is_ok() {
            self.in_hand.set(in_hand + portion - bytes);
            return Ok(());
        }
        match account.charge(bytes) {
            Err(_) if self.overdraws.get() => {
                account.force(bytes);
                Ok(())
            }
            charged => charged.map_err(Refused::TooMuch),
        }
    }

    /// Whether returned bytes can stay in hand; if so, adds them.
    #[inline]
    fn keeps(&self, account: &'static Account, bytes: usize) -> bool {
        let in_hand = self.in_hand.get().saturating_add(bytes);
        let keeps = self.is_for(account) && in_hand <= 2 * account.portion();
        if keeps {
            self.in_hand.set(in_hand);
        }
        keeps
    }
}

/// The reason why bytes are not charged.
enum Refused {
    /// The total would have been over the limit.
    TooMuch(usize),
    /// The deadline has passed.
    TooLate,
    /// The work was called off.
    CalledOff(Error),
}

/// A guard: while it lives, this thread's allocations are charged to the budget given to [`enter`].
pub struct Entered<'a> {
    before: Option<&'static Account>,
    deadline_before: Option<Instant>,
    /// What could stop the thread's work before, if the guard replaced it.
    stop_before: Option<Option<Arc<dyn Stop>>>,
    /// The budget outlives the guard, and the guard stays on its thread.
    _budget: PhantomData<(&'a Budget, *const ())>,
}

impl std::fmt::Debug for Entered<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entered").field("deadline_before", &self.deadline_before).finish_non_exhaustive()
    }
}

/// Puts `budget` in force on this thread until the guard is dropped. `None` keeps the budget in force.
#[inline]
pub fn enter(budget: Option<&Arc<Budget>>) -> Entered<'_> {
    enter_until(budget, None)
}

/// As [`enter`], for work that has to end by a deadline, if there is one: from then on, an allocation that
/// asks the account is an error. A kernel that makes rows or strings without end is stopped that way, even if
/// it never looks at the cancellation.
#[inline]
pub fn enter_until(budget: Option<&Arc<Budget>>, deadline: Option<Instant>) -> Entered<'_> {
    PURSE.with(|p| {
        let before = p.replace(budget.map(|b| b.account).or(p.account.get()));
        let deadline_before = p.deadline.replace(deadline.or(p.deadline.get()));
        Entered { before, deadline_before, stop_before: None, _budget: PhantomData }
    })
}

/// As [`enter_until`], for work that `stop` may call off: [`pace::look`] asks it, and so does an allocation
/// that asks the account.
#[inline]
pub fn enter_run(
    budget: Option<&Arc<Budget>>,
    deadline: Option<Instant>,
    stop: Arc<dyn Stop>,
) -> Entered<'_> {
    let mut entered = enter_until(budget, deadline);
    entered.stop_before = Some(pace::replace(Some(stop)));
    entered
}

/// What a thread works within: its budget, its deadline, and what may call its work off. For work that
/// continues on other threads.
#[derive(Default)]
pub struct Here {
    budget: Option<Arc<Budget>>,
    deadline: Option<Instant>,
    stop: Option<Arc<dyn Stop>>,
}

impl std::fmt::Debug for Here {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Here")
            .field("budget", &self.budget)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// What this thread works within.
pub fn here() -> Here {
    Here { budget: current(), deadline: deadline(), stop: pace::current() }
}

impl Here {
    /// Puts it in force on this thread until the guard is dropped.
    pub fn enter(&self) -> Entered<'_> {
        match &self.stop {
            Some(stop) => enter_run(self.budget.as_ref(), self.deadline, stop.clone()),
            None => enter_until(self.budget.as_ref(), self.deadline),
        }
    }
}

/// A guard: while it lives, this thread's allocations are charged even over the limit. For the second half of
/// an update that is whole or not at all, whose memory was [reserved](Room) before: over the limit only if
/// another run changed meanwhile what has to be copied.
#[derive(Debug)]
pub struct Overdrawing {
    before: bool,
    /// The guard stays on its thread.
    _here: PhantomData<*const ()>,
}

/// See [`Overdrawing`].
pub fn overdraw() -> Overdrawing {
    Overdrawing { before: PURSE.with(|p| p.overdraws.replace(true)), _here: PhantomData }
}

impl Drop for Overdrawing {
    fn drop(&mut self) {
        PURSE.with(|p| p.overdraws.set(self.before));
    }
}

/// Sets the deadline of this thread's work. Returns the previous one.
pub(crate) fn replace_deadline(deadline: Option<Instant>) -> Option<Instant> {
    PURSE.with(|p| p.deadline.replace(deadline))
}

/// The budget in force on this thread, for work that continues on another.
pub fn current() -> Option<Arc<Budget>> {
    PURSE.with(|p| p.account.get()).and_then(|account| account.owner.lock().upgrade())
}

/// The limit of the budget in force on this thread. Also where the thread is ending.
pub(crate) fn limit_here() -> Option<usize> {
    let account = PURSE.try_with(|p| p.account.get()).ok().flatten()?;
    Some(account.limit.load(Relaxed))
}

/// The deadline in force on this thread, for work that does not allocate.
pub fn deadline() -> Option<Instant> {
    PURSE.with(|p| p.deadline.get())
}

/// The number of bytes that the budget in force still allows. Readers of input of unknown length stop there.
pub fn left() -> usize {
    current().map_or(usize::MAX, |b| b.limit().saturating_sub(b.used()))
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        PURSE.with(|p| {
            p.replace(self.before);
            p.deadline.set(self.deadline_before);
        });
        if let Some(stop) = self.stop_before.take() {
            pace::replace(stop);
        }
    }
}

/// Bytes charged to a budget, returned on drop.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    account: Option<&'static Account>,
    bytes: usize,
}

impl Charge {
    /// Charges `bytes` to the budget in force; an error if they exceed it.
    #[inline]
    pub(crate) fn take(bytes: usize) -> Result<Charge> {
        PURSE.with(|p| {
            let account = p.account.get();
            if let Some(account) = account {
                p.charge(account, bytes).map_err(|refused| refused.error(account, bytes))?;
            }
            Ok(Charge { account, bytes })
        })
    }

    /// Charges `bytes` more.
    fn grow(&mut self, bytes: usize) -> Result<()> {
        let mut more = Charge::take(bytes)?;
        self.account = more.account.take();
        self.bytes += bytes;
        Ok(())
    }
}

/// The memory that an allocation takes beyond its content: reference counts, and the allocator's own.
pub(crate) const OVERHEAD: usize = 32;

/// `BYTES` bytes charged to a budget, returned on drop: memory of a fixed size that every value of a kind
/// takes besides its elements.
#[derive(Debug, Default)]
pub(crate) struct Fixed<const BYTES: usize>(Option<&'static Account>);

impl<const BYTES: usize> Fixed<BYTES> {
    /// Charges the bytes to the budget in force; an error if they exceed it.
    #[inline]
    pub(crate) fn take() -> Result<Self> {
        Ok(Fixed(Charge::take(BYTES)?.account.take()))
    }

    /// Charges the bytes, over the limit if need be. For values whose constructors return no error: the next
    /// kernel of the thread fails.
    #[inline]
    pub(crate) fn force() -> Self {
        Self::take().unwrap_or_else(|_| {
            let account = PURSE.with(|p| {
                p.exceeded.set(true);
                p.account.get()
            });
            account.inspect(|account| account.force(BYTES));
            Fixed(account)
        })
    }
}

impl<const BYTES: usize> Drop for Fixed<BYTES> {
    #[inline]
    fn drop(&mut self) {
        drop(Charge { account: self.0, bytes: BYTES });
    }
}

/// Bytes charged while a kernel works, for memory that no tensor holds.
#[derive(Debug, Default)]
pub struct Room(Charge);

impl Room {
    /// Charges `bytes` to the budget in force until the room is dropped.
    pub fn of(bytes: usize) -> Result<Room> {
        Charge::take(bytes).map(Room)
    }

    /// Charges `bytes` more.
    pub fn add(&mut self, bytes: usize) -> Result<()> {
        self.0.grow(bytes)
    }
}

/// The bytes that a kernel may need for each row of an input.
const ROW: usize = 64;

/// The bytes that a kernel may need for each index that it is given: the index as i64, and as an offset.
const PLACE: usize = 16;

/// The most indices that are not charged for. Nearly all kernels have fewer.
const FEW: usize = 1024;

/// Charges the budget in force for what a kernel works with besides inputs and outputs: `scratch` bytes for
/// each element of its inputs, [rows](room_for_rows) of inputs without elements, and the offsets that it
/// makes of indices. `indices` has a bit for each input that holds indices.
#[inline]
pub fn room_for(inputs: &[Tensor], scratch: usize, indices: u64) -> Result<Room> {
    // Nearly all kernels need nothing.
    let mut rest = indices;
    let is_free = |t: &Tensor| {
        let is_of_indices = rest & 1 != 0;
        rest >>= 1;
        t.as_scalar().is_some() || {
            let n = t.elements();
            n != 0 && (n <= FEW || !is_of_indices)
        }
    };
    if scratch == 0 && inputs.iter().all(is_free) && !PURSE.with(|p| p.exceeded.get()) {
        return Ok(Room::default());
    }
    room_for_much(inputs, scratch, indices)
}

#[cold]
fn room_for_much(inputs: &[Tensor], scratch: usize, mut indices: u64) -> Result<Room> {
    let mut room = room_for_rows(inputs)?;
    while indices != 0 {
        let count = inputs.get(indices.trailing_zeros() as usize).map_or(0, Tensor::elements);
        if FEW < count {
            room.0.grow(count.saturating_mul(PLACE)).map_err(|e| {
                e.note(format!("the kernel works with {PLACE} bytes for each of {count} indices"))
            })?;
        }
        indices &= indices - 1;
    }
    if scratch != 0 {
        let elements = inputs.iter().map(Tensor::elements).fold(0, usize::saturating_add);
        room.0.grow(elements.saturating_mul(scratch)).map_err(|e| {
            e.note(format!(
                "the kernel works with {scratch} bytes for each of its {elements} inputs' elements"
            ))
        })?;
    }
    Ok(room)
}

/// Charges the budget in force for what a kernel makes of these inputs besides elements: rows, offsets,
/// strings, as many as an axis is long. Such an axis is paid for where a tensor has elements. Where it has
/// none, as in a tensor of shape `[2^40, 0]`, any length costs nothing to claim.
#[inline]
pub fn room_for_rows(inputs: &[Tensor]) -> Result<Room> {
    if PURSE.with(|p| p.exceeded.get()) {
        settle()?;
    }
    let mut room = Room::default();
    for input in inputs.iter().filter(|t| t.as_scalar().is_none() && t.elements() == 0) {
        let dims = input.shape().iter().filter(|d| **d != 0);
        let rows = dims.fold(1usize, |n, &d| n.saturating_mul(d));
        if rows > 1024 {
            room.0.grow(rows.saturating_mul(ROW)).map_err(|e| e.note(empty_but_long(input)))?;
        }
    }
    Ok(room)
}

/// An error as long as the budget in force is exceeded, after values that had to be made all the same.
#[cold]
fn settle() -> Result<()> {
    let Some(account) = PURSE.with(|p| p.account.get()) else { return Ok(()) };
    let (used, limit) = (account.used.load(Relaxed), account.limit.load(Relaxed));
    if limit < used && !PURSE.with(|p| p.overdraws.get()) {
        return Err(too_much(account, used - limit, used));
    }
    PURSE.with(|p| p.exceeded.set(false));
    Ok(())
}

#[cold]
fn empty_but_long(input: &Tensor) -> String {
    format!("an input of shape {} has no elements, but its rows take memory", input.shape())
}

impl Refused {
    #[cold]
    fn error(self, account: &Account, bytes: usize) -> Error {
        match self {
            Refused::TooMuch(used) => too_much(account, bytes, used),
            Refused::TooLate => too_late(),
            Refused::CalledOff(reason) => reason,
        }
    }
}

/// The error of work whose deadline has passed.
#[cold]
pub(crate) fn too_late() -> Error {
    let error = Error::new(Code::DeadlineExceeded, "the work did not end in the time allowed");
    let error = error.led_by("Timed out waiting for notification");
    error.with_help("raise the timeout, or make the tensors smaller")
}

#[cold]
fn too_much(account: &Account, bytes: usize, used: usize) -> Error {
    let limit = account.limit.load(Relaxed);
    Error::new(
        Code::ResourceExhausted,
        format!(
            "out of memory: {bytes} bytes more would bring the tensors alive to {used} bytes, over the limit of {limit}"
        ),
    )
    .with_help("raise the memory limit, or make the tensors smaller")
}

impl Drop for Charge {
    #[inline]
    fn drop(&mut self) {
        let Some(account) = self.account else { return };
        // A thread that is ending has nothing in hand any more.
        if !PURSE.try_with(|p| p.keeps(account, self.bytes)).unwrap_or(false) {
            account.used.fetch_sub(self.bytes, Relaxed);
        }
    }
}

/// A vector whose capacity is charged to the budget in force when it grows, and which refuses to grow beyond
/// [`Charged::MAX_LEN`]: what a hostile index can ask for stays bounded even without a budget.
pub struct Charged<T> {
    items: Vec<T>,
    charge: Charge,
}

/// Prints the items.
impl<T: std::fmt::Debug> std::fmt::Debug for Charged<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.items.fmt(f)
    }
}

impl<T> Charged<T> {
    /// The most items that one vector holds.
    pub const MAX_LEN: usize = 1 << 27;

    /// An empty vector.
    pub fn new() -> Charged<T> {
        Charged { items: Vec::new(), charge: Charge::default() }
    }

    /// A vector of one item. The item is not charged, like a scalar of plain data.
    pub fn one(item: T) -> Charged<T> {
        Charged { items: vec![item], charge: Charge::default() }
    }

    /// An empty vector with capacity for `count` items.
    pub fn with_room(count: usize) -> Result<Charged<T>> {
        let mut room = Charged::new();
        room.reserve(count)?;
        Ok(room)
    }

    /// A vector of these items, whose capacity is charged from now on.
    pub fn holding(items: Vec<T>) -> Result<Charged<T>> {
        let charge = Charge::take(items.capacity() * size_of::<T>())?;
        Ok(Charged { items, charge })
    }

    /// A vector of these items. They need no vector before, whose memory nobody charges.
    pub fn of(items: impl IntoIterator<Item = T>) -> Result<Charged<T>> {
        Charged::try_of(items.into_iter().map(Ok))
    }

    /// As [`Charged::of`], of items that may be errors.
    pub fn try_of(items: impl IntoIterator<Item = Result<T>>) -> Result<Charged<T>> {
        let items = items.into_iter();
        let mut all = Charged::with_room(items.size_hint().0)?;
        for item in items {
            all.push(item?)?;
        }
        Ok(all)
    }

    /// A vector of copies of `items`.
    pub fn copy_of(items: &[T]) -> Result<Charged<T>>
    where
        T: Clone,
    {
        let mut copy = Charged::with_room(items.len())?;
        copy.extend_from_slice(items)?;
        Ok(copy)
    }

    /// Makes room for `count` items in total.
    pub fn reserve(&mut self, count: usize) -> Result<()> {
        if count <= self.items.capacity() {
            return Ok(());
        }
        if count > Self::MAX_LEN {
            let most = Self::MAX_LEN;
            return Err(Error::new(
                Code::ResourceExhausted,
                format!("{count} items are too many: at most {most} are kept in one place"),
            ));
        }
        let charge = Charge::take(count * size_of::<T>())?;
        self.items.try_reserve_exact(count - self.items.len()).map_err(|_| {
            Error::new(Code::ResourceExhausted, format!("the system cannot allocate {count} items"))
        })?;
        self.charge = charge;
        Ok(())
    }

    /// Appends an item. The capacity doubles, so appending takes amortised constant time.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<()> {
        if self.items.len() == self.items.capacity() {
            self.grow(self.items.len() + 1)?;
        }
        self.items.push(item);
        Ok(())
    }

    /// Drops all items but the first `len`. The capacity stays.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// Drops the first `count` items. The capacity stays.
    pub fn drop_first(&mut self, count: usize) {
        self.items.drain(..count.min(self.items.len()));
    }

    /// Appends copies of `items`. Nothing is appended if the run is over before its end.
    pub fn extend_from_slice(&mut self, items: &[T]) -> Result<()>
    where
        T: Clone,
    {
        let len = self.items.len().saturating_add(items.len());
        if len > self.items.capacity() {
            self.grow(len)?;
        }
        self.paced(items.len(), |to, range| to.extend_from_slice(&items[range]))
    }

    /// Removes the last item and returns it.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    /// Resizes the vector to `len` items: truncates it, or appends items that `fill` makes. Nothing is
    /// appended if the run is over before its end.
    pub fn resize_with(&mut self, len: usize, mut fill: impl FnMut() -> T) -> Result<()> {
        if len > self.items.capacity() {
            self.grow(len)?;
        }
        let more = len.saturating_sub(self.items.len());
        self.items.truncate(len);
        self.paced(more, |to, range| to.resize_with(to.len() + range.len(), &mut fill))
    }

    /// Appends `count` items, a stretch at a time, and looks in between whether the run is over.
    #[inline]
    fn paced(&mut self, count: usize, mut append: impl FnMut(&mut Vec<T>, Range<usize>)) -> Result<()> {
        let (before, items) = (self.items.len(), &mut self.items);
        let done = pace::paced(count, |range| append(items, range));
        if done.is_err() {
            self.items.truncate(before);
        }
        done
    }

    /// Takes all items; their memory is no longer charged.
    pub fn take(&mut self) -> Vec<T> {
        self.charge = Charge::default();
        std::mem::take(&mut self.items)
    }

    #[cold]
    fn grow(&mut self, least: usize) -> Result<()> {
        let doubled = self.items.capacity().saturating_mul(2).min(Self::MAX_LEN);
        self.reserve(least.max(doubled).max(4))
    }
}

impl<T> Default for Charged<T> {
    fn default() -> Self {
        Charged::new()
    }
}

impl<T> std::ops::Deref for Charged<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> std::ops::DerefMut for Charged<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MIRI, Str};

    #[test]
    fn many_items_are_added_only_as_long_as_the_run_goes_on() {
        let many = vec![7u8; 100_000];
        let mut all = Charged::of([1u8]).unwrap();
        let _over = enter_until(None, Some(Instant::now()));
        for added in [all.extend_from_slice(&many), all.resize_with(many.len(), || 7)] {
            assert_eq!(added.unwrap_err().code(), Code::DeadlineExceeded);
        }
        assert_eq!(Charged::copy_of(&many).unwrap_err().code(), Code::DeadlineExceeded);
        all.extend_from_slice(&[2]).unwrap();
        assert_eq!(all[..], [1, 2]);
    }

    #[test]
    fn strings_are_charged_once_and_given_back() {
        let budget = Budget::new(1400);
        let _entered = enter(Some(&budget));
        let s = Str::join(&[&[b'x'; 300], &[b'y'; 300]], b"").unwrap();
        let alone = budget.used();
        assert!(alone >= 600, "{alone}");
        let copies = Tensor::fill([10], &Tensor::str(s.clone())).unwrap();
        assert!(budget.used() >= alone + 10 * size_of::<Str>());
        assert_eq!(Str::new([b'x'; 600]).unwrap_err().code(), Code::ResourceExhausted);
        assert_eq!(Tensor::strings([100], vec![s.clone(); 100]).unwrap_err().code(), Code::ResourceExhausted);
        let with_copies = budget.used();
        drop(s);
        assert_eq!(budget.used(), with_copies, "the copies share the bytes");
        drop(copies);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn the_header_of_every_tensor_is_charged() {
        let n = 1_000_000 / MIRI;
        let budget = Budget::new((64 << 20) / MIRI);
        let _entered = enter(Some(&budget));
        let column = Tensor::zeros(crate::DType::F32, [n, 1]).unwrap();
        let alone = budget.used();
        let row = column.row(7).unwrap();
        assert_eq!(budget.used() - alone, Tensor::HEADER);
        drop(row);
        // Each row takes 4 bytes of the column, and a header of its own.
        let error = (0..n).map(|i| column.row(i)).collect::<Result<Vec<_>>>().unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted);
        drop(column);
        assert_eq!(budget.used(), 0);
        // Values whose constructors cannot fail go over the limit; whatever keeps them then fails.
        let strings: Vec<Tensor> = (0..n / 2).map(|_| Tensor::str("")).collect();
        assert!(budget.used() > budget.limit());
        assert_eq!(Str::new([0; 8]).unwrap_err().code(), Code::ResourceExhausted);
        drop(strings);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn indices_are_charged_for_what_is_made_of_them() {
        let n = 500_000 / MIRI;
        let budget = Budget::new(10 * n);
        let _entered = enter(Some(&budget));
        let list = [Tensor::zeros(crate::DType::I8, [n]).unwrap(), Tensor::scalar(1i64)];
        // The same bytes as data are not charged again, nor are few indices or an input that is not there.
        for free in [0, 0b10, 1 << 63] {
            assert!(room_for(&list, 0, free).is_ok());
        }
        assert!(room_for(&[Tensor::zeros(crate::DType::I8, [FEW]).unwrap()], 0, 1).is_ok());
        let error = room_for(&list, 0, 0b1).unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted);
        assert!(error.to_string().contains("16 bytes for each of"), "{error}");
        assert!(budget.used() < 2 * n, "the charge is given back");
    }

    #[test]
    fn rows_of_no_elements_are_charged() {
        let budget = Budget::new(16 << 20);
        let _entered = enter(Some(&budget));
        let short = [Tensor::zeros(crate::DType::F32, [3, 0]).unwrap(), Tensor::scalar(1f32)];
        let before = budget.used();
        assert!(room_for_rows(&short).is_ok() && budget.used() == before);
        let long = [10_000, 20_000].map(|n| Tensor::zeros(crate::DType::F32, [0, n]).unwrap());
        let before = budget.used();
        let room = room_for_rows(&long).unwrap();
        assert_eq!(budget.used() - before, 30_000 * ROW);
        drop(room);
        assert_eq!(budget.used(), before);
        let endless = [Tensor::zeros(crate::DType::F32, [1 << 40, 1 << 20, 0]).unwrap()];
        let error = room_for_rows(&endless).unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted);
        assert!(error.to_string().contains("shape [1099511627776,1048576,0] has no elements"), "{error}");
        drop(long);
        let budget = Budget::new((16 << 20) / MIRI);
        let _entered = enter(Some(&budget));
        let nothing = Tensor::zeros(crate::DType::F32, [1 << 40, 0]).unwrap();
        let error = (0..1 << 40).map(|i| nothing.row(i)).collect::<Result<Vec<_>>>().unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted);
    }

    #[test]
    fn allocations_look_at_the_deadline() {
        let budget = Budget::new(1 << 30);
        let soon = Instant::now() + std::time::Duration::from_millis(if cfg!(miri) { 100 } else { 20 });
        {
            let _entered = enter_until(Some(&budget), Some(soon));
            let nothing = Tensor::zeros(crate::DType::F32, [1 << 40, 0]).unwrap();
            let mut kept = Vec::new();
            let error = (0..1 << 40).map(|i| nothing.row(i).map(|row| kept.push(row))).find_map(Result::err);
            assert_eq!(error.unwrap().code(), Code::DeadlineExceeded);
            let _inner = enter(None);
            assert!(Tensor::zeros(crate::DType::F32, [1 << 20]).is_err(), "the deadline still holds");
        }
        let _entered = enter(Some(&budget));
        assert!(Tensor::zeros(crate::DType::F32, [1 << 20]).is_ok());
    }

    #[test]
    fn the_second_half_of_an_update_is_not_refused() {
        let budget = Budget::new(1000);
        let _entered = enter(Some(&budget));
        assert!(Charge::take(2000).is_err());
        {
            let _overdrawing = overdraw();
            let charge = Charge::take(2000).unwrap();
            assert_eq!(budget.used(), 2000);
            drop(charge);
        }
        assert_eq!(budget.used(), 0);
        assert!(Charge::take(2000).is_err());
    }

    #[test]
    fn what_a_thread_has_in_hand_goes_back() {
        let budget = Budget::new(1 << 20);
        let entered = enter(Some(&budget));
        let mut held: Vec<Charge> = (0..100).map(|_| Charge::take(100).unwrap()).collect();
        assert_eq!(budget.used(), 10_000);
        assert!((10_000..12_000).contains(&budget.peak()), "{}", budget.peak());
        let elsewhere = held.split_off(50);
        std::thread::spawn(move || drop(elsewhere)).join().unwrap();
        assert_eq!(budget.used(), 5_000);
        // Another budget in between is not affected.
        let other = Budget::new(1 << 20);
        let inner = enter(Some(&other));
        drop(held);
        assert_eq!((budget.used(), other.used()), (0, 0));
        drop(inner);
        drop(entered);
        assert_eq!(budget.used(), 0);
        assert!(Charge::take(1 << 30).is_ok(), "no budget is in force");
    }

    #[test]
    fn a_closed_account_is_used_again_when_all_is_given_back() {
        let account = |budget: &Arc<Budget>| ptr::from_ref(budget.account);
        let first = Budget::new(1 << 30);
        let (was, held) = (account(&first), {
            let _entered = enter(Some(&first));
            Charge::take(1 << 25).unwrap()
        });
        drop(first);
        let others: Vec<_> = (0..20).map(|_| Budget::new(1 << 20)).collect();
        assert!(others.iter().all(|b| account(b) != was), "something is charged to it");
        drop((others, held));
        // Other tests take accounts too.
        let found = (0..100).any(|_| {
            let budgets: Vec<_> = (0..50).map(|_| Budget::new(1 << 20)).collect();
            budgets.iter().any(|b| account(b) == was && b.used() == 0 && b.peak() == 0)
        });
        assert!(found);
    }

    #[test]
    fn joins_that_cannot_be_addressed_are_refused_first() {
        let part = vec![0u8; 1 << 20];
        let budget = Budget::new(1 << 30);
        let _entered = enter(Some(&budget));
        let parts = vec![&*part; if cfg!(miri) { 2048 } else { 1 << 20 }];
        assert_eq!(Str::join(&parts, b"").unwrap_err().code(), Code::ResourceExhausted);
    }
}
