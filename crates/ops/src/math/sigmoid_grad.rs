//! `SigmoidGrad`: the gradient of Sigmoid.

use super::gradient_ops::gradient_op;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(y, dy: Field => dy.mul(y).mul(T::int(1).sub(y)));

pub(crate) fn def() -> OpDef {
    gradient_op("SigmoidGrad", kernel!(binary, fields, Formula))
        .doc("Computes `dy * y * (1 - y)`, the gradient of `y = sigmoid(x)`.")
        .gradient(Gradient::of(grad))
}

// z = y (1 - y) dy
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, y) = (cx.grad(0), cx.input(0));
    let y = cx.conj(y);
    if cx.wants(0) {
        let dy = cx.input(1);
        cx.give(0, dz * cx.conj(dy) * (1.0 - y * 2.0));
    }
    if cx.wants(1) {
        cx.give(1, cx.call("SigmoidGrad", [y, dz]));
    }
    Ok(())
}

cases! {
    values: "SigmoidGrad([0.25], [2.0]) = [0.375]",
    keeps_shapes: "SigmoidGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "SigmoidGrad(f32[2], f32[3]) ! must be equal",
}
