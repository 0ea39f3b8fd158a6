//! The locks and threads of the coordinator and the queue runners, in one place: the model checker
//! (`tests/model`) compiles the same sources with its own versions.

pub(crate) use parking_lot::{Condvar, Mutex};
pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use std::sync::mpsc::{Sender, channel};

/// Starts a thread.
pub(crate) fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name).spawn(body).map(drop)
}
