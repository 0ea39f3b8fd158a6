//! `Round`: rounding to the nearest integer.

use millstream_graph::op::{Gradient, OpDef};

formula!(x: Num => x.round());

pub(crate) fn def() -> OpDef {
    unary!("Round", numbers, Formula).doc(
        "Rounds each element to the nearest integer, halves to the even one. The parts of complex numbers \
         are rounded separately; integers are returned unchanged.",
    )
        .gradient(Gradient::none("constant between its steps"))
}

cases! {
    halves_go_to_even: "Round([0.5 1.5 -0.5 2.5 -2.6]) = [0.0 2.0 -0.0 2.0 -3.0]",
    integers_stay: "Round([7 -3]) = [7 -3]",
    by_parts: "Round(c64 [1.5-0.6i]) = c64 [2-1i]",
    keeps_the_shape: "Round(f32[..]) : f32[..]",
    refuses_bools: "Round(true) ! `T`",
}
