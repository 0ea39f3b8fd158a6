//! `Floor`: rounding down to an integer.

use millstream_graph::op::{Gradient, OpDef};

formula!(x: Float => x.floor());

pub(crate) fn def() -> OpDef {
    unary!("Floor", floats, Formula)
        .doc("Rounds each element down to the nearest integer.")
        .gradient(Gradient::none("constant between its steps"))
}

cases! {
    values: "Floor([1.5 -1.5 2.0]) ~ [1.0 -2.0 2.0]",
    values_in_f64: "Floor(f64 [1.5 -1.5 2.0]) ~ f64 [1.0 -2.0 2.0]",
    keeps_the_shape: "Floor(f32[?,3]) : f32[?,3]",
    refuses_integers: "Floor(1) ! `T`",
}
