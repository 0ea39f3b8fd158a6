//! `Equal`: elementwise equality.

use super::equality::equality;
use millstream_graph::op::OpDef;

pub(crate) fn def() -> OpDef {
    equality::<true>("Equal").doc(
        "Returns whether `x` and `y` are equal, elementwise, with broadcasting. A NaN is not equal to \
         itself. Shapes that do not broadcast are an error or, if `incompatible_shape_error` is false, give \
         the scalar `false`.",
    )
}

cases! {
    compares: "Equal([1.5 2.0], 1.5) = [true false]",
    compares_scalars: "Equal(3, 4) = false",
    nan_differs: "Equal(nan, nan) = false",
    strings: "Equal([\"a\" \"b\"], [\"a\" \"c\"]) = [true false]",
    bools: "Equal([true false], true) = [true false]",
    quantised: "Equal(qi8 [1 2], qi8 1) = [true false]",
    shapes_may_differ: "Equal([1 2], [1 2 3]; incompatible_shape_error=false) = false",
    shapes_should_not: "Equal([1 2], [1 2 3]) ! do not broadcast",
    broadcasts: "Equal(f32[?,1], f32[5]) : bool[?,5]",
    unknown_until_run: "Equal(f32[?,1], f32[5]; incompatible_shape_error=false) : bool[..]",
    known_to_differ: "Equal(f32[2], f32[3]; incompatible_shape_error=false) : bool[]",
}
