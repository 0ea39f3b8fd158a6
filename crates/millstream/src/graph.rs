//! [`Graph`]: the engine's graph over the op library.

use crate::options::{Options, Start};
use millstream_graph::Graph as BareGraph;
use millstream_graph::op::Registry;
use millstream_tensor::Result;
use std::fmt;
use std::ops::Deref;

/// A graph under construction; nodes are added by its methods, in any order and from any thread. A clone is
/// the same graph.
///
/// Adding a node never fails in the middle of an expression: the graph remembers the first mistake with the
/// line that made it, and the next call that returns a [`Result`](crate::Result) returns it.
///
/// ```
/// use millstream::Graph;
/// let g = Graph::new();
/// let three = g.constant(1) + 2;
/// assert_eq!(three.name(), "add:0");
/// ```
///
/// Most methods are those of [`BareGraph`], the type that a graph dereferences to and that
/// [`Output::graph`](crate::Output::graph) returns. The others are in traits: [`Ops`](crate::Ops),
/// [`Functions`](crate::Functions), [`Variables`](crate::Variables) and more; the [`prelude`](crate::prelude)
/// brings the usual ones into scope.
#[derive(Clone)]
pub struct Graph(BareGraph);

impl Graph {
    /// Returns an empty graph over the whole op library.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant(2) * 3;
    /// assert_eq!(Session::new(&g)?.run::<i32>(x, feed![])?, 6);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn new() -> Graph {
        Graph::with_ops(millstream_ops::registry())
    }

    /// Returns an empty graph over a library of op types.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::registry;
    /// let g = Graph::with_ops(registry()); // all ops, as `Graph::new` has them
    /// assert_eq!(Session::new(&g)?.run::<i32>(g.constant(2) * 3, feed![])?, 6);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn with_ops(registry: &'static Registry) -> Graph {
        Graph(BareGraph::with_ops(registry))
    }

    /// Parses a graph's text form, which its `Display` prints.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.placeholder::<f32>("x", shape![]);
    /// g.named("y").identity(x * 2.0);
    /// let copy = Graph::parse(&g.to_string())?;
    /// assert_eq!(Session::new(&copy)?.run::<f32>("y:0", feed!["x:0" => 4.0f32])?, 8.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Graph> {
        BareGraph::parse(text, millstream_ops::registry()).map(Graph)
    }
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Deref for Graph {
    type Target = BareGraph;

    fn deref(&self) -> &BareGraph {
        &self.0
    }
}

impl From<BareGraph> for Graph {
    fn from(graph: BareGraph) -> Graph {
        Graph(graph)
    }
}

impl<'g> Start<'g> for &'g Graph {
    fn options(self) -> Options<'g> {
        self.0.options()
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
