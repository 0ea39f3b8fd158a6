//! A byte budget for tensor memory. Going over it is an error that the kernel in question reports, not a killed
//! process.
//!
//! The budget in force is a property of the thread ([`enter`]); a buffer remembers the one it was charged
//! to and gives its bytes back when it goes.

use crate::{Code, Error, Result};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How many bytes of tensors may be alive, and how many are.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
    peak: AtomicUsize,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Arc<Budget> {
        Arc::new(Budget { limit, used: AtomicUsize::new(0), peak: AtomicUsize::new(0) })
    }

    /// The limit, in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes charged now.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// The most bytes that were ever charged at a time.
    pub fn peak(&self) -> usize {
        self.peak.load(Relaxed)
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Budget>>> = const { RefCell::new(None) };
}

/// While this lives, what this thread allocates is charged to the budget given to [`enter`].
#[derive(Debug)]
pub struct Entered(Option<Arc<Budget>>);

/// Puts `budget` in force on this thread until the guard drops.
pub fn enter(budget: Option<Arc<Budget>>) -> Entered {
    Entered(CURRENT.with(|c| c.replace(budget)))
}

/// The budget in force on this thread: for work that goes on on another.
pub fn current() -> Option<Arc<Budget>> {
    CURRENT.with(|c| c.borrow().clone())
}

/// How many bytes more the budget in force allows: how far to read what does not say how long it is.
pub fn left() -> usize {
    CURRENT.with(|c| c.borrow().as_ref().map_or(usize::MAX, |b| b.limit.saturating_sub(b.used())))
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|c| *c.borrow_mut() = self.0.take());
    }
}

/// Bytes charged to a budget, given back on drop.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    budget: Option<Arc<Budget>>,
    bytes: usize,
}

impl Charge {
    /// Charges `bytes` to the budget in force, or says by how much they are too many.
    #[inline]
    pub(crate) fn take(bytes: usize) -> Result<Charge> {
        CURRENT.with(|c| {
            let current = c.borrow();
            let Some(budget) = current.as_ref() else { return Ok(Charge { budget: None, bytes }) };
            let used = budget.used.fetch_add(bytes, Relaxed).saturating_add(bytes);
            if used > budget.limit {
                budget.used.fetch_sub(bytes, Relaxed);
                return Err(Error::new(
                    Code::ResourceExhausted,
                    format!(
                        "out of memory: {bytes} bytes more would bring the tensors alive to {used} bytes, over the limit of {}",
                        budget.limit
                    ),
                )
                .with_help("raise the memory limit, or make the tensors smaller"));
            }
            budget.peak.fetch_max(used, Relaxed);
            Ok(Charge { budget: Some(budget.clone()), bytes })
        })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.used.fetch_sub(self.bytes, Relaxed);
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
        let _entered = enter(Some(budget.clone()));
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
    fn joins_that_cannot_be_addressed_are_refused_first() {
        let part = vec![0u8; 1 << 20];
        let _entered = enter(Some(Budget::new(1 << 30)));
        let parts = vec![&*part; 1 << 20];
        assert_eq!(Str::join(&parts, b"").unwrap_err().code(), Code::ResourceExhausted);
    }
}
