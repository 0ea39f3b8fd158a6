//! The tests of sessions: one program, which is linked once and runs them side by side.

mod common;
mod coordinator;
mod explaining;
mod functions;
mod looking;
mod partial_runs;
mod queues;
mod sessions;
mod sharing;
