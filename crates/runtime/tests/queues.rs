//! Queues in graphs: runs that wait for each other, are cancelled, or close queues that others wait for;
//! runners that fill queues, and coordinators that stop.

use crate::common::{dequeue, fifo, graph, list};
use millstream_graph::{Graph, Output};
use millstream_runtime::{Coordinator, QueueRunner, RunOptions, Session, SessionOptions, feed};
use millstream_tensor::{Code, DType, Result, Tensor, shape};
use std::time::{Duration, Instant};

fn dequeue_batch<'g>(q: Output<'g>, op: &'static str, n: i32) -> Output<'g> {
    q.graph().op(op).input(q).input(n).attr("component_types", list([DType::I32])).output()
}

const BRIEF: RunOptions = RunOptions {
    timeout: Some(Duration::from_millis(30)),
    trace: false,
    watch: Vec::new(),
    why: None,
    poll: None,
    progress: None,
};

fn sessions(g: &Graph) -> impl Iterator<Item = Session> {
    [1, 2].into_iter().map(|threads| {
        Session::with_options(g, SessionOptions { threads: Some(threads), ..SessionOptions::default() })
            .unwrap()
    })
}

#[test]
fn runs_wait_for_each_other() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let put = g.op("QueueEnqueueV2").input(q).inputs([x]).finish();
    let get = dequeue(q);
    let size = g.op("QueueSizeV2").input(q).output();
    for session in sessions(&g) {
        std::thread::scope(|s| {
            let taker = s.spawn(|| (0..100).map(|_| session.run::<i32>(get, ())).collect::<Result<Vec<_>>>());
            for i in 0..100 {
                session.run::<()>(put, feed![x => i])?;
            }
            assert_eq!(taker.join().unwrap()?, (0..100).collect::<Vec<_>>());
            assert_eq!(session.run::<i32>(size, ())?, 0);
            // Nothing is enqueued any more.
            let late = session.run_with::<i32>(get, (), &BRIEF).unwrap_err();
            assert_eq!(late.code(), Code::DeadlineExceeded);
            session.run::<()>(put, feed![x => 7])?;
            assert_eq!(session.run::<i32>(get, ())?, 7, "the one called off took nothing");
            Ok::<(), millstream_tensor::Error>(())
        })?;
    }
    Ok(())
}

#[test]
fn batches_are_padded() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "PaddingFIFOQueueV2", 10, shape![_, 2]);
    let x = g.placeholder_of("x", DType::I32, shape![_, 2]);
    let put = g.op("QueueEnqueueV2").input(q).inputs([x]).finish();
    let (two, rest) = (dequeue_batch(q, "QueueDequeueManyV2", 2), dequeue_batch(q, "QueueDequeueUpToV2", 2));
    let close = g.op("QueueCloseV2").input(q).finish();
    for session in sessions(&g) {
        for rows in [1usize, 2, 3] {
            let value = Tensor::from_slice([rows, 2], &vec![rows as i32; rows * 2])?;
            session.run::<()>(put, feed![x => value])?;
        }
        let batch: Tensor = session.run(two, ())?;
        assert_eq!(batch.shape().dims(), [2, 2, 2]);
        assert_eq!(batch.as_slice::<i32>()?, [1, 1, 0, 0, 2, 2, 2, 2]);
        session.run::<()>(close, ())?;
        let batch: Tensor = session.run(rest, ())?;
        assert_eq!(batch.shape().dims(), [1, 3, 2]);
        let end = session.run::<Tensor>(rest, ()).unwrap_err();
        assert_eq!(end.code(), Code::OutOfRange);
    }
    Ok(())
}

/// A loop whose body dequeues: as many iterations wait as may run at a time, and each gets one item.
#[test]
fn loops_take_from_queues() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 5, shape![]);
    let rows = g.placeholder_of("rows", DType::I32, shape![_]);
    let put = g.op("QueueEnqueueManyV2").input(q).inputs([rows]).finish();
    let (_, sum): (Output, Output) = g
        .while_loop((0, 0))
        .run(|(i, _)| g.op("Less").input(i).input(20).output(), |(i, sum)| (i + 1, sum + dequeue(q)))?;
    for session in sessions(&g) {
        std::thread::scope(|s| {
            let summing = s.spawn(|| session.run::<i32>(sum, ()));
            session.run::<()>(put, feed![rows => Tensor::vector(&(1..=20).collect::<Vec<i32>>())?])?;
            assert_eq!(summing.join().unwrap()?, 210);
            Ok::<(), millstream_tensor::Error>(())
        })?;
    }
    Ok(())
}

#[test]
fn runners_fill_and_close() -> Result<()> {
    let g = graph();
    let source = g
        .op("FIFOQueueV2")
        .name("source")
        .attr("component_types", list([DType::I32]))
        .attr("shapes", list([shape![]]))
        .output();
    let q = fifo(&g, "FIFOQueueV2", 2, shape![]);
    let rows = g.placeholder_of("rows", DType::I32, shape![_]);
    let load = g.op("QueueEnqueueManyV2").input(source).inputs([rows]).finish();
    let close_source = g.op("QueueCloseV2").input(source).finish();
    let put = g.op("QueueEnqueueV2").name("put").input(q).inputs([dequeue(source) * 2]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    g.op("QueueCloseV2").name("cancel").input(q).attr("cancel_pending_enqueues", true).finish();
    let get = dequeue(q);
    let _ = put;
    for session in sessions(&g) {
        let runner = QueueRunner::new("q", ["put".to_owned(), "put".to_owned()], "close", "cancel");
        session.run::<()>(load, feed![rows => Tensor::vector(&(0..50).collect::<Vec<i32>>())?])?;
        let coordinator = Coordinator::new();
        assert_eq!(runner.start(&session, &coordinator)?, 2);
        assert_eq!(runner.start(&session, &coordinator)?, 0, "they run already");
        let mut got = (0..50).map(|_| session.run::<i32>(get, ())).collect::<Result<Vec<_>>>()?;
        got.sort_unstable();
        assert_eq!(got, (0..50).map(|i| i * 2).collect::<Vec<_>>());
        session.run::<()>(close_source, ())?;
        let end = session.run::<i32>(get, ()).unwrap_err();
        assert_eq!(end.code(), Code::OutOfRange);
        for part in [
            "FIFOQueue 'q' is closed and has insufficient elements",
            "closed by `close`: the input of its runner came to its end",
            "'source' is closed",
        ] {
            assert!(end.to_string().contains(part), "{end}");
        }
        coordinator.request_stop();
        coordinator.join()?;
    }
    Ok(())
}

/// A graph can ask for any number of threads.
#[test]
fn the_threads_of_runners_are_charged() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 2, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    g.op("QueueCloseV2").name("cancel").input(q).attr("cancel_pending_enqueues", true).finish();
    let options = SessionOptions { memory_limit: Some(1 << 20), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    let runner = |n| QueueRunner::new("q", vec!["put".to_owned(); n], "close", "cancel");
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    let refused = runner(100).start(&session, &coordinator).unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    assert!(refused.to_string().contains("while starting 100 threads for the queue `q`"), "{refused}");
    coordinator.request_stop();
    coordinator.join_within(Duration::from_secs(20))?;
    // The threads that were started gave their memory back.
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    assert_eq!(runner(2).start(&session, &coordinator)?, 2);
    coordinator.request_stop();
    coordinator.join_within(Duration::from_secs(20))
}

/// A stop wakes a runner that waits for room.
#[test]
fn a_stop_calls_off_who_waits_for_room() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 2, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    g.op("QueueCloseV2").name("cancel").input(q).attr("cancel_pending_enqueues", true).finish();
    let get = dequeue(q);
    for session in sessions(&g) {
        let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
        QueueRunner::new("q", ["put".to_owned()], "close", "cancel").start(&session, &coordinator)?;
        assert_eq!(session.run::<i32>(get, ())?, 1);
        coordinator.request_stop();
        coordinator.join_within(Duration::from_secs(20))?;
        let end = loop {
            if let Err(end) = session.run::<i32>(get, ()) {
                break end.to_string();
            }
        };
        assert!(end.contains("the coordinator was asked to stop"), "{end}");
    }
    Ok(())
}

/// The session's timeout is for each run of a runner, and not for all of them together.
#[test]
fn each_run_of_a_runner_has_the_whole_timeout() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 1, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    g.op("QueueCloseV2").name("cancel").input(q).attr("cancel_pending_enqueues", true).finish();
    let get = dequeue(q);
    let timeout = Duration::from_millis(1000);
    let options = SessionOptions { timeout: Some(timeout), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    let coordinator = Coordinator::with_clean_stops([Code::Cancelled]);
    QueueRunner::new("q", ["put".to_owned()], "close", "cancel").start(&session, &coordinator)?;
    let begin = Instant::now();
    while begin.elapsed() < timeout * 3 / 2 {
        assert_eq!(session.run::<i32>(get, ())?, 1);
        std::thread::sleep(timeout / 20);
    }
    assert!(!coordinator.should_stop());
    coordinator.request_stop();
    coordinator.join()
}

/// Where no thread can be started none counts as running, and another coordinator starts them all.
#[test]
fn runners_that_could_not_start_start_later() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 2, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    g.op("QueueCloseV2").name("cancel").input(q).attr("cancel_pending_enqueues", true).finish();
    let session = Session::new(&g)?;
    let runner = QueueRunner::new("q", ["put".to_owned(), "put".to_owned()], "close", "cancel");
    let over = Coordinator::new();
    over.join()?;
    let refused = runner.start(&session, &over).unwrap_err();
    assert!(refused.to_string().contains("clear_stop"), "{refused}");
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    assert_eq!(runner.start(&session, &coordinator)?, 2);
    coordinator.request_stop();
    coordinator.join_within(Duration::from_secs(20))
}

/// Every look at the graph's runners finds the same ones, so starting them twice starts nothing twice; two
/// runners with the same content are two.
#[test]
fn runners_of_the_graph_start_once() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 2, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    g.op("QueueCloseV2").name("cancel").input(q).attr("cancel_pending_enqueues", true).finish();
    let runner = || QueueRunner::new("q", ["put".to_owned(), "put".to_owned()], "close", "cancel");
    let first = runner();
    first.add_to(&g);
    runner().add_to(&g);
    for session in sessions(&g) {
        let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
        let start = || QueueRunner::start_all(&QueueRunner::of_graph(&g), &session, &coordinator);
        assert_eq!(start()?, 4);
        assert_eq!(start()?, 0, "they run");
        assert_eq!(first.start(&session, &coordinator)?, 0, "it is one of them");
        assert_eq!(coordinator.running().len(), 4);
        coordinator.request_stop();
        coordinator.join_within(Duration::from_secs(20))?;
    }
    Ok(())
}

/// If one runner cannot be started the others do not run, either, and all start later.
#[test]
fn runners_start_together_or_not_at_all() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 10, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    g.op("QueueCloseV2").name("cancel").input(q).attr("cancel_pending_enqueues", true).finish();
    let good = QueueRunner::new("q", ["put".to_owned(), "put".to_owned()], "close", "cancel");
    let bad = QueueRunner::new("q", ["put".to_owned(), "not there".to_owned()], "close", "cancel");
    let session = Session::new(&g)?;
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    let refused = QueueRunner::start_all(&[good.clone(), bad], &session, &coordinator).unwrap_err();
    assert!(refused.to_string().contains("not there"), "{refused}");
    coordinator.join_within(Duration::from_secs(20))?;
    assert!(session.queues().is_empty(), "nothing has run");
    coordinator.clear_stop();
    assert_eq!(good.start(&session, &coordinator)?, 2);
    coordinator.request_stop();
    coordinator.join_within(Duration::from_secs(20))
}
