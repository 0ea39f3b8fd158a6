//! The Hessian of a loss through a loop: the second-order dependence of a trajectory's end on its start and
//! its parameter.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::Derivatives;
use millstream::prelude::*;

/// Returns the Hessian, with respect to `p = [start, rate]`, of the square of the value that logistic growth
/// reaches in `steps` steps.
fn hessian(p: [f64; 2], steps: i32) -> Result<[f64; 4]> {
    let g = Graph::new();
    let params = g.placeholder::<f64>("p", shape![2]);
    let (start, rate) = (params.index(0), params.index(1));
    let (_, x) = g
        .while_loop((g.constant(0), start))
        .run(|(i, _)| i.less(steps), |(i, x)| (i + 1, x + rate * x * (1.0 - x)))?;
    let hessian = g.hessians([x * x], [params])?[0];
    let hessian: Tensor = Session::new(&g)?.run(hessian, feed![params => p])?;
    let mut entries = [0.0; 4];
    entries.copy_from_slice(hessian.as_slice()?);
    Ok(entries)
}

fn main() -> Result<()> {
    println!("{:?}", hessian([0.1, 0.3], 10)?);
    Ok(())
}

#[test]
fn it_is_the_second_difference() -> Result<()> {
    let f = |start: f64, rate: f64| (0..10).fold(start, |x, _| x + rate * x * (1.0 - x)).powi(2);
    let (s, r, e) = (0.1, 0.3, 1e-4);
    let mixed = (f(s + e, r + e) - f(s + e, r - e) - f(s - e, r + e) + f(s - e, r - e)) / (4.0 * e * e);
    let want = [
        (f(s + e, r) - 2.0 * f(s, r) + f(s - e, r)) / (e * e),
        mixed,
        mixed,
        (f(s, r + e) - 2.0 * f(s, r) + f(s, r - e)) / (e * e),
    ];
    for (got, want) in hessian([s, r], 10)?.into_iter().zip(want) {
        assert!((got - want).abs() < 1e-5 * want.abs().max(1.0), "got {got}, want {want}");
    }
    Ok(())
}
