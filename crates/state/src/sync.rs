//! The locks and flags of what threads share, in one place: the model checker (`tests/model.rs`) compiles the same sources with its own.

pub(crate) use parking_lot::Mutex;
pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
