//! `Expm1`: the exponential function minus one.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.expm1());

pub(crate) fn def() -> OpDef {
    unary!("Expm1", fields, Formula)
        .doc("Computes `exp(x) - 1` for each element, accurately also near zero.")
        .gradient(Gradient::of(grad))
}

// d(eˣ - 1) = eˣ dx. It is computed from x, as a small eˣ is lost by rounding in the value eˣ - 1.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy * cx.call("Exp", [x]));
    Ok(())
}

cases! {
    values: "Expm1([0.0 1e-05 2.0]) ~ [0.0 1.0000050000166668e-05 6.38905609893065]",
    values_in_f64: "Expm1(f64 [0.0 1e-05 2.0]) ~ f64 [0.0 1.0000050000166668e-05 6.38905609893065]",
    keeps_the_shape: "Expm1(f32[?,3]) : f32[?,3]",
    refuses_integers: "Expm1(1) ! `T`",
}
