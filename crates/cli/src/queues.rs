//! The state of a session's queues, for `millstream run --queues`.

use crate::json::{Json, object};
use crate::table::Table;
use millstream::{Closing, QueueReport, Waiting};

/// A table with a row per queue.
pub(crate) fn table(queues: &[QueueReport]) -> Table {
    let mut table = Table::indented(0);
    table.row(["QUEUE", "KIND", "ITEMS", "IN", "OUT", "WAIT TO ENQUEUE", "WAIT TO DEQUEUE", "CLOSED"]);
    for queue in queues {
        table.row([
            queue.name.clone(),
            queue.spec.kind.to_string(),
            match queue.spec.bound() {
                Some(capacity) => format!("{} of {capacity}", queue.len),
                None => queue.len.to_string(),
            },
            queue.n_in.to_string(),
            queue.n_out.to_string(),
            queue.enqueuing.len().to_string(),
            queue.dequeuing.len().to_string(),
            queue.closed.as_ref().map_or("no".to_owned(), ToString::to_string),
        ]);
    }
    table
}

/// The same as JSON: `capacity` is null if it is unbounded, `closed` if the queue is open.
pub(crate) fn json(queues: &[QueueReport]) -> Json {
    let waiting = |line: &[Waiting]| -> Json {
        let one = |w: &Waiting| object! { "node": &w.who, "ms": w.for_time.as_millis() as u64 };
        line.iter().map(one).collect()
    };
    let closing = |closing: &Closing| {
        object! {
            "by": &closing.by,
            "why": closing.why.clone(),
            "cancelled_pending": closing.cancelled_pending,
        }
    };
    let queue = |queue: &QueueReport| {
        object! {
            "name": &queue.name,
            "kind": queue.spec.kind.to_string(),
            "items": queue.len,
            "capacity": queue.spec.bound(),
            "in": queue.n_in,
            "out": queue.n_out,
            "enqueuing": waiting(&queue.enqueuing),
            "dequeuing": waiting(&queue.dequeuing),
            "closed": queue.closed.as_ref().map(closing),
        }
    };
    queues.iter().map(queue).collect()
}
