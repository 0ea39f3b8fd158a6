//! `AssignSubVariableOp`, `AssignSub`: subtracts a value from a variable.

use super::assign_change::{change, defs};
use super::runs::How;
use millstream_graph::op::OpDef;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Subtracts `value` from the variable. Integers wrap around.";
    defs("AssignSubVariableOp", "AssignSub", doc, |cx| change(cx, How::Sub))
}

cases! {
    subtracts: "AssignSubVariableOp(@f32[2] [1 2], f32[2] [3 5]) = f32[2] [-2 -3]",
    gives_the_reference: "AssignSub(&[1 2], [3 4]) = [-2 -2]",
    learns_the_shape: "AssignSub(&i32[?,2], i32[3,?]) : i32[3,2]",
    no_broadcast: "AssignSub(&[1 2], 3) ! the variable has shape [2] but `value` has shape []; they must be equal",
}
