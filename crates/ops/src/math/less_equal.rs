//! `LessEqual`: x <= y.

use millstream_graph::op::OpDef;

formula!(x, y: Real => x.less_equal(y), T::Mask);

pub(crate) fn def() -> OpDef {
    compare!("LessEqual", reals, Formula).doc("Whether `x <= y`, elementwise, with broadcasting. False where either is NaN.")
}

cases! {
    compares: "LessEqual([1 2 3], 2) = [true true false]",
    nan: "LessEqual([nan 1.0], [1.0 nan]) = [false false]",
    broadcasts: "LessEqual(f32[?,1], f32[5]) : bool[?,5]",
    wants_shapes_that_fit: "LessEqual([1 2], [1 2 3]) ! do not broadcast",
}
