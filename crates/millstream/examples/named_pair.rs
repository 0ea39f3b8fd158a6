//! Loop variables of a user-defined structure: a number and a named pair.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;

#[derive(Nest)]
struct Pair<'g> {
    j: Output<'g>,
    k: Output<'g>,
}

/// Computes `(j, k) = (j + k, j - k)` ten times, starting at `(1, 2)`.
fn sums_and_differences() -> Result<(i32, i32, i32)> {
    let g = Graph::new();
    let start = Pair { j: g.constant(1), k: g.constant(2) };
    let (i, pair) = g
        .while_loop((g.constant(0), start))
        .run(|(i, _)| i.less(10), |(i, p)| (i + 1, Pair { j: p.j + p.k, k: p.j - p.k }))?;
    Session::new(&g)?.run((i, pair.j, pair.k), feed![])
}

fn main() -> Result<()> {
    let (i, j, k) = sums_and_differences()?;
    println!("after {i} iterations: j = {j}, k = {k}");
    Ok(())
}

#[test]
fn two_iterations_double_both() -> Result<()> {
    assert_eq!(sums_and_differences()?, (10, 32, 64));
    Ok(())
}
