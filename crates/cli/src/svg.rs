//! `millstream svg`: draws a graph without any other program.

use crate::failure::Outcome;
use crate::load;
use clap::Args;
use millstream::graph::picture::PictureOptions;
use std::io::{self, Write};
use std::path::PathBuf;

/// Draw a graph as a picture in SVG
///
/// A box around every loop and every branch of a cond, nested as they are; colours and lines mean what they mean in `dot`, and a legend says
/// it. Needs no Graphviz, and browsers show the picture as it is, with the full name of what the mouse is over. Of large graphs name scopes are
/// folded into one box each, and the picture says how many nodes they hold.
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
    /// The graph file, - for the standard input, or the folder of a SavedModel
    graph: PathBuf,

    /// Draw only what has names in this scope
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,

    /// The most boxes to be seen; of graphs with more nodes, scopes are folded
    #[arg(long, value_name = "N", default_value_t = PictureOptions::default().limit)]
    limit: usize,
}

pub(crate) fn run(options: Options) -> Outcome {
    let graph = load::import(&load::file(&options.graph, None)?, None)?;
    let how = PictureOptions { limit: options.limit, scope: options.scope };
    let text = graph.read(|g| millstream::graph::svg(g, &how))?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
