//! Runs a graph file that TensorFlow wrote: what is fed and fetched has names.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::interop::{ImportOptions, import_graph_def, read_graph};
use millstream::prelude::*;

/// The Collatz sequence as a `while_loop` with a `cond` in it, written by TensorFlow 1.15.
const COLLATZ: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/collatz.pb");

/// Returns the number of steps from `n` to 1, and the largest number on the way.
fn collatz(file: &str, n: i64) -> Result<(i32, i64)> {
    let bytes = std::fs::read(file).map_err(|e| Error::invalid(format!("{file}: {e}")))?;
    let g = Graph::new();
    import_graph_def(&g, read_graph(&bytes)?.graph_def()?, &ImportOptions::default())?;
    Session::new(&g)?.run(("while/Exit_1:0", "while/Exit_2:0"), feed!["n:0" => n])
}

fn main() -> Result<()> {
    let file = std::env::args().nth(1).unwrap_or_else(|| COLLATZ.to_owned());
    let (steps, largest) = collatz(&file, 27)?;
    println!("{steps} steps, and {largest} on the way");
    Ok(())
}

#[test]
fn the_sequence_from_27() -> Result<()> {
    assert_eq!(collatz(COLLATZ, 27)?, (111, 9232));
    Ok(())
}

#[test]
fn a_slip_in_a_name_is_named() -> Result<()> {
    let bytes = std::fs::read(COLLATZ).expect("the file is there");
    let g = Graph::new();
    import_graph_def(&g, read_graph(&bytes)?.graph_def()?, &ImportOptions::default())?;
    let error = Session::new(&g)?.run::<i64>("while/Exlt_2:0", feed!["n:0" => 27i64]).unwrap_err();
    assert!(error.to_string().contains("`while/Exit_2`"), "{error}");
    Ok(())
}
