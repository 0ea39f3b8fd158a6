//! `millstream dot`: draws a graph in the DOT language.

use crate::failure::Outcome;
use crate::load::Limits;
use crate::plain::plain;
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;

/// Draw a graph in the DOT language of Graphviz
///
/// Draws a box around every loop and every branch of a cond, nested as they are. Solid edges carry values and
/// show their types, dashed edges are control edges, bold edges lead back to the start of a loop, and dotted
/// edges carry the predicate of a Switch. Functions are drawn expanded.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  millstream dot model.pb | dot -Tsvg > model.svg
  millstream dot model.pb | dot -Tpng -o model.png"
)]
pub(crate) struct Options {
    /// The graph file, - for standard input, or the folder of a SavedModel
    graph: PathBuf,

    #[command(flatten)]
    limits: Limits,
}

pub(crate) fn run(options: Options) -> Outcome {
    let Options { graph, limits } = options;
    let draw = move || Ok(limits.import(&limits.read(&graph)?)?.read(millstream::engine::graph::dot)?);
    let text = limits.within("drawing the graph", draw)?;
    let mut out = io::stdout().lock();
    out.write_all(plain(&text).as_bytes())?;
    Ok(out.flush()?)
}
