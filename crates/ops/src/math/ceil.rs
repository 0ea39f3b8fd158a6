//! `Ceil`: rounding up to an integer.

use millstream_graph::op::{Gradient, OpDef};

formula!(x: Float => x.ceil());

pub(crate) fn def() -> OpDef {
    unary!("Ceil", floats, Formula)
        .doc("Rounds each element up to the nearest integer.")
        .gradient(Gradient::none("constant between its steps"))
}

cases! {
    values: "Ceil([1.5 -1.5 2.0]) ~ [2.0 -1.0 2.0]",
    values_in_f64: "Ceil(f64 [1.5 -1.5 2.0]) ~ f64 [2.0 -1.0 2.0]",
    keeps_the_shape: "Ceil(f32[?,3]) : f32[?,3]",
    refuses_integers: "Ceil(1) ! `T`",
}
