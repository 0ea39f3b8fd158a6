//! `millstream dot`: draws a graph.

use crate::failure::Outcome;
use crate::load;
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;

/// Draw a graph, in the language of Graphviz
///
/// A box around every loop and every branch of a cond, nested as they are; solid edges carry values and show their types, dashed ones
/// only order, bold ones lead back to the start of the loop, dotted ones tell a Switch which way to go. Functions of the graph are drawn written out.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  millstream dot model.pb | dot -Tsvg > model.svg
  millstream dot model.pb | dot -Tpng -o model.png"
)]
pub(crate) struct Options {
    /// The graph file, - for the standard input, or the folder of a SavedModel
    graph: PathBuf,
}

pub(crate) fn run(options: Options) -> Outcome {
    let graph = load::import(&load::file(&options.graph, None)?, None)?;
    let text = graph.read(millstream::graph::dot)?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
