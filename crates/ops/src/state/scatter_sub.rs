//! `ResourceScatterSub`, `ScatterSub`: subtracts from rows of a variable.

use super::runs::How;
use super::scatter::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::Number;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Subtracts `updates[i]` from row `indices[i]` of the variable. Updates with equal indices are \
               all subtracted.";
    defs(("ResourceScatterSub", "ScatterSub"), doc, || Number.into(), false, |cx| run(cx, How::Sub))
}

cases! {
    subtracts: "ResourceScatterSub(@[1 2 3], [2 0 2], [9 8 1]) = [-7 2 -7]",
    gives_the_reference: "ScatterSub(&[1 2 3], [0 2], 7) = [-6 2 -4]",
    keeps_the_shape: "ScatterSub(&f32[?,3], i32[2], f32[2,3]) : f32[?,3]",
    index_in_range: "ScatterSub(&[1 2 3], [0 3], [8 9]) ! `indices`[1] is 3, which is not in 0..3",
}
