//! What a store costs while nothing happens. A test program of its own: it counts the time of threads.

mod common;

use common::*;
use millstream_state::{QueueKind, Take::Exactly};
use millstream_store::Store;
use millstream_tensor::Code;
use std::time::Duration;

/// The thread that speaks to the server sleeps while there is nothing to say, also if a queue was never used
/// or has failed.
#[test]
fn nothing_is_done_while_nothing_happens() {
    let Some(server) = Server::start(&[]) else { return };
    let store = Store::at(&server.url("n?lease_ms=100")).unwrap();
    let (_unused, used) =
        (stored(&store, "a", spec(QueueKind::Fifo, 3)), stored(&store, "b", spec(QueueKind::Fifo, 3)));
    assert_eq!(look(&used), (0, false));
    let failed = stored(&store, "b", spec(QueueKind::Fifo, 4));
    assert_eq!(dequeue(&failed, Exactly(1)).error().code(), Code::InvalidArgument);
    let before = cpu_of("millstream-store");
    std::thread::sleep(Duration::from_millis(1500));
    let spent = cpu_of("millstream-store").zip(before).map(|(after, before)| after.saturating_sub(before));
    // Ticks of 10 ms: a thread that does not sleep takes 150.
    assert!(spent.is_none_or(|ticks| ticks < 60), "{spent:?}");
}

/// The time that this process' threads of this name have taken, in ticks; `None` where that cannot be read.
fn cpu_of(name: &str) -> Option<u64> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else { continue };
        let (head, rest) = stat.rsplit_once(')')?;
        if head.ends_with(&name[..name.len().min(15)]) {
            let fields: Vec<&str> = rest.split_whitespace().collect();
            sum += fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        }
    }
    Some(sum)
}
