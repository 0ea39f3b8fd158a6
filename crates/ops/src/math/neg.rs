//! `Neg`: negation.

use millstream_graph::op::{GradCx, Gradient, OpDef, Operator};
use millstream_tensor::Result;

formula!(x: Num => x.neg());

pub(crate) fn def() -> OpDef {
    unary!("Neg", numbers, Formula)
        .doc("Computes the negative of each element. Integers wrap around.")
        .operator(Operator::Neg)
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    cx.give(0, -dy);
    Ok(())
}

cases! {
    negates: "Neg([1.5 -0.0]) = [-1.5 0.0]",
    wraps_around: "Neg(i8 [-128 1]) = i8 [-128 -1]",
    keeps_the_shape: "Neg(f32[?,3]) : f32[?,3]",
    refuses_bools: "Neg(true) ! `T` ",
}
