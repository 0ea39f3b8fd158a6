//! `SqrtGrad`: the gradient of Sqrt.

use super::grad::gradient_op;
use millstream_graph::op::OpDef;

formula!(y, dy: Field => dy.mul(T::lit(0.5)).div(y));

pub(crate) fn def() -> OpDef {
    gradient_op("SqrtGrad", kernel!(binary, fields, Formula)).doc("`dy * 0.5 / y` where `y = sqrt(x)`.")
}

cases! {
    values: "SqrtGrad([2.0], [3.0]) = [0.75]",
    keeps_shapes: "SqrtGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "SqrtGrad(f32[2], f32[3]) ! must be equal",
}
