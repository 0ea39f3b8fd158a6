//! `TanhGrad`: the gradient of Tanh.

use super::gradient_ops::gradient_op;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(y, dy: Field => dy.mul(T::int(1).sub(y.mul(y))));

pub(crate) fn def() -> OpDef {
    gradient_op("TanhGrad", kernel!(binary, fields, Formula))
        .doc("Computes `dy * (1 - y * y)`, the gradient of `y = tanh(x)`.")
        .gradient(Gradient::of(grad))
}

// z = (1 - y²) dy
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, y) = (cx.grad(0), cx.input(0));
    let y = cx.conj(y);
    if cx.wants(0) {
        let dy = cx.input(1);
        cx.give(0, dz * (cx.conj(dy) * y * -2.0));
    }
    if cx.wants(1) {
        cx.give(1, cx.call("TanhGrad", [y, dz]));
    }
    Ok(())
}

cases! {
    values: "TanhGrad([0.5], [2.0]) = [1.5]",
    keeps_shapes: "TanhGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "TanhGrad(f32[2], f32[3]) ! must be equal",
}
