//! `TanhGrad`: the gradient of Tanh.

use super::grad::gradient_op;
use millstream_graph::op::OpDef;

formula!(y, dy: Field => dy.mul(T::int(1).sub(y.mul(y))));

pub(crate) fn def() -> OpDef {
    gradient_op("TanhGrad", kernel!(binary, fields, Formula)).doc("`dy * (1 - y * y)` where `y = tanh(x)`.")
}

cases! {
    values: "TanhGrad([0.5], [2.0]) = [1.5]",
    keeps_shapes: "TanhGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "TanhGrad(f32[2], f32[3]) ! must be equal",
}
