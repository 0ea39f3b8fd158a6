//! `Rsqrt`: one over the square root.

use millstream_graph::op::OpDef;

formula!(x: Field => x.rsqrt());

pub(crate) fn def() -> OpDef {
    unary!("Rsqrt", fields, Formula).doc("One over the square root of each element.")
}

cases! {
    values: "Rsqrt([4.0 0.25]) ~ [0.5 2.0]",
    values_in_f64: "Rsqrt(f64 [4.0 0.25]) ~ f64 [0.5 2.0]",
    keeps_the_shape: "Rsqrt(f32[?,3]) : f32[?,3]",
    refuses_integers: "Rsqrt(1) ! `T`",
}
