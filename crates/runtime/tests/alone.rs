//! A process whose threads all wait for a queue gets an error at once; one in which any thread works does
//! not, in whatever session. This file has a `main` of its own, since the usual one starts threads.

mod common;

use common::{dequeue, fifo, graph, list};
use millstream_graph::{Graph, Output};
use millstream_runtime::{Coordinator, QueueRunner, Session, SessionOptions, Tier};
use millstream_state::{HostFunctions, HostToken};
use millstream_tensor::{Code, DType, Error, Result, Tensor, shape};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> Result<()> {
    for (tier, threads) in [(Tier::Dataflow, 1), (Tier::Dataflow, 2), (Tier::Reference, 1)] {
        let session = |g: &Graph| {
            Session::with_options(g, SessionOptions { tier, threads: Some(threads), ..Default::default() })
        };
        nobody_else(&session)?;
        everybody_waits(&session)?;
        a_runner_was_forgotten(&session)?;
        a_function_waits(&session)?;
        a_function_of_another_session_is_about_to_act(&session, threads)?;
    }
    Ok(())
}

/// A node that calls a function of this program.
fn host<'g>(
    g: &'g Graph,
    function: impl Fn(&[Tensor]) -> Result<Vec<Tensor>> + Send + Sync + 'static,
) -> Output<'g> {
    let token = HostToken::new(function);
    token.join(&g.extension::<HostFunctions>());
    let node = g.op("PyFunc").inputs([] as [Output<'_>; 0]).attr("token", token.as_str());
    g.extension::<parking_lot::Mutex<Vec<HostToken>>>().lock().push(token);
    node.attr("Tout", list([DType::I32])).output().set_shape(shape![])
}

/// The error names the runner and comes within a second.
fn a_runner_was_forgotten(session: &dyn Fn(&Graph) -> Result<Session>) -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    g.op("QueueEnqueueV2").name("put").input(q).inputs([g.constant(1)]).finish();
    g.op("QueueCloseV2").name("close").input(q).finish();
    let get = dequeue(q);
    QueueRunner::new("q", ["put".to_owned()], "close", "close")
        .announce(&g, "`start_them(session)`, as this front end calls it");
    let session = session(&g)?;
    let begin = Instant::now();
    let error = stalls(|| session.run(get, ())).to_string();
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    for part in [
        "queue `q`, whose runner was never started (`put`)",
        "start the runners first: `start_them(session)`",
    ] {
        assert!(error.contains(part), "{error}");
    }
    session.runner_started("q");
    session.runner_failed("q", "its disk is full\nand more");
    let error = stalls(|| session.run(get, ())).to_string();
    assert!(error.contains("whose runner failed: its disk is full"), "{error}");
    Ok(())
}

/// A function waits in a run of its own session, or of another, and the run that called it waits for it.
fn a_function_waits(session: &dyn Fn(&Graph) -> Result<Session>) -> Result<()> {
    for shares in [true, false] {
        let inner = graph();
        let q = fifo(&inner, "FIFOQueueV2", 3, shape![]);
        let own = Arc::new(session(&inner)?);
        let get = Arc::new(own.make_callable(dequeue(q), [])?);
        let outer = if shares { inner.clone() } else { graph() };
        let waits = host(&outer, move |_| get.call(&[])) + 1;
        let error = match shares {
            true => stalls(|| own.run(waits, ())),
            false => {
                let other = session(&outer)?;
                stalls(|| other.run(waits, ()))
            }
        };
        assert!(error.to_string().contains("no thread is left that could end the wait"), "{error}");
    }
    Ok(())
}

/// A function works for a second, and then fills a queue of another session, where a run waits.
fn a_function_of_another_session_is_about_to_act(
    session: &dyn Fn(&Graph) -> Result<Session>,
    threads: usize,
) -> Result<()> {
    if threads == 1 {
        // One thread calls one function after the other.
        return Ok(());
    }
    let inner = graph();
    let q = fifo(&inner, "FIFOQueueV2", 3, shape![]);
    let put = inner.op("QueueEnqueueV2").input(q).inputs([inner.constant(7)]).finish();
    let impatient = SessionOptions { stall_grace: Some(Duration::from_millis(300)), ..Default::default() };
    for own in [session(&inner)?, Session::with_options(&inner, impatient)?] {
        let (put, get) = (own.make_callable(put, [])?, own.make_callable(dequeue(q), [])?);
        let outer = graph();
        let a = host(&outer, move |_| get.call(&[]));
        let b = host(&outer, move |_| {
            std::thread::sleep(Duration::from_millis(1200));
            put.call(&[])?;
            Ok(vec![Tensor::scalar(1i32)])
        });
        assert_eq!(session(&outer)?.run::<i32>(a + b, ())?, 8);
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
