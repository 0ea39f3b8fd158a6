//! Two loop variables, one independent of the other: the counter may run ahead of the data but never behind
//! it, and fetching only the counter never computes the data.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;
use millstream::{RunOptions, SessionOptions};
use std::sync::{Arc, Mutex, PoisonError};

const N: i32 = 10_000;

/// The lines that a run printed, and the number of its additions to `x`.
struct Seen {
    lines: Vec<String>,
    x_additions: usize,
}

/// Runs `while i < n { i += 1; x += 1 }`, printing both, and fetches `x` or only `i`.
fn run(fetch_x: bool, n: i32) -> Result<(Tensor, Seen)> {
    let g = Graph::new();
    let start = g.constant((0..n).collect::<Vec<i32>>());
    let (i, x) = g.while_loop((g.constant(0), start)).run(
        |(i, _)| i.less(n),
        |(i, x)| (g.print(i + 1, [i], ""), g.print(g.named("grow").math().add_v2(x, 1), [i], "x:")),
    )?;

    let lines = Arc::new(Mutex::new(Vec::new()));
    let shown = Arc::clone(&lines);
    let keep = move |line: &str| {
        shown.lock().unwrap_or_else(PoisonError::into_inner).push(line.trim_end().to_owned())
    };
    let options = SessionOptions { print: Some(Box::new(keep)), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    let traced = RunOptions { trace: true, ..RunOptions::default() };
    let (value, meta) = session.run_with(if fetch_x { x } else { i }, feed![], &traced)?;
    let events = meta.trace.map(|trace| trace.events).unwrap_or_default();
    let x_additions = events.iter().filter(|e| e.node.ends_with("grow") && !e.dead).count();
    let lines = lines.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((value, Seen { lines, x_additions }))
}

fn main() -> Result<()> {
    let (i, seen) = run(false, N)?;
    println!("i = {i}: {} lines, {} additions to x", seen.lines.len(), seen.x_additions);
    let (x, seen) = run(true, N)?;
    println!("x = {x}: {} lines, {} additions to x", seen.lines.len(), seen.x_additions);
    Ok(())
}

#[test]
fn fetching_the_counter_never_runs_x() -> Result<()> {
    let (i, seen) = run(false, N)?;
    assert_eq!(i.to_scalar::<i32>()?, N);
    assert_eq!(seen.x_additions, 0);
    assert_eq!(seen.lines.len(), N as usize);
    assert_eq!(seen.lines.first().map(String::as_str), Some("[0]"));
    Ok(())
}

#[test]
fn x_never_gets_ahead_of_the_counter() -> Result<()> {
    let n = 300;
    let (x, seen) = run(true, n)?;
    assert_eq!(x.as_slice::<i32>()?, (n..2 * n).collect::<Vec<_>>());
    assert_eq!(seen.x_additions, n as usize);
    // `x:` lines are in order, each after the counter's line of the previous iteration.
    let mut counted = 0;
    let mut grown = 0;
    for line in &seen.lines {
        match line.strip_prefix("x:") {
            Some(at) => {
                assert_eq!(at, format!("[{grown}]"));
                assert!(grown <= counted, "x is in iteration {grown}, the counter has shown {counted}");
                grown += 1;
            }
            None => counted += 1,
        }
    }
    assert_eq!((counted, grown), (n, n));
    Ok(())
}
