//! `Tanh`: the hyperbolic tangent.

use millstream_graph::op::OpDef;

formula!(x: Field => x.tanh());

pub(crate) fn def() -> OpDef {
    unary!("Tanh", fields, Formula).doc("The hyperbolic tangent of each element.")
}

cases! {
    values: "Tanh([0.0 0.5 -3.0 100.0]) ~ [0.0 0.46211715726000974 -0.9950547536867305 1.0]",
    values_in_f64: "Tanh(f64 [0.0 0.5 -3.0 100.0]) ~ f64 [0.0 0.46211715726000974 -0.9950547536867305 1.0]",
    keeps_the_shape: "Tanh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Tanh(1) ! `T`",
}
