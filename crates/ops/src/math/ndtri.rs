//! `Ndtri`: the quantile function of the normal distribution.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;
use std::f64::consts::PI;

formula!(x: Float => x.ndtri());

pub(crate) fn def() -> OpDef {
    unary!("Ndtri", floats, Formula)
        .doc(
            "Computes the quantile function of the standard normal distribution for each element: the \
             number below which a sample lies with probability `x`. The result is NaN outside 0..=1.",
        )
        .gradient(Gradient::of(grad))
}

// d Φ⁻¹(x) = √(2π) exp(y²/2) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dx, y) = (cx.grad(0), cx.output(0));
    let slope = cx.call("Exp", [cx.call("Square", [y]) * 0.5]) * (2.0 * PI).sqrt();
    cx.give(0, dx * slope);
    Ok(())
}

cases! {
    values: "Ndtri([0.5 0.1 0.9 0.0 1.0]) ~ [0.0 -1.2815515655446004 1.2815515655446004 -inf inf]",
    tails: "Ndtri(f64 [1e-300 0.3]) ~ f64 [-37.04709629936185 -0.5244005127080407]",
    outside: "Ndtri([-0.1 1.5]) = [nan nan]",
    keeps_the_shape: "Ndtri(f32[?,3]) : f32[?,3]",
    refuses_integers: "Ndtri(1) ! `T`",
}
