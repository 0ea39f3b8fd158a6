//! `Sub`: the elementwise difference.

use millstream_graph::op::{GradCx, Gradient, OpDef, Operator};
use millstream_tensor::Result;

formula!(x, y: Num => x.sub(y));

pub(crate) fn def() -> OpDef {
    binary!("Sub", numbers, Formula)
        .doc("Computes `x - y` elementwise, with broadcasting. Integers wrap around.")
        .operator(Operator::Sub)
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    cx.give_summed(0, dz);
    if cx.wants(1) {
        cx.give_summed(1, -dz);
    }
    Ok(())
}

cases! {
    subtracts: "Sub([5 7], 2) = [3 5]",
    from_one: "Sub(1.0, [0.25 2.0]) = [0.75 -1.0]",
    wraps_around: "Sub(u8 1, u8 2) = u8 255",
    broadcasts_shapes: "Sub(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "Sub(i32[2], i32[3]) ! do not broadcast",
}
