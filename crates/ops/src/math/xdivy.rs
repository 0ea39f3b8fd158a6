//! `Xdivy`: quotient, zero for a zero dividend.

use millstream_graph::op::OpDef;

formula!(x, y: Field => T::select(x.equal(T::int(0)), T::int(0), x.div(y)));

pub(crate) fn def() -> OpDef {
    binary!("Xdivy", fields, Formula).doc("`x / y`, and 0 where `x` is 0.")
}

cases! {
    zero_for_zero: "Xdivy([0.0 0.0 1.0], [0.0 nan 0.0]) = [0.0 0.0 inf]",
    divides: "Xdivy(3.0, 2.0) = 1.5",
    broadcasts_shapes: "Xdivy(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "Xdivy(f32[2], f32[3]) ! do not broadcast",
}
