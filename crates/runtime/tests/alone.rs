//! A process whose only thread waits for a queue gets an error at once. This file has a `main` of its own,
//! since the usual one starts threads.

mod common;

use common::{dequeue, fifo, graph};
use millstream_graph::Graph;
use millstream_runtime::{Coordinator, QueueRunner, Session, SessionOptions, Tier};
use millstream_tensor::{Code, Error, Result, shape};
use std::time::{Duration, Instant};

fn main() -> Result<()> {
    for (tier, threads) in [(Tier::Dataflow, 1), (Tier::Dataflow, 2), (Tier::Reference, 1)] {
        let session = |g: &Graph| {
            Session::with_options(g, SessionOptions { tier, threads: Some(threads), ..Default::default() })
        };
        nobody_else(&session)?;
        everybody_waits(&session)?;
    }
    Ok(())
}

fn stalls(run: impl FnOnce() -> Result<i32>) -> Error {
    let begin = Instant::now();
    let error = run().expect_err("it should have waited in vain");
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    error
}

fn nobody_else(session: &dyn Fn(&Graph) -> Result<Session>) -> Result<()> {
    let g = graph();
    let get = dequeue(fifo(&g, "FIFOQueueV2", 3, shape![]));
    let session = session(&g)?;
    let error = stalls(|| session.run(get, ())).to_string();
    assert!(error.contains("no thread is left that could end the wait"), "{error}");
    Ok(())
}

/// A runner waits for input that never comes.
fn everybody_waits(session: &dyn Fn(&Graph) -> Result<Session>) -> Result<()> {
    let g = graph();
    let source = fifo(&g, "FIFOQueueV2", 3, shape![]);
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([dequeue(source)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    g.op("QueueCloseV2").name("cancel").input(q).attr("cancel_pending_enqueues", true).finish();
    let get = dequeue(q);
    let session = session(&g)?;
    let coordinator = Coordinator::new();
    QueueRunner::new("q_1", ["put".to_owned()], "close", "cancel").start(&session, &coordinator)?;
    // Either of the two may be the first to notice; the other ends through what the first does.
    let first = session.run::<i32>(get, ()).expect_err("it should have waited in vain");
    assert!([Code::FailedPrecondition, Code::OutOfRange].contains(&first.code()), "{first}");
    if first.code() == Code::FailedPrecondition {
        coordinator.request_stop();
    }
    match coordinator.join() {
        Ok(()) => assert_eq!(first.code(), Code::FailedPrecondition),
        Err(error) => assert!(error.to_string().contains("no thread is left"), "{error}"),
    }
    Ok(())
}
