//! Much of everything: sessions, threads that share one, and elements that pass through a queue. Resident
//! memory stays flat.
//!
//! `LOAD=100` does a hundred times as much: 100,000 sessions in all, 100 threads with 100,000 runs each, and
//! 10^8 elements. That takes about half an hour.

use millstream::prelude::*;
use millstream::{Code, Queue, SessionOptions};
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::sync::{Mutex, MutexGuard};
use std::thread;

/// Resident memory may grow by as much between a tenth of the work and its end, in bytes: allocators keep
/// some of what was freed.
const SLACK: u64 = 24 << 20;

/// The tests measure the memory of the process, so they run one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// How many times as much to do.
fn load() -> usize {
    std::env::var("LOAD").map_or(1, |n| n.parse().expect("LOAD is a number"))
}

/// The resident memory, in bytes; 0 where it is not known.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).map_or(0, |kib: u64| kib << 10)
}

/// Checks memory at a tenth and at the end of `n` pieces of work.
struct Flat {
    n: usize,
    tenth: u64,
}

impl Flat {
    fn new(n: usize) -> Flat {
        Flat { n, tenth: u64::MAX }
    }

    fn done(&mut self, so_far: usize) {
        if so_far == self.n.div_ceil(10) {
            self.tenth = resident();
        }
        if so_far == self.n {
            let now = resident();
            assert!(now <= self.tenth.saturating_add(SLACK), "{} bytes at a tenth, {now} now", self.tenth);
        }
    }
}

/// A thousand sessions live at once, each with a variable of its own, and end; then again.
#[test]
fn a_thousand_sessions() -> Result<()> {
    let _alone = alone();
    let g = Graph::new();
    let count = g.variable("count", 0i64);
    let five = g.while_loop(g.constant(0i64)).run(|i| i.less(5i64), |i| i + 1i64)?;
    let more = count.assign_add(five);
    let (init, read) = (g.global_variables_initializer(), count.read());
    let rounds = 10 * load().div_ceil(10);
    let mut flat = Flat::new(rounds);
    for round in 1..=rounds {
        let n = if load() == 1 && round > 1 { 100 } else { 1000 };
        let sessions = (0..n).map(|_| Session::new(&g)).collect::<Result<Vec<Session>>>()?;
        for (i, session) in sessions.iter().enumerate() {
            session.run::<()>(init, feed![])?;
            (0..i % 3).try_for_each(|_| session.run::<()>(more, feed![]))?;
        }
        for (i, session) in sessions.iter().enumerate() {
            assert_eq!(
                {
                    let n: i64 = session.run(read, feed![])?;
                    n
                },
                5 * (i % 3) as i64
            );
        }
        flat.done(round);
    }
    Ok(())
}

/// A hundred threads share a session: no update is lost, and every run has its own values.
#[test]
fn a_hundred_threads_share_a_session() -> Result<()> {
    let _alone = alone();
    const THREADS: usize = 100;
    let g = Graph::new();
    let count = g.variable("count", 0i64);
    let n = g.placeholder::<i64>("n", shape![]);
    let (_, sum) =
        g.while_loop((n, g.constant(0i64))).run(|(i, _)| i.greater(0i64), |(i, s)| (i - 1i64, s + i))?;
    let one = count.assign_add(1i64);
    let session =
        Session::with_options(&g, SessionOptions { threads: Some(2), ..SessionOptions::default() })?;
    session.run::<()>(g.global_variables_initializer(), feed![])?;
    let each = 1000 * load();
    let flat = Mutex::new(Flat::new(THREADS * each));
    let n_runs = AtomicU64::new(0);
    thread::scope(|scope| {
        let work = |t: usize| -> Result<()> {
            for i in 0..each {
                let upto = ((t + i) % 20) as i64;
                let (found, ()): (i64, ()) = session.run((sum, one), feed![n => upto])?;
                assert_eq!(found, upto * (upto + 1) / 2);
                let so_far = n_runs.fetch_add(1, AcqRel) + 1;
                flat.lock().unwrap().done(so_far as usize);
            }
            Ok(())
        };
        let threads: Vec<_> = (0..THREADS).map(|t| scope.spawn(move || work(t))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread"))
    })?;
    assert_eq!(
        {
            let n: i64 = session.run(count.read(), feed![])?;
            n
        },
        (THREADS * each) as i64
    );
    Ok(())
}

/// Two producers and two consumers: whatever goes into a queue comes out once, each producer's in order.
#[test]
fn a_million_elements_pass_through_a_queue() -> Result<()> {
    let _alone = alone();
    const BATCH: usize = 500;
    let g = Graph::new();
    let q = Queue::fifo(&g, 4000, [DType::I64]).shapes([shape![]]).build()?;
    let values = g.placeholder::<i64>("values", shape![_]);
    let (put, close) = (q.enqueue_many(values)?, q.close());
    let take = q.dequeue_many(BATCH as i64)?[0];
    let session = Session::new(&g)?;
    let n_batches = 1000 * load();
    let (flat, taken, sum) = (Mutex::new(Flat::new(2 * n_batches)), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| -> Result<()> {
        let produce = |p: usize| -> Result<()> {
            for batch in 0..n_batches {
                let first = (batch * BATCH) as i64;
                // The lowest bit says whose it is.
                let batch: Vec<i64> = (first..first + BATCH as i64).map(|v| 2 * v + p as i64).collect();
                session.run::<()>(put, feed![values => batch])?;
            }
            Ok(())
        };
        let consume = || -> Result<()> {
            let mut last = [-1, -1];
            loop {
                match session.run::<Vec<i64>>(take, feed![]) {
                    Ok(batch) => {
                        for v in &batch {
                            let last = &mut last[(v % 2) as usize];
                            assert!(*last < *v, "{v} comes after {last}");
                            *last = *v;
                        }
                        sum.fetch_add(batch.iter().sum::<i64>() as u64, AcqRel);
                        let so_far = taken.fetch_add(1, AcqRel) + 1;
                        flat.lock().unwrap().done(so_far as usize);
                    }
                    Err(error) if error.code() == Code::OutOfRange => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
        };
        let consumers = [scope.spawn(consume), scope.spawn(consume)];
        let producers = [0, 1].map(|p| scope.spawn(move || produce(p)));
        producers.into_iter().try_for_each(|p| p.join().expect("a thread"))?;
        session.run::<()>(close, feed![])?;
        consumers.into_iter().try_for_each(|c| c.join().expect("a thread"))
    })?;
    let n = (2 * n_batches * BATCH) as u64;
    assert_eq!(taken.load(Acquire), 2 * n_batches as u64);
    assert_eq!(sum.load(Acquire), n * (n - 1) / 2, "the numbers below {n}");
    Ok(())
}
