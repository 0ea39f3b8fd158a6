//! `Log1p`: the logarithm of one plus x.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.log1p());

pub(crate) fn def() -> OpDef {
    unary!("Log1p", fields, Formula)
        .doc("Computes `log(1 + x)` for each element, accurately also near zero.")
        .gradient(Gradient::of(grad))
}

// d log(1 + x) = dx / (1 + x)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy / (1.0 + x));
    Ok(())
}

cases! {
    values: "Log1p([0.0 1e-05 3.0]) ~ [0.0 9.999950000333332e-06 1.3862943611198906]",
    values_in_f64: "Log1p(f64 [0.0 1e-05 3.0]) ~ f64 [0.0 9.999950000333332e-06 1.3862943611198906]",
    keeps_the_shape: "Log1p(f32[?,3]) : f32[?,3]",
    refuses_integers: "Log1p(1) ! `T`",
}
