//! `Cosh`: the hyperbolic cosine.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.cosh());

pub(crate) fn def() -> OpDef {
    unary!("Cosh", fields, Formula)
        .doc("Computes the hyperbolic cosine of each element.")
        .gradient(Gradient::of(grad))
}

// d cosh(x) = sinh(x) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy * cx.call("Sinh", [x]));
    Ok(())
}

cases! {
    values: "Cosh([0.0 0.5 -3.0]) ~ [1.0 1.1276259652063807 10.067661995777765]",
    values_in_f64: "Cosh(f64 [0.0 0.5 -3.0]) ~ f64 [1.0 1.1276259652063807 10.067661995777765]",
    keeps_the_shape: "Cosh(f32[?,3]) : f32[?,3]",
    refuses_integers: "Cosh(1) ! `T`",
}
