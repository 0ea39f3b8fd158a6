//! [`IndexedSlices`] and [`SparseTensor`]: values made of several outputs.

use crate::output::Output;

/// Rows of a larger tensor: row `i` of `values` stands at `indices[i]`. Gradients of gathers are such.
#[derive(Clone, Copy, Debug)]
pub struct IndexedSlices<'g> {
    /// The rows.
    pub values: Output<'g>,
    /// Where each row stands.
    pub indices: Output<'g>,
    /// The shape of the tensor that the rows are part of, where it is known.
    pub dense_shape: Option<Output<'g>>,
}

/// A tensor given by its entries that are not zero.
#[derive(Clone, Copy, Debug)]
pub struct SparseTensor<'g> {
    /// Where the entries stand: `i64[n, rank]`.
    pub indices: Output<'g>,
    /// The entries: `[n]`.
    pub values: Output<'g>,
    /// The shape of the whole: `i64[rank]`.
    pub dense_shape: Output<'g>,
}

/// A gradient of a value.
#[derive(Clone, Copy, Debug)]
pub enum Grad<'g> {
    /// As a tensor (or, of a list, as a list).
    Dense(Output<'g>),
    /// As the rows that are not zero: what gathers give.
    Slices(IndexedSlices<'g>),
    /// Of a list, as its one item that is not zero: what reading an item gives.
    Item(ListItem<'g>),
}

/// The gradient of a list that is zero but for one item.
#[derive(Clone, Copy, Debug)]
pub struct ListItem<'g> {
    /// Which item, a scalar i32.
    pub index: Output<'g>,
    /// Its gradient.
    pub value: Output<'g>,
    /// The list of the gradient may be too short to have the item: then it grows.
    pub grows: bool,
}
