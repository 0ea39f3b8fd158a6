//! `Greater`: elementwise `x > y`.

use millstream_graph::op::{Meaning, OpDef};

formula!(x, y: Real => y.less(x), T::Mask);

pub(crate) fn def() -> OpDef {
    compare!("Greater", reals, Formula).means(Meaning::Greater).doc(
        "Returns whether `x > y`, elementwise, with broadcasting. The result is false where either is \
         NaN.",
    )
}

cases! {
    compares: "Greater([1 2 3], 2) = [false false true]",
    nan: "Greater([nan 1.0], [1.0 nan]) = [false false]",
    broadcasts: "Greater(f32[?,1], f32[5]) : bool[?,5]",
    wants_shapes_that_fit: "Greater([1 2], [1 2 3]) ! do not broadcast",
}
