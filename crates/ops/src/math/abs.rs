//! `Abs`: the absolute value.

use millstream_graph::op::OpDef;

formula!(x: Real => x.abs());

pub(crate) fn def() -> OpDef {
    unary!("Abs", reals, Formula).doc("The absolute value of each element. The least integer stays itself.")
}

cases! {
    drops_signs: "Abs([-1.5 -0.0 2.0]) = [1.5 0.0 2.0]",
    wraps_around: "Abs(i8 [-128 -5]) = i8 [-128 5]",
    keeps_the_shape: "Abs(i64[?]) : i64[?]",
    refuses_complex: "Abs(c64 1+1i) ! `T`",
}
