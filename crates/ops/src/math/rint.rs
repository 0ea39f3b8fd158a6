//! `Rint`: rounding to the nearest integer.

use millstream_graph::op::{Gradient, OpDef};

formula!(x: Num => x.round());

pub(crate) fn def() -> OpDef {
    unary!("Rint", floats, Formula)
        .doc("Rounds each element to the nearest integer, halves to the even one.")
        .gradient(Gradient::none("constant between its steps"))
}

cases! {
    halves_go_to_even: "Rint([0.5 1.5 -0.5 2.5]) = [0.0 2.0 -0.0 2.0]",
    keeps_the_shape: "Rint(f64[2]) : f64[2]",
    refuses_integers: "Rint(1) ! `T`",
}
