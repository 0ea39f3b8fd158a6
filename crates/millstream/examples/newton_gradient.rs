//! A Newton solver differentiated through its loop, whose length depends on the data.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;

/// Returns the root of `x³ + a·x - b`, and its first and second derivatives with respect to `a` and `b`.
fn root(a: f64, b: f64) -> Result<[f64; 4]> {
    let g = Graph::new();
    let (pa, pb) = (g.placeholder::<f64>("a", shape![]), g.placeholder::<f64>("b", shape![]));
    let (x, _) = g.while_loop((g.constant(1.0f64), g.constant(1.0f64))).maximum_iterations(50).run(
        |(_, change)| change.abs().greater(1e-13),
        |(x, _)| {
            let change = (x * x * x + pa * x - pb) / (x * x * 3.0 + pa);
            (x - change, change)
        },
    )?;
    let d = g.gradients([x], [pa, pb]).dense()?;
    let dd = g.gradients([d[1]], [pb]).dense()?[0];
    let (x, da, db, dbb) = Session::new(&g)?.run((x, d[0], d[1], dd), feed![pa => a, pb => b])?;
    Ok([x, da, db, dbb])
}

fn main() -> Result<()> {
    let [x, da, db, dbb] = root(2.0, 5.0)?;
    println!("x = {x}, dx/da = {da}, dx/db = {db}, d²x/db² = {dbb}");
    Ok(())
}

#[test]
fn it_is_what_the_implicit_function_theorem_says() -> Result<()> {
    let [x, da, db, dbb] = root(2.0, 5.0)?;
    let slope = 3.0 * x * x + 2.0;
    assert!((x * x * x + 2.0 * x - 5.0).abs() < 1e-12);
    for (got, want) in [(da, -x / slope), (db, 1.0 / slope), (dbb, -6.0 * x / slope.powi(3))] {
        assert!((got - want).abs() < 1e-9, "got {got}, want {want}");
    }
    Ok(())
}
