//! `Erfc`: the complementary error function.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;
use std::f64::consts::FRAC_2_SQRT_PI;

formula!(x: Float => x.erfc());

pub(crate) fn def() -> OpDef {
    unary!("Erfc", floats, Formula)
        .doc("Computes `1 - erf(x)` for each element, accurately also where `erf(x)` is close to 1.")
        .gradient(Gradient::of(grad))
}

// d erfc(x) = -2/√π exp(-x²) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let bell = cx.call("Exp", [-cx.call("Square", [x])]);
    cx.give(0, dy * (bell * -FRAC_2_SQRT_PI));
    Ok(())
}

cases! {
    values: "Erfc([0.0 0.5 3.0]) ~ [1.0 0.4795001221869535 2.2090496998585438e-05]",
    values_in_f64: "Erfc(f64 [0.0 0.5 3.0]) ~ f64 [1.0 0.4795001221869535 2.2090496998585438e-05]",
    keeps_the_shape: "Erfc(f32[?,3]) : f32[?,3]",
    refuses_integers: "Erfc(1) ! `T`",
}
