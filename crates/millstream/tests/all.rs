//! The tests of the facade: one program, which is linked once and runs them side by side.

mod arrays;
mod bucket;
mod caches;
mod common;
mod decoding;
mod event_crashes;
mod event_files;
mod file_access;
mod functions;
mod initializers;
mod inputs;
mod lists;
mod memory;
mod parsing;
mod queues;
mod queues_golden;
mod raw_loops;
mod readers;
mod recurrent;
mod saver;
mod summaries;
mod training;
