//! `Log`: the natural logarithm.

use millstream_graph::op::OpDef;

formula!(x: Field => x.log());

pub(crate) fn def() -> OpDef {
    unary!("Log", fields, Formula).doc("The natural logarithm of each element.")
}

cases! {
    values: "Log([1.0 2.718281828459045 10.0]) ~ [0.0 1.0 2.302585092994046]",
    values_in_f64: "Log(f64 [1.0 2.718281828459045 10.0]) ~ f64 [0.0 1.0 2.302585092994046]",
    keeps_the_shape: "Log(f32[?,3]) : f32[?,3]",
    refuses_integers: "Log(1) ! `T`",
}
