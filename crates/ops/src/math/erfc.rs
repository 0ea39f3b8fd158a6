//! `Erfc`: one less the error function.

use millstream_graph::op::OpDef;

formula!(x: Float => x.erfc());

pub(crate) fn def() -> OpDef {
    unary!("Erfc", floats, Formula).doc("`1 - erf(x)`, exact for large elements.")
}

cases! {
    values: "Erfc([0.0 0.5 3.0]) ~ [1.0 0.4795001221869535 2.2090496998585438e-05]",
    values_in_f64: "Erfc(f64 [0.0 0.5 3.0]) ~ f64 [1.0 0.4795001221869535 2.2090496998585438e-05]",
    keeps_the_shape: "Erfc(f32[?,3]) : f32[?,3]",
    refuses_integers: "Erfc(1) ! `T`",
}
