//! `Rsqrt`: the reciprocal of the square root.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.rsqrt());

pub(crate) fn def() -> OpDef {
    unary!("Rsqrt", fields, Formula)
        .doc("Computes the reciprocal of the square root of each element.")
        .gradient(Gradient::of(grad))
}

// d(1 / √x) = -(1 / √x)³ dx / 2
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    cx.give(0, cx.call("RsqrtGrad", [y, dy]));
    Ok(())
}

cases! {
    values: "Rsqrt([4.0 0.25]) ~ [0.5 2.0]",
    values_in_f64: "Rsqrt(f64 [4.0 0.25]) ~ f64 [0.5 2.0]",
    keeps_the_shape: "Rsqrt(f32[?,3]) : f32[?,3]",
    refuses_integers: "Rsqrt(1) ! `T`",
}
