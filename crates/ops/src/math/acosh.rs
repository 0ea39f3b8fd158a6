//! `Acosh`: the inverse hyperbolic cosine.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.acosh());

pub(crate) fn def() -> OpDef {
    unary!("Acosh", fields, Formula)
        .doc(
            "Computes the inverse hyperbolic cosine of each element. The result is NaN for real elements \
             below 1.",
        )
        .gradient(Gradient::of(grad))
}

// d acosh(x) = dx / sinh(acosh(x))
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    let y = cx.conj(y);
    cx.give(0, dy / cx.call("Sinh", [y]));
    Ok(())
}

cases! {
    values: "Acosh([1.0 1.5]) ~ [0.0 0.9624236501192069]",
    values_in_f64: "Acosh(f64 [1.0 1.5]) ~ f64 [0.0 0.9624236501192069]",
    keeps_the_shape: "Acosh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Acosh(1) ! `T`",
}
