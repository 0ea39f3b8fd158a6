//! [`Closed`]: a lock under which a caller's closure runs. A closure that comes back to the lock would wait
//! for itself forever; the lock knows the thread, and panics with the reason instead.

use parking_lot::{Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// This thread's number; never 0.
pub fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static ID: u64 = NEXT.fetch_add(1, Relaxed));
    ID.with(|id| *id)
}

/// A lock under which closures run.
#[derive(Default)]
pub(crate) struct Closed<T> {
    /// The number of the thread whose closure runs; 0 for none. Only compared with the own number of a
    /// thread, which no other thread writes.
    holder: AtomicU64,
    data: Mutex<T>,
}

/// The contents, held while a closure runs.
pub(crate) struct Running<'c, T> {
    holder: &'c AtomicU64,
    data: MutexGuard<'c, T>,
}

impl<T> Closed<T> {
    pub fn new(data: T) -> Closed<T> {
        Closed { holder: AtomicU64::new(0), data: Mutex::new(data) }
    }

    /// The contents. `method` is the one that runs closures, for the panic.
    #[inline]
    pub fn lock(&self, method: &'static str) -> MutexGuard<'_, T> {
        match self.data.try_lock() {
            Some(data) => data,
            None => self.wait(method),
        }
    }

    /// As [`Closed::lock`], for the method that runs a closure while it holds the contents.
    pub fn run(&self, method: &'static str) -> Running<'_, T> {
        let data = self.lock(method);
        self.holder.store(this_thread(), Relaxed);
        Running { holder: &self.holder, data }
    }

    #[cold]
    fn wait(&self, method: &'static str) -> MutexGuard<'_, T> {
        assert!(
            self.holder.load(Relaxed) != this_thread(),
            "a closure that was given to `{method}` called a method of the same object, which waits for the \
             closure to end; call the method before or after `{method}`"
        );
        self.data.lock()
    }
}

impl<T> Drop for Running<'_, T> {
    fn drop(&mut self) {
        self.holder.store(0, Relaxed);
    }
}

impl<T> Deref for Running<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T> DerefMut for Running<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.data
    }
}
