//! `FloorMod`: the remainder with the sign of the divisor.

use crate::shared::elementwise::Failure;
use millstream_graph::op::{GradCx, Gradient, OpDef, Operator};
use millstream_tensor::Result;

formula!(x, y: Real => x.floor_mod(y); y.divides_nothing() => Failure::DIVISION);

pub(crate) fn def() -> OpDef {
    binary!("FloorMod", reals, Formula)
        .doc(
            "Computes the remainder of `FloorDiv` elementwise, with broadcasting: `x - y * floor(x / y)`. \
             It has the sign of `y`.",
        )
        .operator(Operator::Rem)
        .gradient(Gradient::of(grad))
}

// d(x mod y) = dx - floor(x / y) dy
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    cx.give_summed(0, dz);
    if cx.wants(1) {
        let (x, y) = (cx.input(0), cx.input(1));
        cx.give_summed(1, dz * -cx.call("FloorDiv", [x, y]));
    }
    Ok(())
}

cases! {
    has_the_sign_of_the_divisor: "FloorMod([7 -7 7 -7 6], [3 3 -3 -3 3]) = [1 2 -2 -1 0]",
    floats_too: "FloorMod([5.0 -5.0 -4.0], [-3.0 3.0 2.0]) = [-1.0 1.0 -0.0]",
    refuses_zero: "FloorMod(1, 0) ! division by zero",
    of_the_least: "FloorMod(i8 -128, i8 -1) = i8 0",
    broadcasts_shapes: "FloorMod(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "FloorMod(i32[2], i32[3]) ! do not broadcast",
}
