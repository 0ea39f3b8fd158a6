//! `Xlogy`: x log y, zero for a zero x.

use millstream_graph::op::OpDef;

formula!(x, y: Field => T::select(x.equal(T::int(0)), T::int(0), x.mul(y.log())));

pub(crate) fn def() -> OpDef {
    binary!("Xlogy", fields, Formula).doc("`x * log(y)`, and 0 where `x` is 0.")
}

cases! {
    zero_for_zero: "Xlogy([0.0 0.0 1.0], [0.0 nan 0.0]) = [0.0 0.0 -inf]",
    values: "Xlogy(2.0, 10.0) ~ 4.6051702",
    broadcasts_shapes: "Xlogy(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "Xlogy(f32[2], f32[3]) ! do not broadcast",
}
