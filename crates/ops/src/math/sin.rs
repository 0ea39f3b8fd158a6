//! `Sin`: the sine.

use millstream_graph::op::OpDef;

formula!(x: Field => x.sin());

pub(crate) fn def() -> OpDef {
    unary!("Sin", fields, Formula).doc("The sine of each element, in radians.")
}

cases! {
    values: "Sin([0.0 1.0 -4.0]) ~ [0.0 0.8414709848078965 0.7568024953079282]",
    values_in_f64: "Sin(f64 [0.0 1.0 -4.0]) ~ f64 [0.0 0.8414709848078965 0.7568024953079282]",
    keeps_the_shape: "Sin(f32[?,3]) : f32[?,3]",
    refuses_integers: "Sin(1) ! `T`",
}
