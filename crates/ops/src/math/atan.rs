//! `Atan`: the arc tangent.

use millstream_graph::op::OpDef;

formula!(x: Field => x.atan());

pub(crate) fn def() -> OpDef {
    unary!("Atan", fields, Formula).doc("The angle whose tangent each element is.")
}

cases! {
    values: "Atan([0.0 0.5 -100.0]) ~ [0.0 0.4636476090008061 -1.5607966601082315]",
    values_in_f64: "Atan(f64 [0.0 0.5 -100.0]) ~ f64 [0.0 0.4636476090008061 -1.5607966601082315]",
    keeps_the_shape: "Atan(f32[?,3]) : f32[?,3]",
    refuses_integers: "Atan(1) ! `T`",
}
