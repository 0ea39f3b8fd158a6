//! [`Tally`]: what the ops that use a queue count of it beyond how many items came and went.

use std::collections::BTreeMap;

/// Counts that a queue keeps for those who use it. Every batch is counted; the rest only where a node asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many batches were put together of its items.
    pub batches: u64,
    /// How many rows those have.
    pub rows: u64,
    /// How many elements those batches have, in all components.
    pub cells: u64,
    /// How many of them are padding.
    pub padding: u64,
    /// How many items were not wanted.
    pub filtered: u64,
    /// How many items belonged nowhere.
    pub out_of_range: u64,
    /// Of a queue of batches: what was taken out, by the number that is a batch's first component.
    pub taken: BTreeMap<i32, Taken>,
}

/// Batches that were taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// How many.
    pub batches: u64,
    /// How many rows they had together.
    pub rows: u64,
}
