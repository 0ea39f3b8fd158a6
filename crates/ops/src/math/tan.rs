//! `Tan`: the tangent.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.tan());

pub(crate) fn def() -> OpDef {
    unary!("Tan", fields, Formula)
        .doc("Computes the tangent of each element, an angle in radians.")
        .gradient(Gradient::of(grad))
}

// d tan(x) = dx / cos(x)²
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy / cx.call("Square", [cx.call("Cos", [x])]));
    Ok(())
}

cases! {
    values: "Tan([0.0 1.0 -4.0]) ~ [0.0 1.5574077246549023 -1.1578212823495775]",
    values_in_f64: "Tan(f64 [0.0 1.0 -4.0]) ~ f64 [0.0 1.5574077246549023 -1.1578212823495775]",
    keeps_the_shape: "Tan(f32[?,3]) : f32[?,3]",
    refuses_integers: "Tan(1) ! `T`",
}
