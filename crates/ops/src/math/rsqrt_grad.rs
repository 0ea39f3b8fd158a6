//! `RsqrtGrad`: the gradient of Rsqrt.

use super::grad::gradient_op;
use millstream_graph::op::OpDef;

formula!(y, dy: Field => dy.mul(T::lit(-0.5)).mul(y.mul(y).mul(y)));

pub(crate) fn def() -> OpDef {
    gradient_op("RsqrtGrad", kernel!(binary, fields, Formula)).doc("`dy * -0.5 * y^3` where `y = rsqrt(x)`.")
}

cases! {
    values: "RsqrtGrad([2.0], [3.0]) = [-12.0]",
    keeps_shapes: "RsqrtGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "RsqrtGrad(f32[2], f32[3]) ! must be equal",
}
