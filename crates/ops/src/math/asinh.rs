//! `Asinh`: the inverse hyperbolic sine.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.asinh());

pub(crate) fn def() -> OpDef {
    unary!("Asinh", fields, Formula)
        .doc("Computes the inverse hyperbolic sine of each element.")
        .gradient(Gradient::of(grad))
}

// d asinh(x) = dx / cosh(asinh(x))
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    let y = cx.conj(y);
    cx.give(0, dy / cx.call("Cosh", [y]));
    Ok(())
}

cases! {
    values: "Asinh([0.0 0.5 -3.0]) ~ [0.0 0.48121182505960347 -1.8184464592320668]",
    values_in_f64: "Asinh(f64 [0.0 0.5 -3.0]) ~ f64 [0.0 0.48121182505960347 -1.8184464592320668]",
    keeps_the_shape: "Asinh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Asinh(1) ! `T`",
}
