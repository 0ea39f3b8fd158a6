//! `SigmoidGrad`: the gradient of Sigmoid.

use super::grad::gradient_op;
use millstream_graph::op::OpDef;

formula!(y, dy: Field => dy.mul(y).mul(T::int(1).sub(y)));

pub(crate) fn def() -> OpDef {
    gradient_op("SigmoidGrad", kernel!(binary, fields, Formula)).doc("`dy * y * (1 - y)` where `y = sigmoid(x)`.")
}

cases! {
    values: "SigmoidGrad([0.25], [2.0]) = [0.375]",
    keeps_shapes: "SigmoidGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "SigmoidGrad(f32[2], f32[3]) ! must be equal",
}
