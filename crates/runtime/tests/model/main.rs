//! The coordinator and the queue runners under a model checker. Their sources are compiled with locks and
//! threads that switch at every use, and with a session whose calls work on a small queue. Thousands of
//! random schedules from fixed seeds are tried, with few switches and with many. The checker reports a
//! thread that waits for ever as a deadlock.

#[expect(dead_code, reason = "a part of the crate, compiled once more")]
#[path = "../../src/coordinator.rs"]
mod coordinator;
#[expect(dead_code, unused_imports, reason = "the locks of another model, too")]
#[path = "../../../exec/tests/model/sync.rs"]
mod locks;
#[expect(dead_code, reason = "a part of the crate, compiled once more")]
#[path = "../../src/queue_runner.rs"]
mod queue_runner;
mod session;

/// The checker's locks and threads, under the names that the sources use.
mod sync {
    pub(crate) use crate::locks::{AtomicBool, Condvar, Mutex, Ordering};
    pub(crate) use shuttle::sync::mpsc::{Sender, channel};

    pub(crate) fn spawn(_: String, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        shuttle::thread::spawn(body);
        Ok(())
    }
}

use coordinator::Coordinator;
use millstream_graph::Graph;
use millstream_tensor::{Code, Error};
use queue_runner::QueueRunner;
pub(crate) use session::Callable;
use session::{Session, Store};
use std::sync::Arc;
use std::time::Duration;

/// Tries `schedules` random schedules, and others with few switches.
fn check(schedules: usize, program: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(program, schedules);
    for switches in 1..=4 {
        shuttle::check_pct(program, schedules / 4, switches);
    }
}

/// A session with a queue of this capacity, whose input has `n_inputs` items.
fn session(capacity: usize, n_inputs: usize) -> Session {
    let graph = Graph::with_ops(millstream_ops::registry());
    for name in ["enqueue", "fails", "close", "cancel"] {
        graph.op("NoOp").name(name).finish();
    }
    Session::new(graph, Arc::new(Store::new(capacity, n_inputs)))
}

fn runner(ops: &[&str]) -> QueueRunner {
    QueueRunner::new("q", ops.iter().map(|op| (*op).to_owned()), "close", "cancel")
}

/// Two threads fill a queue until the input ends; everything comes out, then the end.
#[test]
fn the_input_comes_to_its_end() {
    check(3000, || {
        let (session, coordinator) = (session(1, 3), Coordinator::new());
        assert_eq!(runner(&["enqueue", "enqueue"]).start(&session, &coordinator).unwrap(), 2);
        for _ in 0..3 {
            session.store.take().unwrap();
        }
        assert_eq!(session.store.take().unwrap_err().code(), Code::OutOfRange);
        coordinator.request_stop();
        coordinator.join().unwrap();
        assert!(coordinator.running().is_empty());
    });
}

/// The consumer stops early: threads that wait for room are woken and end.
#[test]
fn a_stop_ends_threads_that_wait_for_room() {
    check(3000, || {
        let (session, coordinator) = (session(1, 10), Coordinator::new());
        runner(&["enqueue", "enqueue"]).start(&session, &coordinator).unwrap();
        session.store.take().unwrap();
        coordinator.request_stop();
        // A thread that was called off while it waited says so, or has seen the stop first.
        if let Err(error) = coordinator.join() {
            assert_eq!(error.code(), Code::Cancelled);
        }
        assert!(coordinator.running().is_empty());
    });
}

/// One thread fails: the other ends, the consumer is not left waiting, and the error comes back.
#[test]
fn a_failure_ends_all() {
    check(3000, || {
        let (session, coordinator) = (session(1, 10), Coordinator::new());
        runner(&["enqueue", "fails"]).start(&session, &coordinator).unwrap();
        while session.store.take().is_ok() {}
        let error = coordinator.join().unwrap_err();
        assert!([Code::Internal, Code::Cancelled].contains(&error.code()), "{error}");
        assert!(coordinator.running().is_empty());
    });
}

/// Two threads start the same runner at once: it is started once.
#[test]
fn starting_twice_starts_once() {
    check(3000, || {
        let (session, coordinator, runner) = (session(4, 2), Coordinator::new(), runner(&["enqueue"]));
        let other = {
            let (session, coordinator, runner) = (session.clone(), coordinator.clone(), runner.clone());
            shuttle::thread::spawn(move || runner.start(&session, &coordinator).unwrap())
        };
        let mine = runner.start(&session, &coordinator).unwrap();
        let n_started = mine + other.join().unwrap();
        // The second start finds the first running, or at the end of its input.
        assert!(n_started == 1 || n_started == 2 && session.store.has_read_all(), "{n_started}");
        while session.store.take().is_ok() {}
        coordinator.request_stop();
        coordinator.join().unwrap();
    });
}

/// A stop is heard once by each listener, whenever it comes, and by everybody who waits for it.
#[test]
fn everybody_hears_of_the_stop() {
    check(4000, || {
        let coordinator = Coordinator::new();
        let waits = coordinator.clone();
        coordinator
            .spawn("waits", move || {
                assert!(waits.wait_for_stop(Duration::MAX));
                Err(Error::new(Code::OutOfRange, "the end"))
            })
            .unwrap();
        let stopper = {
            let coordinator = coordinator.clone();
            shuttle::thread::spawn(move || coordinator.request_stop())
        };
        let (tell, told) = shuttle::sync::mpsc::channel();
        coordinator.on_stop(move |_| tell.send(()).unwrap());
        told.recv().unwrap();
        assert!(told.recv().is_err());
        coordinator.join().unwrap();
        stopper.join().unwrap();
    });
}
