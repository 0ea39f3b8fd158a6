//! The locks and flags of shared state, in one place: the model checker (`tests/model.rs`) compiles the same
//! sources with its own versions.

pub(crate) use parking_lot::Mutex;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
