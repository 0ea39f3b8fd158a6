//! `Less`: elementwise `x < y`.

use millstream_graph::op::{Meaning, OpDef};

formula!(x, y: Real => x.less(y), T::Mask);

pub(crate) fn def() -> OpDef {
    compare!("Less", reals, Formula).means(Meaning::Less).doc(
        "Returns whether `x < y`, elementwise, with broadcasting. The result is false where either is \
         NaN.",
    )
}

cases! {
    compares: "Less([1 2 3], 2) = [true false false]",
    compares_scalars: "Less(1, 2) = true",
    nan_is_not_less: "Less([nan 1.0], [1.0 nan]) = [false false]",
    broadcasts: "Less(f32[?,1], f32[5]) : bool[?,5]",
    wants_shapes_that_fit: "Less([1 2], [1 2 3]) ! do not broadcast",
}
