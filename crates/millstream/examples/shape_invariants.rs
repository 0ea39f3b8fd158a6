//! A loop variable that grows: its shape invariant leaves the growing dimension open.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;

/// Concatenates a 2 x 2 matrix with itself ten times. Returns the invariant that the graph knows, and the
/// result.
fn doubling() -> Result<(String, Tensor)> {
    let g = Graph::new();
    let (_, m) = g
        .while_loop((g.constant(0), g.ones::<f32>([2, 2])))
        .shape_invariants((shape![], shape![_, 2]))
        .run(|(i, _)| i.less(10), |(i, m)| (i + 1, g.concat(0, [m, m])))?;
    Ok((m.shape().to_string(), Session::new(&g)?.run(m, feed![])?))
}

/// Without the invariant the graph refuses the loop.
fn refused() -> Result<()> {
    let g = Graph::new();
    let vars = (g.constant(0), g.ones::<f32>([2, 2]));
    g.while_loop(vars).run(|(i, _)| i.less(10), |(i, m)| (i + 1, g.concat(0, [m, m])))?;
    Ok(())
}

fn main() -> Result<()> {
    let (known, m) = doubling()?;
    println!("the graph knows f32{known}, the run gave {}{}", m.dtype(), m.shape());
    if let Err(error) = refused() {
        println!("without an invariant:\n{error}");
    }
    Ok(())
}

#[test]
fn the_matrix_doubles_ten_times() -> Result<()> {
    let (known, m) = doubling()?;
    assert_eq!(known, "[?,2]");
    assert_eq!(m.shape().dims(), [2048, 2]);
    assert!(refused().is_err());
    Ok(())
}
