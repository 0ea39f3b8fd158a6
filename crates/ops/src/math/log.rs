//! `Log`: the natural logarithm.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.log());

pub(crate) fn def() -> OpDef {
    unary!("Log", fields, Formula)
        .doc("Computes the natural logarithm of each element.")
        .gradient(Gradient::of(grad))
}

// d log(x) = dx / x
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy / x);
    Ok(())
}

cases! {
    values: "Log([1.0 2.718281828459045 10.0]) ~ [0.0 1.0 2.302585092994046]",
    values_in_f64: "Log(f64 [1.0 2.718281828459045 10.0]) ~ f64 [0.0 1.0 2.302585092994046]",
    keeps_the_shape: "Log(f32[?,3]) : f32[?,3]",
    refuses_integers: "Log(1) ! `T`",
}
