//! `Atanh`: the inverse hyperbolic tangent.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.atanh());

pub(crate) fn def() -> OpDef {
    unary!("Atanh", fields, Formula)
        .doc(
            "Computes the inverse hyperbolic tangent of each element. The result is NaN for real elements \
             outside -1..=1.",
        )
        .gradient(Gradient::of(grad))
}

// d atanh(x) = dx / (1 - x²)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy / (1.0 - cx.call("Square", [x])));
    Ok(())
}

cases! {
    values: "Atanh([0.0 0.5 -0.9]) ~ [0.0 0.5493061443340548 -1.4722194895832204]",
    values_in_f64: "Atanh(f64 [0.0 0.5 -0.9]) ~ f64 [0.0 0.5493061443340548 -1.4722194895832204]",
    keeps_the_shape: "Atanh(f32[?,3]) : f32[?,3]",
    on_the_cut: "Atanh(c128 [2+0i]) ~ c128 [0.5493061443340548+1.5707963267948966i]",
    refuses_integers: "Atanh(1) ! `T`",
}
