//! `RsqrtGrad`: the gradient of Rsqrt.

use super::gradient_ops::gradient_op;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

// A zero gradient stays zero, even where the function is not finite.
formula!(y, dy: Field => T::select(dy.equal(T::int(0)), T::int(0), dy.mul(T::lit(-0.5)).mul(y.mul(y).mul(y).conj())));

pub(crate) fn def() -> OpDef {
    gradient_op("RsqrtGrad", kernel!(binary, fields, Formula))
        .doc(
            "Computes `dy * -0.5 * y^3`, the gradient of `y = rsqrt(x)`. For complex numbers, the conjugate \
             of `y` is used.",
        )
        .gradient(Gradient::of(grad))
}

// z = -y̅³ dy / 2
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    if cx.wants(0) {
        let (y, dy) = (cx.input(0), cx.input(1));
        let (y, dz) = (cx.conj(y), cx.conj(dz));
        cx.give(0, dz * (dy * cx.call("Square", [y]) * -1.5));
    }
    if cx.wants(1) {
        let y = cx.input(0);
        let y = cx.conj(y);
        cx.give(1, cx.call("RsqrtGrad", [y, dz]));
    }
    Ok(())
}

cases! {
    values: "RsqrtGrad([2.0], [3.0]) = [-12.0]",
    nothing_of_nothing: "RsqrtGrad([inf], [0.0]) = [0.0]",
    keeps_shapes: "RsqrtGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "RsqrtGrad(f32[2], f32[3]) ! must be equal",
}
