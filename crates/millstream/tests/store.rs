//! Sessions whose queues live in a server: two of them, as two processes would have them.

#[path = "../../store/tests/common/server.rs"]
#[allow(dead_code, clippy::allow_attributes, reason = "it also serves other tests")]
mod server;

use millstream::prelude::*;
use millstream::{Code, Coordinator, Queue, Queues, ResourceManager, RunQueues, SessionOptions};
use server::Server;
use std::time::{Duration, Instant};

fn session(g: &Graph, url: &str, options: SessionOptions) -> Result<Session> {
    let resources = Some(ResourceManager::at(url)?);
    Session::with_options(g, SessionOptions { resources, ..options })
}

fn options() -> SessionOptions {
    SessionOptions::default()
}

#[test]
fn what_one_session_enqueues_another_dequeues() -> Result<()> {
    let Some(server) = Server::start(&[]) else { return Ok(()) };
    let g = Graph::new();
    let kinds = [
        Queue::fifo(&g, 10, [DType::I32, DType::Str])
            .shapes([shape![], shape![]])
            .shared_name("f")
            .build()?,
        Queue::padding(&g, 10, [DType::I32, DType::Str])
            .shapes([shape![], shape![]])
            .shared_name("p")
            .build()?,
        Queue::shuffle(&g, 10, 0, [DType::I32, DType::Str])
            .shapes([shape![], shape![]])
            .shared_name("s")
            .build()?,
    ];
    let private = Queue::fifo(&g, 10, [DType::I32]).build()?;
    let puts = session(&g, &server.url("n"), options())?;
    let takes = session(&g, &server.url("n"), options())?;
    for q in &kinds {
        let rows = (g.constant([1, 2, 3]), g.stack(["a", "bb", "ccc"].map(|word| g.constant(word)), 0));
        let put = q.enqueue_many(rows)?;
        let [numbers, words] = q.dequeue_many(3)?.all()?;
        puts.run::<()>(put, feed![])?;
        assert_eq!(takes.run::<i32>(q.size(), feed![])?, 3);
        let (mut numbers, words): (Vec<i32>, Tensor) = takes.run((numbers, words), feed![])?;
        assert_eq!(words.elements(), 3);
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3]);
        puts.run::<()>(q.close(), feed![])?;
        assert!(takes.run::<bool>(q.is_closed(), feed![])?);
        let [number, _] = q.dequeue()?.all()?;
        let error = takes.run::<i32>(number, feed![]).unwrap_err();
        assert_eq!(error.code(), Code::OutOfRange, "{error}");
        assert!(error.to_string().contains("closed by"), "{error}");
    }
    // Without a shared name it is the session's own, and stays here.
    puts.run::<()>(private.enqueue(1)?, feed![])?;
    assert_eq!(takes.run::<i32>(private.size(), feed![])?, 0);
    Ok(())
}

#[test]
fn priorities_and_padding_hold_across_sessions() -> Result<()> {
    let Some(server) = Server::start(&[]) else { return Ok(()) };
    let g = Graph::new();
    let q = Queue::priority(&g, 10, [DType::I32]).shapes([shape![]]).shared_name("q").build()?;
    let p = Queue::padding(&g, 10, [DType::I32]).shapes([shape![_]]).shared_name("p").build()?;
    let (one, two) = (session(&g, &server.url("n"), options())?, session(&g, &server.url("n"), options())?);
    let put =
        q.enqueue_many((g.constant([5i64, -7, i64::MAX, 0, i64::MIN, 0]), g.constant([1, 2, 3, 4, 5, 6])))?;
    one.run::<()>(put, feed![])?;
    let [_, values] = q.dequeue_many(6)?.all()?;
    assert_eq!(two.run::<Vec<i32>>(values, feed![])?, [5, 2, 4, 6, 1, 3]);
    one.run::<()>(p.enqueue(g.constant([1, 2, 3]))?, feed![])?;
    two.run::<()>(p.enqueue(g.constant([4]))?, feed![])?;
    let [batch] = p.dequeue_many(2)?.all()?;
    assert_eq!(two.run::<Tensor>(batch, feed![])?.to_string(), "i32[2,3] [[1 2 3] [4 0 0]]");
    Ok(())
}

/// Runners fill a queue and are stopped, in a process and across two alike.
#[test]
fn runners_fill_a_queue_in_a_server() -> Result<()> {
    let Some(server) = Server::start(&[]) else { return Ok(()) };
    let here = ResourceManager::new();
    let (one, two) = (ResourceManager::at(&server.url("n"))?, ResourceManager::at(&server.url("n"))?);
    let mut ends = Vec::new();
    for (fills, takes) in [(here.clone(), here), (one, two)] {
        let g = Graph::new();
        let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).shared_name("q").build()?;
        let rows = q.enqueue_many(g.constant((0..10).collect::<Vec<i32>>()))?;
        g.add_queue_runner(&q.runner([rows, rows]));
        let [batch] = q.dequeue_many(5)?.all()?;
        let with =
            |resources| Session::with_options(&g, SessionOptions { resources: Some(resources), ..options() });
        let (fills, takes) = (with(fills)?, with(takes)?);
        let coordinator = Coordinator::new();
        fills.start_queue_runners(&coordinator)?;
        let mut n = 0;
        for _ in 0..40 {
            n += takes.run::<Vec<i32>>(batch, feed![])?.len();
        }
        assert_eq!(n, 200);
        // Now an enqueue waits for room.
        while takes.run::<i32>(q.size(), feed![])? < 4 {}
        coordinator.request_stop();
        let ended = coordinator.join().map_err(|error| error.code());
        ends.push((ended, takes.run::<bool>(q.is_closed(), feed![])?));
    }
    assert_eq!(ends[0], ends[1]);
    assert!(ends[0].1, "stopping closes the queue");
    Ok(())
}

#[test]
fn waits_end_in_time_and_say_who_waits() -> Result<()> {
    let Some(mut server) = Server::start(&[]) else { return Ok(()) };
    let g = Graph::new();
    let q = Queue::fifo(&g, 4, [DType::I32]).shared_name("q").build()?;
    let [one] = q.dequeue()?.all()?;
    let other = session(&g, &server.url("n"), options())?;
    other.run::<i32>(q.size(), feed![])?;
    // While another process uses the queue, the wait lasts until the run's own limit.
    let limits = SessionOptions {
        timeout: Some(Duration::from_millis(700)),
        stall_grace: Some(Duration::from_millis(200)),
        ..options()
    };
    let waits = session(&g, &server.url("n"), limits)?;
    let error = waits.run::<i32>(one, feed![]).unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    let text = error.to_string();
    assert!(
        text.contains("waits for items in queue `q`") && text.contains("kept by valkey://127.0.0.1"),
        "{text}"
    );
    assert!(text.contains("(this one) waits") && text.matches("process ").count() == 2, "{text}");
    drop((other, waits));
    // Alone, it is told after the grace.
    let alone = SessionOptions { stall_grace: Some(Duration::from_millis(200)), ..options() };
    let alone = session(&g, &server.url("n"), alone)?;
    let error = alone.run::<i32>(one, feed![]).unwrap_err();
    assert_eq!(error.code(), Code::FailedPrecondition, "{error}");
    assert!(error.to_string().contains("which no other process uses"), "{error}");
    drop(alone);
    // A server that is gone.
    let limits = SessionOptions { timeout: Some(Duration::from_millis(500)), ..options() };
    let lost = session(&g, &server.url("n"), limits)?;
    lost.run::<i32>(q.size(), feed![])?;
    server.kill();
    let begin = Instant::now();
    let error = lost.run::<i32>(one, feed![]).unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert!(error.to_string().contains("has not answered for"), "{error}");
    Ok(())
}
