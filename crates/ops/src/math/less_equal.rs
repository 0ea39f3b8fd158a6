//! `LessEqual`: elementwise `x <= y`.

use millstream_graph::op::{Meaning, OpDef};

formula!(x, y: Real => x.less_equal(y), T::Mask);

pub(crate) fn def() -> OpDef {
    compare!("LessEqual", reals, Formula).means(Meaning::LessEqual).doc(
        "Returns whether `x <= y`, elementwise, with broadcasting. The result is false where either is \
         NaN.",
    )
}

cases! {
    compares: "LessEqual([1 2 3], 2) = [true true false]",
    nan: "LessEqual([nan 1.0], [1.0 nan]) = [false false]",
    broadcasts: "LessEqual(f32[?,1], f32[5]) : bool[?,5]",
    wants_shapes_that_fit: "LessEqual([1 2], [1 2 3]) ! do not broadcast",
}
