//! `Sqrt`: the square root.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.sqrt());

pub(crate) fn def() -> OpDef {
    unary!("Sqrt", fields, Formula)
        .doc("Computes the square root of each element. The result is NaN for negative real elements.")
        .gradient(Gradient::of(grad))
}

// d √x = dx / (2 √x)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    cx.give(0, cx.call("SqrtGrad", [y, dy]));
    Ok(())
}

cases! {
    values: "Sqrt([4.0 0.0 2.25]) ~ [2.0 0.0 1.5]",
    values_in_f64: "Sqrt(f64 [4.0 0.0 2.25]) ~ f64 [2.0 0.0 1.5]",
    keeps_the_shape: "Sqrt(f32[?,3]) : f32[?,3]",
    refuses_integers: "Sqrt(1) ! `T`",
}
