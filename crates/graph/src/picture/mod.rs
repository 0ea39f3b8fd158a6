//! [`Picture`]: a graph as an SVG picture, which needs no other program, no script and no download.
//!
//! Each node is a box. The nodes of a loop, or of a branch of a cond, are inside a box of their own, nested
//! as in the graph. Colours and lines have the same meaning as in [`dot`](crate::dot()), and a legend
//! explains them. Each box with others inside is laid out by itself, and counts as one box in the layout
//! around it: `model` decides what is shown, `layers` lays out one box, `nested` combines the layouts, `draw`
//! writes the SVG.
//!
//! The [layered layout](https://en.wikipedia.org/wiki/Layered_graph_drawing) (Sugiyama) is our own. The Rust
//! crates that implement it return positions of boxes, but neither bends of lines nor boxes within boxes, and
//! lines from outside a box need both.

mod draw;
mod layers;
mod model;
mod nested;
mod text;

pub use model::BoxKind;

use crate::graph::GraphData;
use crate::node::Node;
use crate::outline::Outline;
use millstream_tensor::{Code, Error, Result};
use std::collections::BTreeSet;

/// Options for drawing a graph.
#[derive(Clone, Debug)]
pub struct PictureOptions {
    /// The most boxes to show. In a graph with more nodes, name scopes are folded into one box each, and a
    /// note says so.
    pub limit: usize,
    /// If set, shows only nodes whose names are in this scope.
    pub scope: Option<String>,
}

impl Default for PictureOptions {
    fn default() -> Self {
        PictureOptions { limit: 120, scope: None }
    }
}

/// A graph whose boxes have positions.
pub struct Picture {
    /// The boxes, each after the box that contains it. The first is the whole picture.
    pub boxes: Vec<PictureBox>,
    routes: Vec<Route>,
    /// The number of nodes to show.
    pub n_nodes: usize,
    /// The number of nodes with a box of their own.
    pub n_shown: usize,
    options: PictureOptions,
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Picture")
            .field("n_nodes", &self.n_nodes)
            .field("n_shown", &self.n_shown)
            .finish_non_exhaustive()
    }
}

/// A box with a position.
#[derive(Clone, Debug)]
pub struct PictureBox {
    /// What the box shows.
    pub kind: BoxKind,
    /// The box that contains it. The first box is its own parent.
    pub parent: usize,
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
    lines: Vec<String>,
    tip: String,
    class: &'static str,
}

/// A part of a line with its points.
struct Route {
    look: model::Look,
    points: Vec<(f64, f64)>,
    round: bool,
    arrow: bool,
    label: String,
    tip: String,
}

impl Picture {
    /// The picture of a graph. An error if its loops are not well formed, or if no node is in the scope.
    pub fn of(graph: &GraphData, options: &PictureOptions) -> Result<Picture> {
        if let Some(scope) = &options.scope
            && !graph.nodes().iter().any(|n| model::is_within(n.name(), scope))
        {
            return Err(no_scope(graph, scope));
        }
        let outline = Outline::of(graph)?;
        let model = model::Model::of(graph, &outline, options);
        Ok(nested::arranged(model, options))
    }

    /// The picture as a complete SVG document, which follows the reader's light or dark theme.
    pub fn to_svg(&self) -> String {
        draw::svg(self)
    }

    /// The note about nodes without a box, if there are any.
    pub fn left_out(&self) -> Option<String> {
        let hidden = self.n_nodes - self.n_shown;
        (0 < hidden).then(|| {
            format!(
                "{} of {} are folded into dashed boxes. To see into one, draw its name scope (`scope`); to see more at a time, raise `limit` ({}).",
                text::grouped(hidden),
                text::counted(self.n_nodes, "node"),
                text::grouped(self.options.limit)
            )
        })
    }
}

/// The error for a scope without nodes, with the scopes at the top.
fn no_scope(graph: &GraphData, scope: &str) -> Error {
    let top = |n: &Node| n.name().split_once('/').map(|(top, _)| top.to_owned());
    let scopes: BTreeSet<String> = graph.nodes().iter().filter_map(top).collect();
    let listed: Vec<String> = scopes.iter().take(8).map(|s| format!("`{s}`")).collect();
    let more = if listed.len() < scopes.len() { ", .." } else { "" };
    let error = Error::new(Code::NotFound, format!("no node is in the name scope `{scope}`"));
    match listed.is_empty() {
        true => error.with_help("the graph has no name scopes"),
        false => error.with_help(format!("the scopes at the top are {}{more}", listed.join(", "))),
    }
}

/// The picture of a graph in SVG: [`Picture::of`] and [`Picture::to_svg`].
pub fn svg(graph: &GraphData, options: &PictureOptions) -> Result<String> {
    Ok(Picture::of(graph, options)?.to_svg())
}
