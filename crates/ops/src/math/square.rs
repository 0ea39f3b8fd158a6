//! `Square`: the square.

use millstream_graph::op::OpDef;

formula!(x: Num => x.mul(x));

pub(crate) fn def() -> OpDef {
    unary!("Square", numbers, Formula).doc("Each element times itself. Integers wrap around.")
}

cases! {
    squares: "Square([1.5 -2.0]) = [2.25 4.0]",
    wraps_around: "Square(i8 [16 -3]) = i8 [0 9]",
    of_complex: "Square(c64 [1+2i]) = c64 [-3+4i]",
    keeps_the_shape: "Square(f32[?]) : f32[?]",
    refuses_bools: "Square(true) ! `T`",
}
