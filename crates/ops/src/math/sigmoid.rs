//! `Sigmoid`: the logistic function.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.sigmoid());

pub(crate) fn def() -> OpDef {
    unary!("Sigmoid", fields, Formula)
        .doc("Computes `1 / (1 + exp(-x))` for each element.")
        .gradient(Gradient::of(grad))
}

// dσ(x) = σ(x) (1 - σ(x)) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    let y = cx.conj(y);
    cx.give(0, cx.call("SigmoidGrad", [y, dy]));
    Ok(())
}

cases! {
    values: "Sigmoid([0.0 2.0 -100.0]) ~ [0.5 0.8807970779778823 3.720075976020836e-44]",
    values_in_f64: "Sigmoid(f64 [0.0 2.0 -100.0]) ~ f64 [0.5 0.8807970779778823 3.720075976020836e-44]",
    keeps_the_shape: "Sigmoid(f32[?,3]) : f32[?,3]",
    refuses_integers: "Sigmoid(1) ! `T`",
}
