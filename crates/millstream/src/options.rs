//! [`Options`]: the name and the attributes of the next node, set before the op:
//! `g.named("product").with("transpose_b", true).matmul(a, b)`.

use millstream_graph::{Attr, Attrs, Graph, OpBuilder};
use std::borrow::Cow;
use std::panic::Location;

/// The name and the attributes of the next node, from [`Start::named`] and [`Start::with`]. Every op is a
/// method of it.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
/// let square = g.named("square").with("transpose_b", true).matmul(x, x);
/// assert_eq!(square.op().name(), "square");
/// assert_eq!(Session::new(&g)?.run::<Tensor>(square, feed![])?.to_string(), "f32[2,2] [[5 11] [11 25]]");
/// # Ok::<(), millstream::Error>(())
/// ```
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
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.constant([1.0f32, 2.0]);
/// let y = g.named("doubled").add(x, x); // the options are for the next node
/// assert_eq!(y.op().name(), "doubled");
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Start<'g>: Sized {
    /// Returns the options set so far.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let named = g.named("x").options();
    /// assert_eq!(named.graph().len(), 0); // options add no node by themselves
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn options(self) -> Options<'g>;

    /// Sets the name of the node; the graph makes it unique.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.named("x").zeros::<f32>([2]);
    /// let again = g.named("x").zeros::<f32>([2]);
    /// assert_eq!((x.op().name(), again.op().name()), ("x".to_owned(), "x_1".to_owned()));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn named(self, name: impl Into<String>) -> Options<'g> {
        Options { name: Some(name.into()), ..self.options() }
    }

    /// Sets an attribute of the node.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1.0f32, 2.0], [3.0, 4.0]]);
    /// let sums: Tensor = Session::new(&g)?.run(g.with("keep_dims", true).reduce_sum(x, 1), feed![])?;
    /// assert_eq!(sums.to_string(), "f32[2,1] [[3] [7]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
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
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// // An op by its name, with its inputs in order.
    /// let x = g.start("Square").input(g.constant(3.0f32)).output();
    /// assert_eq!(Session::new(&g)?.run::<f32>(x, feed![])?, 9.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn start(self, op: &'static str) -> OpBuilder<'g> {
        self.start_as(op, op)
    }

    /// Starts a node of this op type, named `name` unless the options have a name.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.start_as("Square", "nine").input(g.constant(3.0f32)).output();
    /// assert_eq!(x.op().name(), "nine");
    /// # Ok::<(), millstream::Error>(())
    /// ```
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
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert_eq!(g.named("x").graph().len(), 0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Returns the name from the options, or `name` without one.
    pub(crate) fn name_or(&self, name: &str) -> String {
        self.name.clone().unwrap_or_else(|| name.to_owned())
    }
}
