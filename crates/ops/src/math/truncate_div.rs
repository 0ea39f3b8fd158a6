//! `TruncateDiv`: the quotient rounded towards zero.

use crate::shared::elementwise::Failure;
use millstream_graph::op::{Gradient, OpDef};

formula!(x, y: Real => x.trunc_div(y); y.divides_nothing() => Failure::TRUNCATING_DIVISION);

pub(crate) fn def() -> OpDef {
    binary!("TruncateDiv", reals, Formula)
        .doc(
            "Computes `x / y` elementwise, rounded towards zero, with broadcasting. An integer division by \
             zero is an error.",
        )
        .gradient(Gradient::none("constant between its steps"))
}

cases! {
    rounds: "TruncateDiv([7 -7 7], [2 2 -2]) = [3 -3 -3]",
    floats_too: "TruncateDiv([-7.0], [2.0]) = [-3.0]",
    refuses_zero: "TruncateDiv(1, 0) ! division by zero",
    wraps_around: "TruncateDiv(i8 -128, i8 -1) = i8 -128",
    broadcasts_shapes: "TruncateDiv(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "TruncateDiv(i32[2], i32[3]) ! do not broadcast",
}
