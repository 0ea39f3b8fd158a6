//! `Asin`: the arc sine.

use millstream_graph::op::OpDef;

formula!(x: Field => x.asin());

pub(crate) fn def() -> OpDef {
    unary!("Asin", fields, Formula).doc("The angle whose sine each element is; NaN outside -1..=1.")
}

cases! {
    values: "Asin([0.0 0.5 -1.0]) ~ [0.0 0.5235987755982989 -1.5707963267948966]",
    values_in_f64: "Asin(f64 [0.0 0.5 -1.0]) ~ f64 [0.0 0.5235987755982989 -1.5707963267948966]",
    keeps_the_shape: "Asin(f32[?,3]) : f32[?,3]",
    refuses_integers: "Asin(1) ! `T`",
}
