//! The checker's locks and flags, under the names that the sources use, and a clock that goes on a little
//! with every look at it.

pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::cell::Cell;
use std::ops::{Add, Deref, DerefMut};
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

/// The lock; empty only while its thread sleeps.
pub(crate) struct MutexGuard<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap()))
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok().map(|guard| MutexGuard(Some(guard)))
    }

    pub(crate) fn try_lock_for(&self, _: Duration) -> Option<MutexGuard<'_, T>> {
        Some(self.lock())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().unwrap()
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().unwrap()
    }
}

pub(crate) struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Condvar(shuttle::sync::Condvar::new())
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        guard.0 = guard.0.take().map(|guard| self.0.wait(guard).unwrap());
    }

    /// Waits without a limit: what only the time would end is a fault that must show.
    pub(crate) fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, _: std::time::Instant) -> InTime {
        self.wait(guard);
        InTime
    }
}

/// How a wait with a limit ended.
pub(crate) struct InTime;

impl InTime {
    pub(crate) fn timed_out(&self) -> bool {
        false
    }
}

/// A moment in microseconds.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Instant(u128);

impl Instant {
    pub(crate) fn now() -> Instant {
        thread_local! {
            static CLOCK: Cell<u128> = const { Cell::new(0) };
        }
        Instant(CLOCK.replace(CLOCK.get() + 20))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, time: Duration) -> Instant {
        Instant(self.0 + time.as_micros())
    }
}
