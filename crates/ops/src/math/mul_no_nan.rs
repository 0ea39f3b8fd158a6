//! `MulNoNan`: product, zero for a zero factor.

use millstream_graph::op::OpDef;

formula!(x, y: Field => T::select(y.equal(T::int(0)), T::int(0), x.mul(y)));

pub(crate) fn def() -> OpDef {
    binary!("MulNoNan", fields, Formula).doc("`x * y`, and 0 where `y` is 0, even if `x` is infinite or NaN.")
}

cases! {
    zero_for_zero: "MulNoNan([nan inf 2.0], [0.0 -0.0 3.0]) = [0.0 0.0 6.0]",
    only_by_the_second: "MulNoNan(0.0, nan) = nan",
    broadcasts_shapes: "MulNoNan(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "MulNoNan(f32[2], f32[3]) ! do not broadcast",
}
