//! `Sin`: the sine.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.sin());

pub(crate) fn def() -> OpDef {
    unary!("Sin", fields, Formula)
        .doc("Computes the sine of each element, an angle in radians.")
        .gradient(Gradient::of(grad))
}

// d sin(x) = cos(x) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy * cx.call("Cos", [x]));
    Ok(())
}

cases! {
    values: "Sin([0.0 1.0 -4.0]) ~ [0.0 0.8414709848078965 0.7568024953079282]",
    values_in_f64: "Sin(f64 [0.0 1.0 -4.0]) ~ f64 [0.0 0.8414709848078965 0.7568024953079282]",
    keeps_the_shape: "Sin(f32[?,3]) : f32[?,3]",
    refuses_integers: "Sin(1) ! `T`",
}
