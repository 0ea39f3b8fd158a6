//! `Cos`: the cosine.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.cos());

pub(crate) fn def() -> OpDef {
    unary!("Cos", fields, Formula)
        .doc("Computes the cosine of each element, an angle in radians.")
        .gradient(Gradient::of(grad))
}

// d cos(x) = -sin(x) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, -dy * cx.call("Sin", [x]));
    Ok(())
}

cases! {
    values: "Cos([0.0 1.0 -4.0]) ~ [1.0 0.5403023058681398 -0.6536436208636119]",
    values_in_f64: "Cos(f64 [0.0 1.0 -4.0]) ~ f64 [1.0 0.5403023058681398 -0.6536436208636119]",
    keeps_the_shape: "Cos(f32[?,3]) : f32[?,3]",
    refuses_integers: "Cos(1) ! `T`",
}
