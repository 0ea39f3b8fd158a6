//! The smallest loop: counts to ten.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;

/// `i = 0; while i < 10 { i += 1 }`
fn counter() -> Result<i32> {
    let g = Graph::new();
    let i = g.while_loop(g.constant(0)).run(|i| i.less(10), |i| i + 1)?;
    Session::new(&g)?.run(i, feed![])
}

fn main() -> Result<()> {
    println!("{}", counter()?);
    Ok(())
}

#[test]
fn counts_to_ten() -> Result<()> {
    assert_eq!(counter()?, 10);
    Ok(())
}
