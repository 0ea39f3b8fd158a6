//! `Digamma`: the logarithmic derivative of the gamma function.

use crate::shared::gradient::at_least_single;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Float => x.digamma());

pub(crate) fn def() -> OpDef {
    unary!("Digamma", floats, Formula)
        .doc("Computes the derivative of `Lgamma` for each element. The result is NaN at its poles.")
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let one = cx.scalar(cx.dtype(0), 1.0);
    cx.give(0, dy * at_least_single(cx, "Polygamma", [one, x]));
    Ok(())
}

cases! {
    values: "Digamma([1.0 2.0 -0.5 20.0]) ~ [-0.5772156649015329 0.42278433509846713 0.03648997397857652 2.9705239922421494]",
    values_in_f64: "Digamma(f64 [1.0 2.0 -0.5 20.0]) ~ f64 [-0.5772156649015329 0.42278433509846713 0.03648997397857652 2.9705239922421494]",
    infinite_at_its_poles: "Digamma([0.0 -1.0 -10.0]) = [inf inf inf]",
    keeps_the_shape: "Digamma(f32[?,3]) : f32[?,3]",
    refuses_integers: "Digamma(1) ! `T`",
}
