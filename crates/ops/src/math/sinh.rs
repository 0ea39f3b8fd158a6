//! `Sinh`: the hyperbolic sine.

use millstream_graph::op::OpDef;

formula!(x: Field => x.sinh());

pub(crate) fn def() -> OpDef {
    unary!("Sinh", fields, Formula).doc("The hyperbolic sine of each element.")
}

cases! {
    values: "Sinh([0.0 0.5 -3.0]) ~ [0.0 0.5210953054937474 -10.017874927409903]",
    values_in_f64: "Sinh(f64 [0.0 0.5 -3.0]) ~ f64 [0.0 0.5210953054937474 -10.017874927409903]",
    keeps_the_shape: "Sinh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Sinh(1) ! `T`",
}
