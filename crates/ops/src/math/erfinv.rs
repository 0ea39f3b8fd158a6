//! `Erfinv`: the inverse of the error function.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;
use std::f64::consts::PI;

formula!(x: Float => x.erfinv());

pub(crate) fn def() -> OpDef {
    unary!("Erfinv", floats, Formula)
        .doc("Computes the inverse of the error function for each element. The result is NaN outside -1..=1.")
        .gradient(Gradient::of(grad))
}

// d erf⁻¹(x) = √π/2 exp(y²) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dx, y) = (cx.grad(0), cx.output(0));
    let slope = cx.call("Exp", [cx.call("Square", [y])]) * (0.5 * PI.sqrt());
    cx.give(0, dx * slope);
    Ok(())
}

cases! {
    values: "Erfinv([0.0 0.5 -0.9 1.0 -1.0]) ~ [0.0 0.4769362762044699 -1.1630871536766743 inf -inf]",
    near_one: "Erfinv(f64 [0.999999999999 1e-300]) ~ f64 [5.042021092861664 8.862269254527581e-301]",
    outside: "Erfinv(2.0) = nan",
    keeps_the_shape: "Erfinv(f32[?,3]) : f32[?,3]",
    refuses_integers: "Erfinv(1) ! `T`",
}
