//! `NotEqual`: elementwise inequality.

use super::equality::equality;
use millstream_graph::op::OpDef;

pub(crate) fn def() -> OpDef {
    equality::<false>("NotEqual").doc(
        "Returns whether `x` and `y` are different, elementwise, with broadcasting. A NaN is not equal to \
         itself. Shapes that do not broadcast are an error or, if `incompatible_shape_error` is false, give \
         the scalar `true`.",
    )
}

cases! {
    compares: "NotEqual([1.5 2.0], 1.5) = [false true]",
    compares_scalars: "NotEqual(3, 4) = true",
    nan_differs: "NotEqual(nan, nan) = true",
    strings: "NotEqual([\"a\" \"b\"], [\"a\" \"c\"]) = [false true]",
    bools: "NotEqual([true false], true) = [false true]",
    quantised: "NotEqual(qi8 [1 2], qi8 1) = [false true]",
    shapes_may_differ: "NotEqual([1 2], [1 2 3]; incompatible_shape_error=false) = true",
    shapes_should_not: "NotEqual([1 2], [1 2 3]) ! do not broadcast",
    broadcasts: "NotEqual(f32[?,1], f32[5]) : bool[?,5]",
    unknown_until_run: "NotEqual(f32[?,1], f32[5]; incompatible_shape_error=false) : bool[..]",
}
