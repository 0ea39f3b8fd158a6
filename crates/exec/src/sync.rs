//! The locks, flags and the clock of a run's threads, in one place: the model checker (`tests/model`)
//! compiles the same sources with its own versions.

pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use std::time::Instant;
