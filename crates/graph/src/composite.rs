//! [`IndexedSlices`] and [`SparseTensor`]: values that consist of several outputs.

use crate::output::Output;

/// Rows of a larger tensor: row `i` of `values` is row `indices[i]` of it. Gradients of gathers have this
/// form.
#[derive(Clone, Copy, Debug)]
pub struct IndexedSlices<'g> {
    /// The rows.
    pub values: Output<'g>,
    /// The position of each row.
    pub indices: Output<'g>,
    /// The shape of the larger tensor, if it is known.
    pub dense_shape: Option<Output<'g>>,
}

/// A tensor given by its nonzero entries.
#[derive(Clone, Copy, Debug)]
pub struct SparseTensor<'g> {
    /// The positions of the entries: `i64[n, rank]`.
    pub indices: Output<'g>,
    /// The entries: `[n]`.
    pub values: Output<'g>,
    /// The shape of the dense tensor: `i64[rank]`.
    pub dense_shape: Output<'g>,
}

/// A gradient of a value.
#[derive(Clone, Copy, Debug)]
pub enum Grad<'g> {
    /// A tensor (for a list, a list).
    Dense(Output<'g>),
    /// The nonzero rows: the gradient of a gather.
    Slices(IndexedSlices<'g>),
    /// The only nonzero item of a list: the gradient of reading an item.
    Item(ListItem<'g>),
}

/// The gradient of a list, zero except for one item.
#[derive(Clone, Copy, Debug)]
pub struct ListItem<'g> {
    /// The item's index, a scalar i32.
    pub index: Output<'g>,
    /// Its gradient.
    pub value: Output<'g>,
    /// Whether the gradient's list may be too short for the item, and must then grow.
    pub grows: bool,
}
