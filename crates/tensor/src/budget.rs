//! A byte budget for tensor memory. Going over it is an error that the kernel in question reports, not a killed
//! process.
//!
//! The budget in force is a property of the thread ([`enter`]); a buffer remembers the one it was charged
//! to and gives its bytes back when it goes.

use crate::{Code, Error, Result};
use parking_lot::Mutex;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};

/// How many bytes of tensors may be alive, and how many are.
#[derive(Debug)]
pub struct Budget {
    account: &'static Account,
}

/// The count of a budget. Buffers and threads refer to it without counting who does, since those that count the same thing wait for each
/// other; so it is never freed, but used again once nothing is charged to it any more.
#[derive(Debug, Default)]
struct Account {
    /// Whose it is. Guards only itself; nothing is locked beneath it.
    owner: Mutex<Weak<Budget>>,
    limit: AtomicUsize,
    /// With what threads have in hand.
    used: AtomicUsize,
    peak: AtomicUsize,
}

/// The accounts of budgets that are gone. Guards only itself; nothing is locked beneath it.
static CLOSED: Mutex<Vec<&'static Account>> = Mutex::new(Vec::new());

/// The most bytes that a thread takes in hand at a time, to give them out without asking the account for each.
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

    /// The limit, in bytes.
    pub fn limit(&self) -> usize {
        self.account.limit.load(Relaxed)
    }

    /// Bytes charged now. What other threads that it is in force on have in hand counts as charged: at most a thousandth of the limit each.
    pub fn used(&self) -> usize {
        let in_hand = PURSE.with(|p| if p.is_for(self.account) { p.in_hand.get() } else { 0 });
        self.account.used.load(Relaxed).saturating_sub(in_hand)
    }

    /// The most bytes that were ever charged at a time, with what threads had in hand.
    pub fn peak(&self) -> usize {
        self.account.peak.load(Relaxed)
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        // Nobody has it in force any more, which would borrow it.
        CLOSED.lock().push(self.account);
    }
}

impl Account {
    /// How many bytes a thread takes in hand: few enough that the limit stays what it says.
    fn portion(&self) -> usize {
        (self.limit.load(Relaxed) / 1024).min(MOST_IN_HAND)
    }

    /// Charges `bytes`, or says what they would have come to.
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

/// The budget in force on a thread, and what the thread has in hand of it.
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

    /// Puts another account in force, and gives the one that was.
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

    /// Whether bytes given back can stay in hand.
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

/// While this lives, what this thread allocates is charged to the budget given to [`enter`].
#[derive(Debug)]
pub struct Entered<'a> {
    before: Option<&'static Account>,
    /// The budget outlives it, and it stays on its thread.
    _budget: PhantomData<(&'a Budget, *const ())>,
}

/// Puts `budget` in force on this thread until the guard drops; none leaves the one that is.
#[inline]
pub fn enter(budget: Option<&Arc<Budget>>) -> Entered<'_> {
    let before = PURSE.with(|p| p.replace(budget.map(|b| b.account).or(p.account.get())));
    Entered { before, _budget: PhantomData }
}

/// The budget in force on this thread: for work that goes on on another.
pub fn current() -> Option<Arc<Budget>> {
    PURSE.with(|p| p.account.get()).and_then(|account| account.owner.lock().upgrade())
}

/// How many bytes more the budget in force allows: how far to read what does not say how long it is.
pub fn left() -> usize {
    current().map_or(usize::MAX, |b| b.limit().saturating_sub(b.used()))
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        PURSE.with(|p| p.replace(self.before));
    }
}

/// Bytes charged to a budget, given back on drop.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    account: Option<&'static Account>,
    bytes: usize,
}

impl Charge {
    /// Charges `bytes` to the budget in force, or says by how much they are too many.
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
        // A thread that ends has nothing in hand any more.
        if !PURSE.try_with(|p| p.keeps(account, self.bytes)).unwrap_or(false) {
            account.used.fetch_sub(self.bytes, Relaxed);
        }
    }
}

/// A vector whose room is charged to the budget in force when it grows, and which refuses to grow beyond
/// [`Charged::MAX_LEN`]: what a hostile index can ask for stays within bounds even where there is no budget.
#[derive(Debug)]
pub struct Charged<T> {
    items: Vec<T>,
    charge: Charge,
}

impl<T> Charged<T> {
    /// The most items that one of them holds.
    pub const MAX_LEN: usize = 1 << 27;

    /// Without items.
    pub fn new() -> Charged<T> {
        Charged { items: Vec::new(), charge: Charge::default() }
    }

    /// One item, which is not charged: as scalars of plain data are not.
    pub fn one(item: T) -> Charged<T> {
        Charged { items: vec![item], charge: Charge::default() }
    }

    /// Without items, but with room for `count`.
    pub fn with_room(count: usize) -> Result<Charged<T>> {
        let mut room = Charged::new();
        room.reserve(count)?;
        Ok(room)
    }

    /// These items, whose room is charged from now on.
    pub fn holding(items: Vec<T>) -> Result<Charged<T>> {
        let charge = Charge::take(items.capacity() * size_of::<T>())?;
        Ok(Charged { items, charge })
    }

    /// Copies of `items`.
    pub fn copy_of(items: &[T]) -> Result<Charged<T>>
    where
        T: Clone,
    {
        let mut copy = Charged::with_room(items.len())?;
        copy.items.extend_from_slice(items);
        Ok(copy)
    }

    /// Makes room for `count` items in all.
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
            Error::new(Code::ResourceExhausted, format!("the system has no room for {count} items"))
        })?;
        self.charge = charge;
        Ok(())
    }

    /// Appends an item. Room doubles, so that many appended items cost little each.
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

    /// Takes the last item off.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    /// Makes it `len` long: cut off, or filled up with what `fill` makes.
    pub fn resize_with(&mut self, len: usize, fill: impl FnMut() -> T) -> Result<()> {
        if len > self.items.capacity() {
            self.grow(len)?;
        }
        self.items.resize_with(len, fill);
        Ok(())
    }

    /// Takes all items, whose room is no longer charged.
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
        // Another budget in between knows nothing of it.
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
        // Other tests take accounts, too.
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
