//! The largest eigenvalue by power iteration, with overlapping iterations where the data allows it.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;

/// Returns the largest eigenvalue of a symmetric matrix after `steps` steps.
fn largest_eigenvalue(matrix: [[f64; 3]; 3], steps: i32, parallel_iterations: i64) -> Result<f64> {
    let g = Graph::new();
    let a = g.constant(matrix);
    let start = g.constant([[1.0f64], [1.0], [1.0]]);
    let (_, v) = g.while_loop((g.constant(0), start)).parallel_iterations(parallel_iterations).run(
        |(i, _)| i.less(steps),
        |(i, v)| {
            let w = a.matmul(v);
            (i + 1, w / w.square().reduce_sum(()).sqrt())
        },
    )?;
    // Rayleigh's quotient; `v` has length one.
    let value = (v * a.matmul(v)).reduce_sum(());
    Session::new(&g)?.run(value, feed![])
}

fn main() -> Result<()> {
    println!("{}", largest_eigenvalue(MATRIX, 100, 10)?);
    Ok(())
}

/// A matrix with the eigenvalues 1, 2 and 4.
const MATRIX: [[f64; 3]; 3] = [[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 1.0]];

#[test]
fn any_number_of_parallel_iterations_gives_the_same_bits() -> Result<()> {
    let one = largest_eigenvalue(MATRIX, 100, 1)?;
    assert!((one - 4.0).abs() < 1e-12, "{one}");
    for n in [2, 10, 32] {
        assert_eq!(largest_eigenvalue(MATRIX, 100, n)?.to_bits(), one.to_bits());
    }
    Ok(())
}
