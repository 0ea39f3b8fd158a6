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

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|c| *c.borrow_mut() = self.0.take());
    }
}

/// Bytes charged to a budget, given back on drop.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Option<Arc<Budget>>,
    bytes: usize,
}

impl Charge {
    /// Charges `bytes` to the budget in force, or says by how much they are too many.
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
