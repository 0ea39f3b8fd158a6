//! `Erf`: the error function.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;
use std::f64::consts::FRAC_2_SQRT_PI;

formula!(x: Float => x.erf());

pub(crate) fn def() -> OpDef {
    unary!("Erf", floats, Formula)
        .doc("Computes the error function of each element.")
        .gradient(Gradient::of(grad))
}

// d erf(x) = 2/√π exp(-x²) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let bell = cx.call("Exp", [-cx.call("Square", [x])]);
    cx.give(0, dy * (bell * FRAC_2_SQRT_PI));
    Ok(())
}

cases! {
    values: "Erf([0.0 0.5 -3.0]) ~ [0.0 0.5204998778130465 -0.9999779095030014]",
    values_in_f64: "Erf(f64 [0.0 0.5 -3.0]) ~ f64 [0.0 0.5204998778130465 -0.9999779095030014]",
    keeps_the_shape: "Erf(f32[?,3]) : f32[?,3]",
    refuses_integers: "Erf(1) ! `T`",
}
