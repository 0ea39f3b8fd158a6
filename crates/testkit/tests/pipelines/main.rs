//! Random input pipelines: a source, queues between runners with several threads, a bucket, and consumers. An
//! operation may fail somewhere, something may close or stop the pipeline at a random moment, and runs of
//! consumers may be cancelled.
//!
//! Whatever happens, nothing hangs, no thread is left, no attempt waits that could be served, the output is
//! right, and every element is accounted for: it came out, is in one of the queues, was dropped and counted,
//! or was in a run that failed or was cancelled. Elements are distinct numbers and are tracked one by one;
//! the counts that the queues keep must agree.
//!
//! `MILLSTREAM_STRESS=1` runs twenty times as many; `MILLSTREAM_SEED=n` runs one.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

mod judge;
mod pipeline;

use judge::Ends;
use pipeline::Pipeline;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// The number of pipelines.
const MANY: u64 = 5000;

/// The time limit of a pipeline. It is far above what any pipeline needs, since the machine may be loaded.
const LONGEST: Duration = Duration::from_secs(60);

#[test]
fn pipelines() {
    let threads_before = n_threads();
    let seeds = match std::env::var("MILLSTREAM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None if std::env::var_os("MILLSTREAM_STRESS").is_some() => 0..20 * MANY,
        None => 0..MANY,
    };
    let n = seeds.end - seeds.start;
    let begin = Instant::now();
    // Two pipelines run at a time: they wait more than they work.
    let (next, ends) = (Arc::new(Mutex::new(seeds)), Arc::new(Mutex::new(Ends::default())));
    let (told, tells) = mpsc::channel();
    for _ in 0..2 {
        let (next, ends, told) = (next.clone(), ends.clone(), told.clone());
        std::thread::spawn(move || {
            while let Some(seed) = { next.lock().unwrap().next() } {
                told.send((seed, None)).unwrap();
                let end = std::panic::catch_unwind(|| {
                    Pipeline::new(seed).run().map_err(|error| error.to_string())?
                });
                let end = end.unwrap_or_else(|panic| {
                    Err(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "it panicked".into()))
                });
                if let Ok(end) = &end {
                    ends.lock().unwrap().add(end);
                }
                told.send((seed, Some(end.map(|_| ())))).unwrap();
            }
        });
    }
    drop(told);
    let mut running: Vec<(u64, Instant)> = Vec::new();
    loop {
        match tells.recv_timeout(Duration::from_secs(1)) {
            Ok((seed, None)) => running.push((seed, Instant::now())),
            Ok((seed, Some(result))) => {
                running.retain(|(other, _)| *other != seed);
                if let Err(error) = result {
                    panic!("pipeline {seed}: {error}");
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        for (seed, since) in &running {
            assert!(since.elapsed() < LONGEST, "pipeline {seed} hangs");
        }
    }
    let ends = ends.lock().unwrap();
    println!("{n} pipelines in {:.1?}: {ends:?}", begin.elapsed());
    if n >= MANY {
        // All kinds of ends must be frequent, or the generator tests less than it claims.
        for count in
            [ends.whole, ends.failed, ends.stopped, ends.dropped, ends.out, ends.called_off, ends.lost]
        {
            assert!(count >= MANY as usize / 20, "{ends:?}");
        }
    }
    // Threads of dropped pools end by themselves, soon.
    let begin = Instant::now();
    while n_threads() > threads_before {
        assert!(begin.elapsed() < LONGEST, "{:?} threads, and {threads_before:?} before", n_threads());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The number of threads of the process, where it can be determined.
fn n_threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}
