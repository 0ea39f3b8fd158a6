//! [`Axes`]: the axes of a reduction or a transposition.

use millstream_graph::{Arg, Output};

/// Some axes, or all of them (`()`).
#[derive(Debug)]
pub enum Axes<'g> {
    /// All axes, in order.
    All,
    /// These axes: literals, or a tensor of the graph.
    These(Arg<'g>),
}

impl From<()> for Axes<'_> {
    fn from((): ()) -> Self {
        Axes::All
    }
}

impl From<i32> for Axes<'_> {
    fn from(axis: i32) -> Self {
        Axes::These(axis.into())
    }
}

impl<const N: usize> From<[i32; N]> for Axes<'_> {
    fn from(axes: [i32; N]) -> Self {
        Axes::These(axes.into())
    }
}

impl From<Vec<i32>> for Axes<'_> {
    fn from(axes: Vec<i32>) -> Self {
        Axes::These(axes.into())
    }
}

impl<'g> From<Output<'g>> for Axes<'g> {
    fn from(axes: Output<'g>) -> Self {
        Axes::These(axes.into())
    }
}
