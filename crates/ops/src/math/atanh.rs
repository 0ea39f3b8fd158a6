//! `Atanh`: the inverse of tanh.

use millstream_graph::op::OpDef;

formula!(x: Field => x.atanh());

pub(crate) fn def() -> OpDef {
    unary!("Atanh", fields, Formula).doc("The number whose hyperbolic tangent each element is; NaN outside -1..=1.")
}

cases! {
    values: "Atanh([0.0 0.5 -0.9]) ~ [0.0 0.5493061443340548 -1.4722194895832204]",
    values_in_f64: "Atanh(f64 [0.0 0.5 -0.9]) ~ f64 [0.0 0.5493061443340548 -1.4722194895832204]",
    keeps_the_shape: "Atanh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Atanh(1) ! `T`",
}
