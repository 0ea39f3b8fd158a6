//! [`Options`]: the name and the attributes of the next node, set before the op:
//! `g.named("product").with("transpose_b", true).matmul(a, b)`.

use millstream_graph::{Attr, Attrs, Graph, OpBuilder};
use std::borrow::Cow;
use std::panic::Location;

/// The name and the attributes of the next node, from [`Start::named`] and [`Start::with`]. Every op is a
/// method of it.
#[must_use = "options are for the op that follows"]
pub struct Options<'g> {
    graph: &'g Graph,
    name: Option<String>,
    attrs: Attrs,
    at: Option<&'static Location<'static>>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("name", &self.name)
            .field("attrs", &self.attrs)
            .finish_non_exhaustive()
    }
}

/// What nodes can be added to: a [`Graph`], or [`Options`] for its next node.
pub trait Start<'g>: Sized {
    /// Returns the options set so far.
    fn options(self) -> Options<'g>;

    /// Sets the name of the node; the graph makes it unique.
    fn named(self, name: impl Into<String>) -> Options<'g> {
        Options { name: Some(name.into()), ..self.options() }
    }

    /// Sets an attribute of the node.
    fn with(self, attr: impl Into<Cow<'static, str>>, value: impl Into<Attr>) -> Options<'g> {
        let mut options = self.options();
        options.attrs.set(attr, value);
        options
    }

    /// Sets the source line that errors name, instead of the caller's.
    fn at(self, line: &'static Location<'static>) -> Options<'g> {
        Options { at: Some(line), ..self.options() }
    }

    /// Starts a node of this op type.
    #[track_caller]
    fn start(self, op: &'static str) -> OpBuilder<'g> {
        self.start_as(op, op)
    }

    /// Starts a node of this op type, named `name` unless the options have a name.
    #[track_caller]
    fn start_as(self, op: &'static str, name: &str) -> OpBuilder<'g> {
        let options = self.options();
        let name = options.name.unwrap_or_else(|| name.to_owned());
        let node = options.graph.op(op).name(name).attrs(options.attrs);
        match options.at {
            Some(line) => node.at(line),
            None => node,
        }
    }
}

impl<'g> Start<'g> for Options<'g> {
    fn options(self) -> Options<'g> {
        self
    }
}

impl<'g> Start<'g> for &'g Graph {
    fn options(self) -> Options<'g> {
        Options { graph: self, name: None, attrs: Attrs::new(), at: None }
    }
}

impl<'g> Options<'g> {
    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Returns the name from the options, or `name` without one.
    pub(crate) fn name_or(&self, name: &str) -> String {
        self.name.clone().unwrap_or_else(|| name.to_owned())
    }
}
