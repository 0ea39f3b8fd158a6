//! `Lgamma`: the logarithm of the gamma function.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Float => x.lgamma());

pub(crate) fn def() -> OpDef {
    unary!("Lgamma", floats, Formula)
        .doc("Computes the logarithm of the absolute value of the gamma function of each element.")
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    cx.give(0, dy * cx.call("Digamma", [x]));
    Ok(())
}

cases! {
    values: "Lgamma([1.0 0.5 10.5 -1.5]) ~ [0.0 0.5723649429247004 13.940625219403763 0.8600470153764812]",
    values_in_f64: "Lgamma(f64 [1.0 0.5 10.5 -1.5]) ~ f64 [0.0 0.5723649429247004 13.940625219403763 0.8600470153764812]",
    keeps_the_shape: "Lgamma(f32[?,3]) : f32[?,3]",
    refuses_integers: "Lgamma(1) ! `T`",
}
