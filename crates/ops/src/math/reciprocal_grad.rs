//! `ReciprocalGrad` and `InvGrad`: the gradient of Reciprocal.

use super::grad::gradient_op;
use millstream_graph::op::OpDef;

formula!(y, dy: Field => dy.neg().mul(y).mul(y));

pub(crate) fn def() -> [OpDef; 2] {
    ["ReciprocalGrad", "InvGrad"].map(|name| {
        gradient_op(name, kernel!(binary, fields, Formula)).doc("`-dy * y * y` where `y = 1 / x`.")
    })
}

cases! {
    values: "ReciprocalGrad([0.5], [2.0]) = [-0.5]",
    by_its_old_name: "InvGrad(f64 2, f64 1) = f64 -4",
    keeps_shapes: "InvGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "InvGrad(f32[2], f32[3]) ! must be equal",
}
