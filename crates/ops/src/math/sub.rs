//! `Sub`: elementwise difference.

use millstream_graph::op::{OpDef, Operator};

formula!(x, y: Num => x.sub(y));

pub(crate) fn def() -> OpDef {
    binary!("Sub", numbers, Formula).doc("The elementwise difference `x - y`, with broadcasting. Integers wrap around.").operator(Operator::Sub)
}

cases! {
    subtracts: "Sub([5 7], 2) = [3 5]",
    from_one: "Sub(1.0, [0.25 2.0]) = [0.75 -1.0]",
    wraps_around: "Sub(u8 1, u8 2) = u8 255",
    broadcasts_shapes: "Sub(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "Sub(i32[2], i32[3]) ! do not broadcast",
}
