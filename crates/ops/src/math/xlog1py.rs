//! `Xlog1py`: x log (1 + y), zero for a zero x.

use millstream_graph::op::OpDef;

formula!(x, y: Field => T::select(x.equal(T::int(0)), T::int(0), x.mul(y.log1p())));

pub(crate) fn def() -> OpDef {
    binary!("Xlog1py", fields, Formula).doc("`x * log1p(y)`, and 0 where `x` is 0.")
}

cases! {
    zero_for_zero: "Xlog1py([0.0 0.0 1.0], [-1.0 nan -1.0]) = [0.0 0.0 -inf]",
    values: "Xlog1py(2.0, 9.0) ~ 4.6051702",
    broadcasts_shapes: "Xlog1py(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "Xlog1py(f32[2], f32[3]) ! do not broadcast",
}
