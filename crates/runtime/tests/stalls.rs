//! Runs that would wait for a queue for ever get an error; runs that only wait for long do not.

mod common;

use common::{dequeue, fifo, graph, shared};
use millstream_graph::Output;
use millstream_runtime::{Coordinator, QueueRunner, Session, SessionOptions, Tier, feed};
use millstream_tensor::{Code, DType, Result, shape};
use std::time::{Duration, Instant};

fn impatient(grace_ms: u64) -> SessionOptions {
    SessionOptions { stall_grace: Some(Duration::from_millis(grace_ms)), ..SessionOptions::default() }
}

const TIERS: [Tier; 2] = [Tier::Dataflow, Tier::Reference];

#[test]
fn a_dequeue_that_nobody_will_serve() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    let get = dequeue(q);
    let put = g.op("QueueEnqueueV2").input(q).inputs([g.constant(1)]).finish();
    for tier in TIERS {
        let session = Session::with_options(&g, SessionOptions { tier, ..impatient(300) })?;
        let begin = Instant::now();
        let error = session.run::<i32>(get, ()).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        for part in
            ["`QueueDequeueV2` waits for items in queue `q`", "FIFOQueue 'q': 0 of 3 items", "stall_grace"]
        {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
        assert!(begin.elapsed() < Duration::from_secs(20));
        assert!(session.queues()[0].dequeuing.is_empty(), "it has left the line");
        session.run::<()>(put, ())?;
        assert_eq!(session.queues()[0].len, 1, "nobody takes what comes later");
    }
    Ok(())
}

/// A dequeue that its deadline cancels takes nothing, either.
#[test]
fn a_time_limit_leaves_the_line() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    let get = dequeue(q);
    let put = g.op("QueueEnqueueV2").input(q).inputs([g.constant(1)]).finish();
    for tier in TIERS {
        let timeout = Some(Duration::from_millis(20));
        let session = Session::with_options(&g, SessionOptions { tier, timeout, ..impatient(300) })?;
        let error = session.run::<i32>(get, ()).unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded);
        for part in
            ["`QueueDequeueV2` waits for items in queue `q`", "FIFOQueue 'q': 0 of 3 items, 0 in, 0 out"]
        {
            assert!(error.to_string().contains(part), "{tier:?}: no `{part}` in {error}");
        }
        session.run::<()>(put, ())?;
        assert_eq!(session.queues()[0].len, 1, "{tier:?}");
        // The enqueue that fills the queue does not wait, the next one does.
        session.run::<()>(put, ())?;
        session.run::<()>(put, ())?;
        let error = session.run::<()>(put, ()).unwrap_err().to_string();
        assert!(error.contains("`QueueEnqueueV2` waits for room in queue `q`"), "{tier:?}: {error}");
    }
    Ok(())
}

/// A run that takes too long because a runner was forgotten says so.
#[test]
fn a_time_limit_names_a_runner_that_was_never_started() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    QueueRunner::new("q", ["put".to_owned()], "close", "close").add_to(&g);
    let get = dequeue(q);
    for tier in TIERS {
        let timeout = Some(Duration::from_millis(20));
        let session =
            Session::with_options(&g, SessionOptions { tier, timeout, ..SessionOptions::default() })?;
        let error = session.run::<i32>(get, ()).unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded);
        for part in ["whose runner was never started (`put`)", "start_queue_runners"] {
            assert!(error.to_string().contains(part), "{tier:?}: no `{part}` in {error}");
        }
    }
    Ok(())
}

/// The message names what the run waits for.
#[test]
fn enqueues_and_closings_that_nobody_will_serve() -> Result<()> {
    let g = graph();
    let q = shared(&g, "FIFOQueueV2", 1, shape![], "q");
    let put = g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    let close = g.op("QueueCloseV2").name("close").input(q).finish();
    let cancel = g.op("QueueCloseV2").input(q).attr("cancel_pending_enqueues", true).finish();
    for tier in TIERS {
        let patient = Session::with_options(&g, impatient(1_000_000))?;
        let resources = Some(patient.resources().clone());
        let session = Session::with_options(&g, SessionOptions { tier, resources, ..impatient(300) })?;
        session.run::<()>(put, ())?;
        let error = session.run::<()>(put, ()).unwrap_err().to_string();
        assert!(error.contains("`put` waits for room in queue `q`"), "{error}");
        std::thread::scope(|s| {
            let waits = s.spawn(|| patient.run::<()>(put, ()));
            while session.queues()[0].enqueuing.is_empty() {
                std::thread::yield_now();
            }
            let error = session.run::<()>(close, ()).unwrap_err().to_string();
            assert!(
                error.contains("`close` waits behind enqueues that wait for room in queue `q`"),
                "{error}"
            );
            assert!(error.contains("; `put` has waited to enqueue for "), "{error}");
            assert!(error.contains("; `close` has waited to close it for "), "{error}");
            session.run::<()>(cancel, ()).unwrap();
            assert_eq!(waits.join().unwrap().unwrap_err().code(), Code::Cancelled);
        });
    }
    Ok(())
}

#[test]
fn a_runner_that_was_never_started() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    g.op("QueueCloseV2").name("cancel").input(q).attr("cancel_pending_enqueues", true).finish();
    let runner = QueueRunner::new("q", ["put".to_owned(), "put".to_owned()], "close", "cancel");
    runner.add_to(&g);
    let get = dequeue(q);
    let session = Session::with_options(&g, impatient(300))?;
    let error = session.run::<i32>(get, ()).unwrap_err();
    for part in ["whose runner was never started (`put` and 1 more)", "start_queue_runners"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    let coordinator = Coordinator::with_clean_stops([Code::Cancelled]);
    runner.start(&session, &coordinator)?;
    assert_eq!(session.run::<i32>(get, ())?, 1);
    coordinator.request_stop();
    coordinator.join()
}

/// A producer that takes longer than the grace is still waited for, while it runs.
#[test]
fn work_in_progress_is_waited_for() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let slow: Output = g.while_loop(0).run(|i| g.op("Less").input(i).input(n).output(), |i| i + 1)?;
    let put = g.op("QueueEnqueueV2").input(q).inputs([slow]).finish();
    let get = dequeue(q);
    for threads in [1, 2] {
        let session = Session::with_options(&g, SessionOptions { threads: Some(threads), ..impatient(250) })?;
        // This many iterations take about four times the grace.
        let begin = Instant::now();
        session.run::<i32>(slow, feed![n => 20_000])?;
        let turns = 20_000.0 / begin.elapsed().as_secs_f64();
        std::thread::scope(|s| {
            let taker = s.spawn(|| session.run::<i32>(get, ()));
            session.run::<()>(put, feed![n => turns as i32])?;
            assert_eq!(taker.join().unwrap()?, turns as i32);
            Ok::<(), millstream_tensor::Error>(())
        })?;
    }
    Ok(())
}

/// A run with a time limit ends by itself, and others may wait for what its thread does then.
#[test]
fn a_time_limit_goes_first() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    let get = dequeue(q);
    let options = SessionOptions { timeout: Some(Duration::from_millis(600)), ..impatient(50) };
    let session = Session::with_options(&g, options)?;
    assert_eq!(session.run::<i32>(get, ()).unwrap_err().code(), Code::DeadlineExceeded);
    Ok(())
}
