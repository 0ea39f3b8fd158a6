//! `Mul`: elementwise product.

use millstream_graph::op::{OpDef, Operator};

formula!(x, y: Num => x.mul(y));

pub(crate) fn def() -> OpDef {
    binary!("Mul", numbers, Formula).doc("The elementwise product `x * y`, with broadcasting. Integers wrap around.").operator(Operator::Mul)
}

cases! {
    multiplies: "Mul([5 7], 2) = [10 14]",
    complex: "Mul(c64 [1+2i], c64 [3-1i]) = c64 [5+5i]",
    wraps_around: "Mul(i8 64, i8 2) = i8 -128",
    broadcasts_shapes: "Mul(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "Mul(i32[2], i32[3]) ! do not broadcast",
}
