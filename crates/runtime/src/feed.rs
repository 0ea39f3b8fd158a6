//! Feeds: pairs of an output of the graph and a value for it.

use millstream_graph::{Output, Port};
use millstream_tensor::{IntoTensor, Result, Tensor};

/// Values for outputs of the graph, placeholders or any others. Made by `feed!` or built with
/// [`FeedList::and`].
#[derive(Default, Debug)]
pub struct FeedList {
    pub(crate) items: Vec<(Port, Result<Tensor>)>,
}

impl FeedList {
    /// An empty list.
    pub fn new() -> FeedList {
        FeedList::default()
    }

    /// Adds a feed.
    #[must_use]
    pub fn and(mut self, output: Output<'_>, value: impl IntoTensor) -> FeedList {
        self.items.push((output.port(), value.into_tensor()));
        self
    }
}

/// Anything that can be fed: `feed![x => 1.0]`, `[(x, tensor)]`, `()` for nothing.
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
