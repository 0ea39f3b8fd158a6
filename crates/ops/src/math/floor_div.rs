//! `FloorDiv`: the quotient rounded down.

use crate::shared::elementwise::Failure;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Gradient, OpDef};
use millstream_tensor::dtypes;

formula!(x, y: Real => x.floor_div(y); y.divides_nothing() => Failure::DIVISION);

pub(crate) fn def() -> OpDef {
    OpDef::new("FloorDiv")
        .doc(
            "Computes `x / y` elementwise, rounded down, with broadcasting. As in TensorFlow, `T` admits \
             complex dtypes, but there is no kernel for them.",
        )
        .input("x", "T")
        .input("y", "T")
        .output("z", "T")
        .attr("T", OneOf(dtypes!(numbers)))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, reals, Formula))
        .gradient(Gradient::none("constant between its steps"))
}

cases! {
    rounds_down: "FloorDiv([7 -7 7 -7 6], [2 2 -2 -2 -3]) = [3 -4 -4 3 -2]",
    floats_too: "FloorDiv([-7.0 1.0], [2.0 0.0]) = [-4.0 inf]",
    refuses_zero: "FloorDiv([1], 0) ! division by zero",
    not_of_complex_numbers: "FloorDiv(c64 [1+2i], c64 [2+0i]) ! FloorDiv has no kernel for c64",
    wraps_around: "FloorDiv(i8 -128, i8 -1) = i8 -128",
    nothing_is_nothing: "FloorDiv(i32[0] [], 0) = i32[0] []",
    broadcasts_shapes: "FloorDiv(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "FloorDiv(i32[2], i32[3]) ! do not broadcast",
}
