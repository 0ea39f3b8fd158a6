//! `Acosh`: the inverse of cosh.

use millstream_graph::op::OpDef;

formula!(x: Field => x.acosh());

pub(crate) fn def() -> OpDef {
    unary!("Acosh", fields, Formula).doc("The number whose hyperbolic cosine each element is; NaN below 1.")
}

cases! {
    values: "Acosh([1.0 1.5]) ~ [0.0 0.9624236501192069]",
    values_in_f64: "Acosh(f64 [1.0 1.5]) ~ f64 [0.0 0.9624236501192069]",
    keeps_the_shape: "Acosh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Acosh(1) ! `T`",
}
