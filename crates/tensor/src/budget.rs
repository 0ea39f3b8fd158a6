//! A byte budget for tensor memory. A kernel that exceeds it reports an error; the process is not killed.
//!
//! The budget in force is a property of the thread ([`enter`]). A buffer remembers the budget that it was
//! charged to and returns its bytes when it is dropped.

use crate::{Code, Error, Result};
use parking_lot::Mutex;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};

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
}

thread_local! {
    static PURSE: Purse = const { Purse { account: Cell::new(None), in_hand: Cell::new(0) } };
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
    fn charge(&self, account: &'static Account, bytes: usize) -> Result<(), usize> {
        let in_hand = self.in_hand.get();
        if bytes <= in_hand {
            self.in_hand.set(in_hand - bytes);
            return Ok(());
        }
        let portion = account.portion();
        if bytes < portion && account.charge(portion).is_ok() {
            self.in_hand.set(in_hand + portion - bytes);
            return Ok(());
        }
        account.charge(bytes)
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

/// A guard: while it lives, this thread's allocations are charged to the budget given to [`enter`].
#[derive(Debug)]
pub struct Entered<'a> {
    before: Option<&'static Account>,
    /// The budget outlives the guard, and the guard stays on its thread.
    _budget: PhantomData<(&'a Budget, *const ())>,
}

/// Puts `budget` in force on this thread until the guard is dropped. `None` keeps the budget in force.
#[inline]
pub fn enter(budget: Option<&Arc<Budget>>) -> Entered<'_> {
    let before = PURSE.with(|p| p.replace(budget.map(|b| b.account).or(p.account.get())));
    Entered { before, _budget: PhantomData }
}

/// The budget in force on this thread, for work that continues on another.
pub fn current() -> Option<Arc<Budget>> {
    PURSE.with(|p| p.account.get()).and_then(|account| account.owner.lock().upgrade())
}

/// The number of bytes that the budget in force still allows. Readers of input of unknown length stop there.
pub fn left() -> usize {
    current().map_or(usize::MAX, |b| b.limit().saturating_sub(b.used()))
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        PURSE.with(|p| p.replace(self.before));
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
                p.charge(account, bytes).map_err(|used| too_much(account, bytes, used))?;
            }
            Ok(Charge { account, bytes })
        })
    }
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
#[derive(Debug)]
pub struct Charged<T> {
    items: Vec<T>,
    charge: Charge,
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

    /// A vector of copies of `items`.
    pub fn copy_of(items: &[T]) -> Result<Charged<T>>
    where
        T: Clone,
    {
        let mut copy = Charged::with_room(items.len())?;
        copy.items.extend_from_slice(items);
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

    /// Appends copies of `items`.
    pub fn extend_from_slice(&mut self, items: &[T]) -> Result<()>
    where
        T: Clone,
    {
        let len = self.items.len().saturating_add(items.len());
        if len > self.items.capacity() {
            self.grow(len)?;
        }
        self.items.extend_from_slice(items);
        Ok(())
    }

    /// Removes the last item and returns it.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    /// Resizes the vector to `len` items: truncates it, or appends items that `fill` makes.
    pub fn resize_with(&mut self, len: usize, fill: impl FnMut() -> T) -> Result<()> {
        if len > self.items.capacity() {
            self.grow(len)?;
        }
        self.items.resize_with(len, fill);
        Ok(())
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
    use crate::{Str, Tensor};

    #[test]
    fn strings_are_charged_once_and_given_back() {
        let budget = Budget::new(1000);
        let _entered = enter(Some(&budget));
        let s = Str::join(&[&[b'x'; 300], &[b'y'; 300]], b"").unwrap();
        let alone = budget.used();
        assert!(alone >= 600, "{alone}");
        let copies = Tensor::fill([10], &Tensor::str(s.clone())).unwrap();
        assert_eq!(budget.used(), alone + 10 * size_of::<Str>());
        assert_eq!(Str::new([b'x'; 600]).unwrap_err().code(), Code::ResourceExhausted);
        assert_eq!(Tensor::strings([100], vec![s.clone(); 100]).unwrap_err().code(), Code::ResourceExhausted);
        drop(s);
        assert_eq!(budget.used(), alone + 10 * size_of::<Str>());
        drop(copies);
        assert_eq!(budget.used(), 0);
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
        let parts = vec![&*part; 1 << 20];
        assert_eq!(Str::join(&parts, b"").unwrap_err().code(), Code::ResourceExhausted);
    }
}
