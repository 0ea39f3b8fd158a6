//! `Cosh`: the hyperbolic cosine.

use millstream_graph::op::OpDef;

formula!(x: Field => x.cosh());

pub(crate) fn def() -> OpDef {
    unary!("Cosh", fields, Formula).doc("The hyperbolic cosine of each element.")
}

cases! {
    values: "Cosh([0.0 0.5 -3.0]) ~ [1.0 1.1276259652063807 10.067661995777765]",
    values_in_f64: "Cosh(f64 [0.0 0.5 -3.0]) ~ f64 [1.0 1.1276259652063807 10.067661995777765]",
    keeps_the_shape: "Cosh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Cosh(1) ! `T`",
}
