//! `millstream svg`: draws a graph without any other program.

use crate::failure::Outcome;
use crate::load::Limits;
use crate::plain::plain;
use clap::Args;
use millstream::engine::graph::picture::PictureOptions;
use std::io::{self, Write};
use std::path::PathBuf;

/// Draw a graph as an SVG picture
///
/// Draws a box around every loop and every branch of a cond, nested as they are. Colours and lines mean the
/// same as in `dot`, and a legend explains them. Graphviz is not needed, and any browser shows the picture,
/// with the full name of the node under the mouse. In large graphs name scopes are folded into one box each,
/// which shows the number of its nodes.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  millstream svg model.pb > model.svg
  millstream svg model.pb --scope rnn/while > loop.svg
  millstream svg model.pb --limit 2000 > more.svg"
)]
pub(crate) struct Options {
    /// The graph file, - for standard input, or the folder of a SavedModel
    graph: PathBuf,

    /// Draw only the nodes whose names are in this scope [default: the whole graph]
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,

    /// The largest number of boxes; scopes of larger graphs are folded
    #[arg(long, value_name = "N", default_value_t = PictureOptions::default().limit)]
    limit: usize,

    #[command(flatten)]
    limits: Limits,
}

pub(crate) fn run(options: Options) -> Outcome {
    let Options { graph, scope, limit, limits } = options;
    let draw = move || {
        let graph = limits.import(&limits.read(&graph)?)?;
        Ok(graph.read(|g| millstream::engine::graph::svg(g, &PictureOptions { limit, scope }))?)
    };
    let text = limits.within("drawing the graph", draw)?;
    let mut out = io::stdout().lock();
    out.write_all(plain(&text).as_bytes())?;
    Ok(out.flush()?)
}
