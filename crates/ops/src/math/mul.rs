//! `Mul`: the elementwise product.

use millstream_graph::op::{GradCx, Gradient, OpDef, Operator};
use millstream_tensor::Result;

formula!(x, y: Num => x.mul(y));

pub(crate) fn def() -> OpDef {
    binary!("Mul", numbers, Formula)
        .doc("Computes `x * y` elementwise, with broadcasting. Integers wrap around.")
        .operator(Operator::Mul)
        .gradient(Gradient::of(grad))
}

// d(x y) = y dx + x dy
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    for (i, other) in [(0, 1), (1, 0)] {
        if cx.wants(i) {
            let other = cx.input(other);
            let other = cx.conj(other);
            cx.give_summed(i, dz * other);
        }
    }
    Ok(())
}

cases! {
    multiplies: "Mul([5 7], 2) = [10 14]",
    complex: "Mul(c64 [1+2i], c64 [3-1i]) = c64 [5+5i]",
    wraps_around: "Mul(i8 64, i8 2) = i8 -128",
    broadcasts_shapes: "Mul(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "Mul(i32[2], i32[3]) ! do not broadcast",
}
