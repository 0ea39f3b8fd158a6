//! `Erf`: the error function.

use millstream_graph::op::OpDef;

formula!(x: Float => x.erf());

pub(crate) fn def() -> OpDef {
    unary!("Erf", floats, Formula).doc("The error function of each element.")
}

cases! {
    values: "Erf([0.0 0.5 -3.0]) ~ [0.0 0.5204998778130465 -0.9999779095030014]",
    values_in_f64: "Erf(f64 [0.0 0.5 -3.0]) ~ f64 [0.0 0.5204998778130465 -0.9999779095030014]",
    keeps_the_shape: "Erf(f32[?,3]) : f32[?,3]",
    refuses_integers: "Erf(1) ! `T`",
}
