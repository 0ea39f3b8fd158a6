//! `Tanh`: the hyperbolic tangent.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.tanh());

pub(crate) fn def() -> OpDef {
    unary!("Tanh", fields, Formula)
        .doc("Computes the hyperbolic tangent of each element.")
        .gradient(Gradient::of(grad))
}

// d tanh(x) = (1 - tanh(x)²) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    let y = cx.conj(y);
    cx.give(0, cx.call("TanhGrad", [y, dy]));
    Ok(())
}

cases! {
    values: "Tanh([0.0 0.5 -3.0 100.0]) ~ [0.0 0.46211715726000974 -0.9950547536867305 1.0]",
    values_in_f64: "Tanh(f64 [0.0 0.5 -3.0 100.0]) ~ f64 [0.0 0.46211715726000974 -0.9950547536867305 1.0]",
    keeps_the_shape: "Tanh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Tanh(1) ! `T`",
}
