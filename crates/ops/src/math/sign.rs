//! `Sign`: the sign.

use millstream_graph::op::OpDef;

formula!(x: Num => x.sign());

pub(crate) fn def() -> OpDef {
    unary!("Sign", numbers, Formula).doc("-1, 0 or 1; `x / |x|` of complex numbers; NaN of NaN.")
}

cases! {
    signs: "Sign([-2.5 -0.0 0.0 7.0 nan]) = [-1.0 0.0 0.0 1.0 nan]",
    of_integers: "Sign([-3 0 9]) = [-1 0 1]",
    of_complex: "Sign(c64 [3+4i 0]) = c64 [0.6+0.8i 0]",
    keeps_the_shape: "Sign(f32[?]) : f32[?]",
    refuses_bools: "Sign(true) ! `T`",
}
