//! Event files on a disk that fails, tears writes and loses power at its n-th call, for every n: whatever was
//! flushed is there, and readers meet whole events only, with at most one torn at the end.

#[path = "../../files/tests/crash/mod.rs"]
mod crash;

use crash::{CrashDisk, every_fault};
use millstream::interop::proto::{Event, decode};
use millstream::prelude::*;
use millstream::summary::FileWriter;
use millstream_checkpoint::records::RecordReader;
use millstream_files::Files;
use std::sync::Mutex;

/// Writes three events and flushes after each. Returns the number of those whose flush succeeded; an error if
/// anything failed.
fn write(files: &Files, flushed: &Mutex<i64>) -> Result<()> {
    *flushed.lock().unwrap() = 0;
    let writer =
        FileWriter::builder("/d/logs").flush_secs(1e6).max_queue(1000).files(files.clone()).build()?;
    let mut outcome = Ok(());
    for step in 1..=3 {
        // Long enough for half of one to be a torn record.
        let event = Event {
            step,
            what: Some(millstream::interop::proto::event::What::FileVersion("x".repeat(99))),
            ..Event::default()
        };
        let done = writer.add_event(&event).and_then(|()| writer.flush());
        if done.is_ok() {
            *flushed.lock().unwrap() = step;
        }
        outcome = outcome.and(done);
    }
    outcome.and(writer.close())
}

/// The steps of the events that can be read.
fn steps(disk: &CrashDisk, what: &str) -> Vec<i64> {
    let mut all = Vec::new();
    for name in disk.names() {
        let bytes = disk.bytes(&name).unwrap_or_default();
        for record in RecordReader::new(&bytes[..], name.as_str()) {
            match record {
                Ok(record) => {
                    all.push(decode::<Event>(&record).unwrap_or_else(|e| panic!("{what}: {e}")).step)
                }
                Err(error) => assert_eq!(error.code(), millstream::Code::DataLoss, "{what}: {error}"),
            }
        }
    }
    all
}

#[test]
fn flushed_events_survive() {
    let flushed = Mutex::new(0);
    let n = every_fault(
        &["/d"],
        |_| (),
        |files| write(files, &flushed),
        |disk, outcome| {
            let what = &outcome.what;
            let found: Vec<i64> = steps(disk, what).into_iter().filter(|step| 0 < *step).collect();
            let sure = *flushed.lock().unwrap();
            assert!((1..=3).collect::<Vec<_>>().starts_with(&found), "{what}: {found:?}");
            assert!(sure <= found.len() as i64, "{what}: {found:?} though {sure} were flushed");
            assert!(!outcome.fine || found.len() == 3, "{what}: {found:?}");
        },
    );
    assert!(100 < n, "{n} states");
}
