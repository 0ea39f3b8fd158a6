//! `GreaterEqual`: elementwise `x >= y`.

use millstream_graph::op::{Meaning, OpDef};

formula!(x, y: Real => y.less_equal(x), T::Mask);

pub(crate) fn def() -> OpDef {
    compare!("GreaterEqual", reals, Formula).means(Meaning::GreaterEqual).doc(
        "Returns whether `x >= y`, elementwise, with broadcasting. The result is false where either is \
         NaN.",
    )
}

cases! {
    compares: "GreaterEqual([1 2 3], 2) = [false true true]",
    nan: "GreaterEqual([nan 1.0], [1.0 nan]) = [false false]",
    broadcasts: "GreaterEqual(f32[?,1], f32[5]) : bool[?,5]",
    wants_shapes_that_fit: "GreaterEqual([1 2], [1 2 3]) ! do not broadcast",
}
