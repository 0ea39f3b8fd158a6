//! Feeds: pairs of an output of the graph and a value for it.

use millstream_graph::{Graph, Output, Port};
use millstream_tensor::{IntoTensor, Result, Tensor};

/// Values for outputs of the graph, placeholders or any others. Made by `feed!` or built with
/// [`FeedList::and`].
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.placeholder_of("x", DType::F32, shape![]);
/// let y = g.placeholder_of("y", DType::F32, shape![]);
/// let feeds = FeedList::new().and(x, 1.0f32).and("y:0", 2.0f32); // as `feed![x => 1.0f32, "y:0" => 2.0f32]`
/// assert_eq!(Session::new(&g)?.run::<f32>(x + y, feeds)?, 3.0);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Default, Debug)]
pub struct FeedList {
    items: Vec<(FeedKey, Result<Tensor>)>,
}

/// What is fed: an output, or the name of one.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// assert_eq!(FeedKey::from("x:0"), FeedKey::Name("x:0".to_owned()));
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedKey {
    /// An output.
    Port(Port),
    /// The name of an output: `node:0`, or `node` for its first one.
    Name(String),
}

impl From<Output<'_>> for FeedKey {
    fn from(output: Output<'_>) -> FeedKey {
        FeedKey::Port(output.port())
    }
}

impl From<&str> for FeedKey {
    fn from(name: &str) -> FeedKey {
        FeedKey::Name(name.to_owned())
    }
}

impl From<String> for FeedKey {
    fn from(name: String) -> FeedKey {
        FeedKey::Name(name)
    }
}

impl From<&String> for FeedKey {
    fn from(name: &String) -> FeedKey {
        FeedKey::Name(name.clone())
    }
}

impl FeedList {
    /// An empty list.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.constant(1.0f32);
    /// assert_eq!(Session::new(&g)?.run::<f32>(x, FeedList::new())?, 1.0);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn new() -> FeedList {
        FeedList::default()
    }

    /// Adds a feed.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.constant(1.0f32);
    /// // Any output can be fed.
    /// assert_eq!(Session::new(&g)?.run::<f32>(x + 1.0, FeedList::new().and(x, 5.0f32))?, 6.0);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    #[must_use]
    pub fn and(mut self, output: impl Into<FeedKey>, value: impl IntoTensor) -> FeedList {
        self.items.push((output.into(), value.into_tensor()));
        self
    }

    /// The fed outputs and their values. `NOT_FOUND` for a name that the graph does not have.
    pub(crate) fn resolve(self, graph: &Graph) -> Result<Vec<(Port, Tensor)>> {
        let port = |key| match key {
            FeedKey::Port(port) => Ok(port),
            FeedKey::Name(name) => graph.output(&name).map(|output| output.port()),
        };
        self.items.into_iter().map(|(key, value)| Ok((port(key)?, value?))).collect()
    }
}

/// Anything that can be fed: `feed![x => 1.0]`, `feed!["x:0" => 1.0]`, `[(x, tensor)]`, `()` for nothing.
pub trait Feeds {
    /// The feeds as a list.
    fn into_feeds(self) -> FeedList;
}

impl Feeds for FeedList {
    fn into_feeds(self) -> FeedList {
        self
    }
}

impl Feeds for () {
    fn into_feeds(self) -> FeedList {
        FeedList::new()
    }
}

impl<'g, T: IntoTensor, const N: usize> Feeds for [(Output<'g>, T); N] {
    fn into_feeds(self) -> FeedList {
        self.into_iter().fold(FeedList::new(), |list, (output, value)| list.and(output, value))
    }
}

impl<'g, T: IntoTensor> Feeds for Vec<(Output<'g>, T)> {
    fn into_feeds(self) -> FeedList {
        self.into_iter().fold(FeedList::new(), |list, (output, value)| list.and(output, value))
    }
}

/// Feeds of any types: `feed![n => 3, x => [1.0f32, 2.0]]`; `feed![]` feeds nothing.
#[macro_export]
macro_rules! feed {
    ($($output:expr => $value:expr),* $(,)?) => {
        $crate::FeedList::new()$(.and($output, $value))*
    };
}
