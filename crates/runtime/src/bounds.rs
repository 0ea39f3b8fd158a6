//! [`Bounds`]: the most iterations of the loops of a graph, as far as constants and fed values tell. It is
//! told to people; nothing runs by it.

use millstream_graph::{GraphData, LoopTree, Port};
use millstream_tensor::Tensor;
use std::collections::HashMap;

/// The bounds that are known, by the frames' names.
#[derive(Default, Debug)]
pub(crate) struct Bounds(HashMap<String, u64>);

impl Bounds {
    /// The bounds of a graph's loops where these values are fed.
    pub(crate) fn of(graph: &GraphData, feeds: &[(Port, Tensor)]) -> Bounds {
        let tree = LoopTree::of(graph);
        let fed = |port: Port| feeds.iter().find(|(p, _)| *p == port).map(|(_, value)| value.clone());
        let bounds = tree.iter().filter_map(|(id, it)| Some((it.name.clone(), tree.trips(graph, id, &fed)?)));
        Bounds(bounds.collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}
