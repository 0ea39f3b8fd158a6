//! `Invert`: the bitwise complement.

use millstream_graph::op::OpDef;

formula!(x: Int => x.invert());

pub(crate) fn def() -> OpDef {
    unary!("Invert", ints, Formula).doc("Inverts every bit of each element.")
}

cases! {
    flips: "Invert([0 5]) = [-1 -6]",
    unsigned: "Invert(u8[1] [1]) = u8[1] [254]",
    keeps_the_shape: "Invert(i64[?]) : i64[?]",
    refuses_floats: "Invert(1.0) ! `T`",
}
