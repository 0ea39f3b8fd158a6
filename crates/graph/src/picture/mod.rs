//! [`Picture`]: a graph as a picture that needs no other program to be seen: SVG, without scripts and without anything fetched.
//!
//! Boxes stand for nodes; around those of a loop and of a branch of a cond there is a box, nested as they are. What colours and lines mean is
//! what it means in [`dot`](crate::dot()), and a legend says it. Each box with others inside is laid out by itself and is then one box for what is
//! around it: `model` says what is shown, `layers` finds places within one box, `nested` puts them together, `draw` writes.
//!
//! [Sugiyama's way](https://en.wikipedia.org/wiki/Layered_graph_drawing) of layers is our own here: the Rust crates that have it give
//! places of boxes, but neither the bends of lines nor boxes within boxes, and lines that come from outside of a box need both.

mod draw;
mod layers;
mod model;
mod nested;
mod text;

pub use model::BoxKind;

use crate::graph::GraphData;
use crate::outline::Outline;
use millstream_tensor::Result;

/// How a graph is drawn.
#[derive(Clone, Debug)]
pub struct PictureOptions {
    /// How many boxes may be seen; where a graph has more nodes, name scopes are folded into one box each, and it is said.
    pub limit: usize,
    /// Only what has names in this scope.
    pub scope: Option<String>,
}

impl Default for PictureOptions {
    fn default() -> Self {
        PictureOptions { limit: 120, scope: None }
    }
}

/// A graph with all its boxes in their places.
pub struct Picture {
    /// The boxes, each after the one around it; the first is the whole.
    pub boxes: Vec<PictureBox>,
    routes: Vec<Route>,
    /// How many nodes there were to show.
    pub n_nodes: usize,
    /// How many have a box of their own.
    pub n_shown: usize,
    options: PictureOptions,
}

/// A box in its place.
#[derive(Clone, Debug)]
pub struct PictureBox {
    /// What it is.
    pub kind: BoxKind,
    /// The box around it; the first is its own.
    pub parent: usize,
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
    lines: Vec<String>,
    tip: String,
    class: &'static str,
}

/// A part of a line in its place.
struct Route {
    look: model::Look,
    points: Vec<(f64, f64)>,
    round: bool,
    arrow: bool,
    label: String,
    tip: String,
}

impl Picture {
    /// The picture of a graph. An error where its loops are not well formed.
    pub fn of(graph: &GraphData, options: &PictureOptions) -> Result<Picture> {
        let outline = Outline::of(graph)?;
        let model = model::Model::of(graph, &outline, options);
        Ok(nested::arranged(model, options))
    }

    /// The picture as a document of its own, in SVG. Light or dark, as the reader has it.
    pub fn to_svg(&self) -> String {
        draw::svg(self)
    }

    /// What is said about nodes without a box, if there are any.
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

/// The picture of a graph in SVG: [`Picture::of`] and [`Picture::to_svg`].
pub fn svg(graph: &GraphData, options: &PictureOptions) -> Result<String> {
    Ok(Picture::of(graph, options)?.to_svg())
}
