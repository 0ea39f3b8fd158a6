//! `Sqrt`: the square root.

use millstream_graph::op::OpDef;

formula!(x: Field => x.sqrt());

pub(crate) fn def() -> OpDef {
    unary!("Sqrt", fields, Formula).doc("The square root of each element; NaN of negative ones.")
}

cases! {
    values: "Sqrt([4.0 0.0 2.25]) ~ [2.0 0.0 1.5]",
    values_in_f64: "Sqrt(f64 [4.0 0.0 2.25]) ~ f64 [2.0 0.0 1.5]",
    keeps_the_shape: "Sqrt(f32[?,3]) : f32[?,3]",
    refuses_integers: "Sqrt(1) ! `T`",
}
