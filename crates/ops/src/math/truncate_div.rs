//! `TruncateDiv`: the quotient, of integers rounded towards zero.

use crate::shared::elementwise::Failure;
use millstream_graph::op::{Gradient, OpDef};

formula!(x, y: Num => x.div(y); y.divides_nothing() => Failure::TRUNCATING_DIVISION);

pub(crate) fn def() -> OpDef {
    binary!("TruncateDiv", numbers, Formula)
        .doc(
            "Computes `x / y` elementwise, with broadcasting. Integer quotients are rounded towards zero; other \
             quotients are not rounded. An integer division by zero is an error.",
        )
        .gradient(Gradient::none("constant between the steps of integers; none of floats, as in TensorFlow"))
}

cases! {
    rounds: "TruncateDiv([7 -7 7], [2 2 -2]) = [3 -3 -3]",
    floats_are_not_rounded: "TruncateDiv([-7.0 7.0 1.0], [2.0 -2.0 0.0]) = [-3.5 -3.5 inf]",
    complex: "TruncateDiv(c64 [5+5i], c64 [3-1i]) ~ c64 [1+2i]",
    refuses_zero: "TruncateDiv(1, 0) ! division by zero",
    wraps_around: "TruncateDiv(i8 -128, i8 -1) = i8 -128",
    broadcasts_shapes: "TruncateDiv(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "TruncateDiv(i32[2], i32[3]) ! do not broadcast",
}
