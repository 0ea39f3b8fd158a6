//! `AssignAddVariableOp`, `AssignAdd`: adds a value to a variable.

use super::assign_change::{change, defs};
use super::runs::How;
use millstream_graph::op::OpDef;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Adds `value` to the variable. Integers wrap around.";
    defs("AssignAddVariableOp", "AssignAdd", doc, |cx| change(cx, How::Add))
}

cases! {
    adds: "AssignAddVariableOp(@f32[2] [1 2], f32[2] [3 4]) = f32[2] [4 6]",
    scalars: "AssignAddVariableOp(@i64 5, i64 1) = i64 6",
    gives_the_reference: "AssignAdd(&[1 2], [3 4]) = [4 6]",
    learns_the_shape: "AssignAdd(&i32[?,2], i32[3,?]) : i32[3,2]",
    wraps: "AssignAdd(&i8 127, i8 1) = i8 -128",
    no_broadcast: "AssignAddVariableOp(@f32[2] [1 2], f32 3) ! the variable has shape [2] but `value` has shape []; they must be equal",
    needs_a_value: "AssignAdd(&f32[2], f32[2] [1 2]) ! is used before it has a value",
}
