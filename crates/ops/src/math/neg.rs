//! `Neg`: the negative.

use millstream_graph::op::{OpDef, Operator};

formula!(x: Num => x.neg());

pub(crate) fn def() -> OpDef {
    unary!("Neg", numbers, Formula)
        .doc("The negative of each element. Integers wrap around.")
        .operator(Operator::Neg)
}

cases! {
    negates: "Neg([1.5 -0.0]) = [-1.5 0.0]",
    wraps_around: "Neg(i8 [-128 1]) = i8 [-128 -1]",
    keeps_the_shape: "Neg(f32[?,3]) : f32[?,3]",
    refuses_bools: "Neg(true) ! `T` ",
}
