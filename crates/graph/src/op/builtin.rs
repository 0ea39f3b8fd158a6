//! [`Builtin`]: the computations that graph builders and gradients add to a graph. Which ops compute them is
//! knowledge of the op library; this crate names only structural ops.

use crate::builder::{Arg, OpBuilder};
use crate::graph::Graph;
use crate::output::Output;
use millstream_tensor::{DType, invalid};
use std::panic::Location;

/// A computation on these inputs, without the op that performs it.
#[derive(Debug)]
pub enum Builtin<'g> {
    /// Whether the first is less than the second.
    Less(Arg<'g>, Arg<'g>),
    /// Whether the first is less than or equal to the second.
    LessEqual(Arg<'g>, Arg<'g>),
    /// Whether both hold.
    And(Output<'g>, Output<'g>),
    /// The second where the first holds, else the third.
    Select(Output<'g>, Arg<'g>, Arg<'g>),
    /// Values of one shape, stacked along a new first axis.
    Stack(Vec<Output<'g>>),
    /// A value converted to a dtype.
    Cast(Output<'g>, DType),
    /// The sum over some axes, which it drops.
    Sum(Output<'g>, Arg<'g>),
    /// Fails with a message and some data unless a condition holds.
    Assert {
        /// A scalar bool.
        condition: Output<'g>,
        /// The text of the error.
        message: Arg<'g>,
        /// Shown behind the message.
        data: Output<'g>,
    },
    /// Zeros with the dtype and shape of a value; for a list, a list of zeros.
    ZerosLike(Output<'g>),
    /// The shape of a value, an i32 vector.
    Shape(Output<'g>),
    /// The shape of the value that a resource variable holds, an i32 vector.
    VariableShape(Output<'g>),
    /// A shape, filled with one scalar.
    Fill(Arg<'g>, Output<'g>),
    /// The complex conjugate.
    Conj(Output<'g>),
    /// A value in another shape of as many elements.
    Reshape(Output<'g>, Output<'g>),
    /// Two outputs: for each of two shapes that broadcast together, the axes along which it is stretched.
    StretchedAxes(Output<'g>, Output<'g>),
    /// The number of elements along the first axis of a tensor of this shape.
    RowsOfShape(Output<'g>),
    /// `rows` rows, each the sum of the rows of `values` whose entry of `places` is its number.
    SumRows {
        /// The rows to sum.
        values: Output<'g>,
        /// The row of the result that each belongs to.
        places: Output<'g>,
        /// How many rows the result has.
        rows: Output<'g>,
    },
    /// A list, lengthened if need be, so that it has an item of this index.
    GrowList {
        /// The list.
        list: Output<'g>,
        /// A scalar i32.
        index: Output<'g>,
    },
}

/// Starts the node of a builtin, and adds those that it needs besides.
pub type StartBuiltin = for<'g> fn(&'g Graph, Builtin<'g>) -> OpBuilder<'g>;

impl Graph {
    /// Starts the node that computes `builtin` with the graph's op library. A library without builtins
    /// ([`Registry::with_builtins`](super::Registry::with_builtins)) makes this an error, which the next call
    /// that returns a `Result` reports.
    #[track_caller]
    pub fn builtin<'g>(&'g self, builtin: Builtin<'g>) -> OpBuilder<'g> {
        let node = match self.registry().builtins() {
            Some(start) => start(self, builtin),
            None => {
                self.remember(invalid!(
                    "the graph's op library has no ops for branches, loops and gradients; \
                     give it some with `Registry::with_builtins`"
                ));
                self.op("NoOp")
            }
        };
        node.at(Location::caller())
    }
}
