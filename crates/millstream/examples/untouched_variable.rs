//! A variable of the session as the initial value of a loop, and a loop variable that no iteration changes.
//! Can also write the graph to a file, for `millstream dot`: `cargo run --example untouched_variable --
//! loop.pb`.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::interop::export_graph_def;
use millstream::prelude::*;

/// Returns the graph and its fetches: `v1 = ii + 3`, `v2 = nn + 4`, and the initializer.
fn build(g: &Graph) -> Result<(Output<'_>, Output<'_>, Op<'_>)> {
    let i = g.variable("i", 1);
    let n = g.constant(10);
    let (ii, nn) = g.while_loop((i.read(), n)).run(|(a, n)| a.less(n), |(a, n)| (a + 2, n))?;
    Ok((ii + 3, nn + 4, g.global_variables_initializer()))
}

fn values() -> Result<(i32, i32)> {
    let g = Graph::new();
    let (v1, v2, init) = build(&g)?;
    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    session.run((v1, v2), feed![])
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (v1, v2) = values()?;
    println!("v1 = {v1}, v2 = {v2}");
    if let Some(path) = std::env::args().nth(1) {
        let g = Graph::new();
        build(&g)?;
        std::fs::write(path, millstream::interop::proto::encode(&export_graph_def(&g)?))?;
    }
    Ok(())
}

#[test]
fn the_loop_steps_over_ten() -> Result<()> {
    assert_eq!(values()?, (14, 14));
    Ok(())
}
