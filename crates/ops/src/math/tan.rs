//! `Tan`: the tangent.

use millstream_graph::op::OpDef;

formula!(x: Field => x.tan());

pub(crate) fn def() -> OpDef {
    unary!("Tan", fields, Formula).doc("The tangent of each element, in radians.")
}

cases! {
    values: "Tan([0.0 1.0 -4.0]) ~ [0.0 1.5574077246549023 -1.1578212823495775]",
    values_in_f64: "Tan(f64 [0.0 1.0 -4.0]) ~ f64 [0.0 1.5574077246549023 -1.1578212823495775]",
    keeps_the_shape: "Tan(f32[?,3]) : f32[?,3]",
    refuses_integers: "Tan(1) ! `T`",
}
