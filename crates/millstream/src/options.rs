//! [`Options`]: what a node is given beside its inputs, said before the op: `g.named("product").with("transpose_b", true).mat_mul(a, b)`.

use millstream_graph::{Attr, Attrs, Graph, OpBuilder};
use std::borrow::Cow;

/// The name and attributes of the next node. Made by [`Start::named`] and [`Start::with`]; every op is a method of it.
#[must_use = "options are for the op that follows"]
pub struct Options<'g> {
    graph: &'g Graph,
    name: Option<String>,
    attrs: Attrs,
}

/// What nodes are made from: a [`Graph`], or [`Options`] for one node of it.
pub trait Start<'g>: Sized {
    /// The options so far.
    fn options(self) -> Options<'g>;

    /// The node is to have this name, made unique.
    fn named(self, name: impl Into<String>) -> Options<'g> {
        Options { name: Some(name.into()), ..self.options() }
    }

    /// The node is to have this attribute.
    fn with(self, attr: impl Into<Cow<'static, str>>, value: impl Into<Attr>) -> Options<'g> {
        let mut options = self.options();
        options.attrs.set(attr, value);
        options
    }

    /// Starts a node of this op type.
    #[track_caller]
    fn start(self, op: &'static str) -> OpBuilder<'g> {
        self.start_as(op, op)
    }

    /// Starts a node of this op type that is called `name` where no other name was asked for.
    #[track_caller]
    fn start_as(self, op: &'static str, name: &str) -> OpBuilder<'g> {
        let options = self.options();
        let name = options.name.unwrap_or_else(|| name.to_owned());
        options.graph.op(op).name(name).attrs(options.attrs)
    }
}

impl<'g> Start<'g> for Options<'g> {
    fn options(self) -> Options<'g> {
        self
    }
}

impl<'g> Start<'g> for &'g Graph {
    fn options(self) -> Options<'g> {
        Options { graph: self, name: None, attrs: Attrs::new() }
    }
}

impl<'g> Options<'g> {
    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The name asked for, or this one.
    pub(crate) fn name_or(&self, name: &str) -> String {
        self.name.clone().unwrap_or_else(|| name.to_owned())
    }
}
