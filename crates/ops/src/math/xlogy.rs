//! `Xlogy`: `x log(y)`, or zero where x is zero.

use super::gradient_ops::not_zero;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x, y: Field => T::select(x.equal(T::int(0)), T::int(0), x.mul(y.log())));

pub(crate) fn def() -> OpDef {
    binary!("Xlogy", fields, Formula)
        .doc("Computes `x * log(y)` elementwise, with broadcasting. The result is 0 where `x` is 0.")
        .gradient(Gradient::of(grad))
}

// d(x log(y)) = log(y) dx + x / y dy. Both terms are 0 where x is.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, x, y) = (cx.grad(0), cx.input(0), cx.input(1));
    let (x, y) = (cx.conj(x), cx.conj(y));
    if cx.wants(0) {
        cx.give_summed(0, dz * cx.call("Xlogy", [not_zero(cx, x), y]));
    }
    if cx.wants(1) {
        cx.give_summed(1, dz * cx.call("Xdivy", [x, y]));
    }
    Ok(())
}

cases! {
    zero_for_zero: "Xlogy([0.0 0.0 1.0], [0.0 nan 0.0]) = [0.0 0.0 -inf]",
    values: "Xlogy(2.0, 10.0) ~ 4.6051702",
    broadcasts_shapes: "Xlogy(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "Xlogy(f32[2], f32[3]) ! do not broadcast",
}
