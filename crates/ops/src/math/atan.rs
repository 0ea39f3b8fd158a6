//! `Atan`: the arc tangent.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.atan());

pub(crate) fn def() -> OpDef {
    unary!("Atan", fields, Formula)
        .doc("Computes the arc tangent of each element.")
        .gradient(Gradient::of(grad))
}

// d atan(x) = dx / (1 + x²)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy / (1.0 + cx.call("Square", [x])));
    Ok(())
}

cases! {
    values: "Atan([0.0 0.5 -100.0]) ~ [0.0 0.4636476090008061 -1.5607966601082315]",
    values_in_f64: "Atan(f64 [0.0 0.5 -100.0]) ~ f64 [0.0 0.4636476090008061 -1.5607966601082315]",
    keeps_the_shape: "Atan(f32[?,3]) : f32[?,3]",
    refuses_integers: "Atan(1) ! `T`",
}
