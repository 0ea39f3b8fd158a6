//! A branch: only the side that is taken runs.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;

/// `if x < y { x + y } else { x / 0 }`: the division by zero is an error only where it runs.
fn guarded(x: i32, y: i32) -> Result<i32> {
    let g = Graph::new();
    let (a, b) = (g.placeholder::<i32>("a", shape![]), g.placeholder::<i32>("b", shape![]));
    let result = g.cond(a.less(b), || a + b, || a.floor_div(g.constant(0)))?;
    Session::new(&g)?.run(result, feed![a => x, b => y])
}

fn main() -> Result<()> {
    println!("{}", guarded(2, 5)?);
    if let Err(error) = guarded(5, 2) {
        println!("{error}");
    }
    Ok(())
}

#[test]
fn the_other_branch_does_not_run() -> Result<()> {
    assert_eq!(guarded(2, 5)?, 7);
    assert!(guarded(5, 2).is_err());
    Ok(())
}
