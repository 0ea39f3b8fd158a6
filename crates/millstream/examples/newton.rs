//! Square roots by Newton's method: a loop that ends when its value no longer changes.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;

/// Returns the roots, and the number of steps of the slowest.
fn square_roots(of: &[f64]) -> Result<(Vec<f64>, i32)> {
    let g = Graph::new();
    let a = g.placeholder::<f64>("a", shape![_]);
    let (x, _, n) = g.while_loop((a, a + 1.0, g.constant(0))).maximum_iterations(100).run(
        |(x, before, _)| g.reduce_any((x - before).abs().greater(before * 1e-15), ()),
        |(x, _, n)| ((x + a / x) * 0.5, x, n + 1),
    )?;
    Session::new(&g)?.run((x, n), feed![a => of])
}

fn main() -> Result<()> {
    let (roots, n) = square_roots(&[2.0, 9.0, 1e6])?;
    println!("{roots:?} after {n} steps");
    Ok(())
}

#[test]
fn roots_are_roots() -> Result<()> {
    let (roots, n) = square_roots(&[2.0, 9.0, 1e6])?;
    for (root, square) in roots.iter().zip([2.0, 9.0, 1e6]) {
        assert!((root * root - square).abs() <= 1e-12 * square, "{root}");
    }
    assert!(n < 30, "{n} steps");
    Ok(())
}
