//! `Exp`: the exponential function.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.exp());

pub(crate) fn def() -> OpDef {
    unary!("Exp", fields, Formula)
        .doc("Computes e to the power of each element.")
        .gradient(Gradient::of(grad))
}

// d eˣ = eˣ dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    let y = cx.conj(y);
    cx.give(0, dy * y);
    Ok(())
}

cases! {
    values: "Exp([0.0 1.0 -2.0]) ~ [1.0 2.718281828459045 0.1353352832366127]",
    values_in_f64: "Exp(f64 [0.0 1.0 -2.0]) ~ f64 [1.0 2.718281828459045 0.1353352832366127]",
    keeps_the_shape: "Exp(f32[?,3]) : f32[?,3]",
    real_beyond_range: "Imag(Exp(c64 [1000+0i])) = [0.0]",
    refuses_integers: "Exp(1) ! `T`",
}
