//! Stress tests: many iterations, nested loops, nodes and concurrent runs. Memory must not grow with the
//! number of iterations; the peak is printed.
//!
//! `MILLSTREAM_STRESS=1` runs several times as many of each, meant for the release profile.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream_graph::{Graph, Output};
use millstream_runtime::{RunOptions, Session, SessionOptions, Tier, feed};
use millstream_tensor::{Code, DType, PartialShape, Result, Tensor};
use std::time::{Duration, Instant};

fn more() -> bool {
    std::env::var_os("MILLSTREAM_STRESS").is_some()
}

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

/// A figure of the process in KiB: `VmHWM` is its peak memory, `VmRSS` its current memory.
fn kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with(name));
    line.and_then(|l| l.split_whitespace().nth(1)).and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn session(graph: &Graph, threads: usize) -> Session {
    let options = SessionOptions { threads: Some(threads), ..SessionOptions::default() };
    Session::with_options(graph, options).unwrap()
}

/// Counts to `n`, with a float beside the counter.
fn counter<'g>(g: &'g Graph, n: Output<'g>) -> Result<Vec<Output<'g>>> {
    let zero = g.constant_tensor("zero", Tensor::scalar(0i32));
    let x = g.constant_tensor("x", Tensor::scalar(1.0f32));
    g.while_loop(vec![zero, x]).run(
        |v: Vec<Output<'g>>| g.op("Less").input(v[0]).input(n).output(),
        |v: Vec<Output<'g>>| {
            let x = g.op("Mul").input(v[1]).input(0.5f32).output();
            vec![
                g.op("AddV2").input(v[0]).input(1i32).output(),
                g.op("AddV2").input(x).input(1.0f32).output(),
            ]
        },
    )
}

fn scalar<'g>(g: &'g Graph, name: &str) -> Output<'g> {
    g.placeholder_of(name, DType::I32, PartialShape::scalar())
}

/// The tests measure the memory of the whole process, so they run one after another.
#[test]
fn stress() {
    long_loop();
    deep_frames();
    many_nodes();
    many_runs();
    println!("peak memory of all: {} MiB", kib("VmHWM") / 1024);
}

fn long_loop() {
    let g = graph();
    let n = scalar(&g, "n");
    let out = counter(&g, n).unwrap();
    for threads in [1, 2] {
        let trips: i32 = if threads == 1 || more() { 10_000_000 } else { 1_000_000 };
        let session = session(&g, threads);
        let _: (i32, f32) = session.run((out[0], out[1]), feed![n => 1000]).unwrap();
        let before = kib("VmHWM");
        let start = Instant::now();
        let (i, x): (i32, f32) = session.run((out[0], out[1]), feed![n => trips]).unwrap();
        let grown = kib("VmHWM").saturating_sub(before);
        assert_eq!((i, x), (trips, 2.0));
        println!("{trips} iterations on {threads} threads: {:?}, {grown} KiB more", start.elapsed());
        assert!(grown < 4096, "a loop of {trips} iterations took {grown} KiB more than one of 1000");
    }
}

/// Nested loops, `depth` deep with `n` iterations each. Returns how often the innermost body ran.
fn nest<'g>(g: &'g Graph, depth: usize, n: Output<'g>, count: Output<'g>) -> Result<Output<'g>> {
    if depth == 0 {
        return Ok(g.op("AddV2").input(count).input(1i32).output());
    }
    let zero = g.constant_tensor("zero", Tensor::scalar(0i32));
    let out = g.while_loop(vec![zero, count]).run(
        |v: Vec<Output<'g>>| g.op("Less").input(v[0]).input(n).output(),
        |v: Vec<Output<'g>>| -> Result<Vec<Output<'g>>> {
            let next = g.op("AddV2").input(v[0]).input(1i32).output();
            Ok(vec![next, nest(g, depth - 1, n, v[1])?])
        },
    )?;
    Ok(out[1])
}

fn deep_frames() {
    let g = graph();
    let n = scalar(&g, "n");
    let zero = g.constant_tensor("count", Tensor::scalar(0i32));
    let count = nest(&g, 4, n, zero).unwrap();
    let trips: i32 = if more() { 40 } else { 20 };
    for threads in [1, 2] {
        let session = session(&g, threads);
        let _: i32 = session.run(count, feed![n => 5]).unwrap();
        let before = kib("VmHWM");
        let start = Instant::now();
        let got: i32 = session.run(count, feed![n => trips]).unwrap();
        let grown = kib("VmHWM").saturating_sub(before);
        assert_eq!(got, trips.pow(4));
        println!(
            "{trips}^4 iterations four deep on {threads} threads: {:?}, {grown} KiB more",
            start.elapsed()
        );
        assert!(grown < 4096, "{grown} KiB more");
    }
}

fn many_nodes() {
    let g = graph();
    let n = scalar(&g, "n");
    let count = if more() { 2_000_000 } else { 500_000 };
    let start = Instant::now();
    let mut x = n;
    for _ in 0..count {
        x = g.op("Identity").input(g.op("Neg").input(x).output()).output();
    }
    let built = start.elapsed();
    let session = session(&g, 2);
    let start = Instant::now();
    let first: i32 = session.run(x, feed![n => 3]).unwrap();
    let planned = start.elapsed();
    let start = Instant::now();
    let second: i32 = session.run(x, feed![n => 4]).unwrap();
    assert_eq!((first, second), (3, 4));
    println!(
        "{} nodes in a chain: built in {built:?}, first run {planned:?}, second {:?}; {} MiB now",
        2 * count,
        start.elapsed(),
        kib("VmRSS") / 1024
    );
}

fn many_runs() {
    let g = graph();
    let n = scalar(&g, "n");
    let out = counter(&g, n).unwrap();
    let session = session(&g, 2);
    let (threads, each) = if more() { (1000, 10) } else { (1000, 1) };
    let start = Instant::now();
    std::thread::scope(|scope| {
        let session = &session;
        let run = |k: i32| {
            for r in 0..each {
                let want = 10 + k + r;
                let (i, _): (i32, f32) = session.run((out[0], out[1]), feed![n => want]).unwrap();
                assert_eq!(i, want);
            }
        };
        let handles: Vec<_> = (0..threads)
            .map(|k| {
                std::thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, move || run(k)).unwrap()
            })
            .collect();
        for handle in handles {
            handle.join().unwrap();
        }
    });
    println!("{} runs on {threads} threads: {:?}", threads * each, start.elapsed());
}

/// A loop that never ends.
fn endless(g: &Graph) -> Output<'_> {
    let zero = g.constant_tensor("zero", Tensor::scalar(0i32));
    let out = g.while_loop(vec![zero]).run(
        |v: Vec<Output<'_>>| g.op("GreaterEqual").input(v[0]).input(v[0]).output(),
        |v: Vec<Output<'_>>| vec![g.op("BitwiseXor").input(v[0]).input(1i32).output()],
    );
    out.unwrap()[0]
}

#[test]
fn a_timeout_ends_an_endless_loop() {
    let g = graph();
    let out = endless(&g);
    for (threads, tier) in [(1, Tier::Dataflow), (2, Tier::Dataflow), (1, Tier::Reference)] {
        let options = SessionOptions { threads: Some(threads), tier, ..SessionOptions::default() };
        let session = Session::with_options(&g, options).unwrap();
        let options = RunOptions { timeout: Some(Duration::from_millis(50)), ..RunOptions::default() };
        let start = Instant::now();
        let error = session.run_with::<i32>(out, (), &options).unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded);
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_timeout_ends_a_run_whatever_its_threads_do_just_then() {
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let g = graph();
        let out = endless(&g);
        let options = SessionOptions { threads: Some(2), hand_out_all: true, ..SessionOptions::default() };
        let session = Session::with_options(&g, options).unwrap();
        for i in 0..1000 {
            let timeout = Some(Duration::from_micros(100 + i));
            let options = RunOptions { timeout, ..RunOptions::default() };
            let error = session.run_with::<i32>(out, (), &options).unwrap_err();
            assert_eq!(error.code(), Code::DeadlineExceeded);
        }
        done.send(()).unwrap();
    });
    ended.recv_timeout(Duration::from_secs(60)).expect("a run never ended, or failed otherwise");
}

#[test]
fn closing_the_session_ends_an_endless_loop() {
    let g = graph();
    let out = endless(&g);
    for threads in [1, 2] {
        let session = session(&g, threads);
        std::thread::scope(|scope| {
            let run = scope.spawn(|| session.run::<i32>(out, ()).unwrap_err());
            std::thread::sleep(Duration::from_millis(50));
            session.close();
            assert_eq!(run.join().unwrap().code(), Code::Cancelled);
        });
    }
}
