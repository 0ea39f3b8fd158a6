//! [`Tally`]: the counts of a queue beyond the items that came and went.

use std::collections::BTreeMap;

/// Counts kept for the ops that use a queue. Every batch is counted; the rest only where a node asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of batches built from the queue's items.
    pub batches: u64,
    /// The number of rows in those batches.
    pub rows: u64,
    /// The number of elements in those batches, over all components.
    pub cells: u64,
    /// The number of those elements that are padding.
    pub padding: u64,
    /// The number of items that a filter rejected.
    pub filtered: u64,
    /// The number of items that fell into no bucket.
    pub out_of_range: u64,
    /// For a queue of batches: the batches dequeued, by the number in their first component.
    pub taken: BTreeMap<i32, Taken>,
}

/// A number of dequeued batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The number of batches.
    pub batches: u64,
    /// The number of rows in all of them.
    pub rows: u64,
}
