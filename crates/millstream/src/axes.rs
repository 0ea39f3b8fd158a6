//! [`Axes`]: the axes of a reduction or a transposition.

use millstream_graph::{Arg, Output};

/// Some axes, or all of them (`()`).
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let x = g.constant([[1, 2], [3, 4]]);
/// let session = Session::new(&g)?;
/// assert_eq!(session.run::<i32>(x.reduce_sum(()), feed![])?, 10); // all axes
/// assert_eq!(session.run::<Vec<i32>>(x.reduce_sum(0), feed![])?, [4, 6]);
/// assert_eq!(session.run::<Vec<i32>>(x.reduce_sum(-1), feed![])?, [3, 7]);
/// assert_eq!(session.run::<i32>(x.reduce_sum([0, 1]), feed![])?, 10);
/// # Ok::<(), millstream::Error>(())
/// ```
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
