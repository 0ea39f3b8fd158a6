//! `Sinh`: the hyperbolic sine.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.sinh());

pub(crate) fn def() -> OpDef {
    unary!("Sinh", fields, Formula)
        .doc("Computes the hyperbolic sine of each element.")
        .gradient(Gradient::of(grad))
}

// d sinh(x) = cosh(x) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy * cx.call("Cosh", [x]));
    Ok(())
}

cases! {
    values: "Sinh([0.0 0.5 -3.0]) ~ [0.0 0.5210953054937474 -10.017874927409903]",
    values_in_f64: "Sinh(f64 [0.0 0.5 -3.0]) ~ f64 [0.0 0.5210953054937474 -10.017874927409903]",
    keeps_the_shape: "Sinh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Sinh(1) ! `T`",
}
