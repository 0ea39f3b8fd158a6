//! Looking inside loops: all iterates of Newton's method, and the place where a gradient becomes NaN.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;
use millstream::{RunOptions, Sighting, Watch, every};
use std::cell::Cell;

/// Returns the iterates of Newton's method for the square root of `a`.
fn iterates(a: f64) -> Result<Vec<f64>> {
    let g = Graph::new();
    // A value named in the body can be found by its name outside.
    let inner = Cell::new(None);
    g.while_loop((g.constant(a), g.constant(f64::INFINITY))).run(
        |(x, before)| (x - before).abs().greater(1e-12),
        |(x, _)| {
            let next = (x + a / x) * 0.5;
            inner.set(Some(next));
            (next, x)
        },
    )?;
    let Some(next) = inner.get() else { return Ok(Vec::new()) };
    Session::new(&g)?.run(every(next), feed![])
}

/// Returns the distance of a moving point from the origin, summed over `n` steps, and its gradient with
/// respect to the start. The distance is finite everywhere, but at the origin the norm has no gradient: its
/// formula multiplies infinity by zero.
fn falling(start: [f32; 2], n: i32, options: &RunOptions) -> Result<(f32, Vec<f32>)> {
    let g = Graph::new();
    let p = g.placeholder::<f32>("p", shape![2]);
    let (.., distance) = g.while_loop((g.constant(0), p, g.constant(0.0f32))).run(
        |(i, ..)| i.less(n),
        |(i, p, distance)| {
            let norm = g.reduce_sum(p * p, ()).sqrt();
            (i + 1, p - 1.0, distance + norm)
        },
    )?;
    let gradient = g.gradients([distance], [p]).dense()?[0];
    let (values, _) = Session::new(&g)?.run_with((distance, gradient), feed![p => start], options)?;
    Ok(values)
}

/// Returns the place of the first NaN, if there is one.
fn first_nan(start: [f32; 2], n: i32) -> Result<Option<Error>> {
    let options = RunOptions { watch: vec![Watch::all().nan()], ..RunOptions::default() };
    match falling(start, n, &options) {
        Ok(_) => Ok(None),
        Err(error) if Sighting::of(&error).is_some() => Ok(Some(error)),
        Err(error) => Err(error),
    }
}

fn main() -> Result<()> {
    for (i, x) in iterates(2.0)?.iter().enumerate() {
        println!("iterate {i}: {x}");
    }
    println!("distance and gradient: {:?}", falling([3.0, 3.0], 5, &RunOptions::default())?);
    if let Some(error) = first_nan([3.0, 3.0], 5)? {
        println!("{error}");
    }
    Ok(())
}

#[test]
fn newton_is_seen_on_its_way() -> Result<()> {
    let all = iterates(2.0)?;
    assert_eq!((all[0], all[1]), (1.5, (1.5 + 2.0 / 1.5) * 0.5));
    assert!((all[all.len() - 1] - 2f64.sqrt()).abs() < 1e-15);
    Ok(())
}

#[test]
fn the_first_nan_is_found_where_it_is_made() -> Result<()> {
    assert!(first_nan([3.0, 3.0], 3)?.is_none());
    // The point is at the origin in iteration 3 of 0 to 4; the gradient's loop runs backward from 4.
    let error = first_nan([3.0, 3.0], 5)?.expect("a NaN");
    let found = Sighting::of(&error).expect("a sighting");
    assert_eq!((found.loops.len(), found.loops[0].1), (1, 1), "{error}");
    assert!(found.node.starts_with("gradients/") && found.value.has_nan(), "{error}");
    Ok(())
}
