//! `ResourceScatterMul`, `ScatterMul`: multiplies rows of a variable.

use super::runs::How;
use super::scatter::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::Number;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Multiplies row `indices[i]` of the variable by `updates[i]`. Updates with equal indices are \
               all applied.";
    defs(("ResourceScatterMul", "ScatterMul"), doc, || Number.into(), false, |cx| run(cx, How::Mul))
}

cases! {
    multiplies: "ResourceScatterMul(@[1 2 3], [2 0 2], [9 8 2]) = [8 2 54]",
    gives_the_reference: "ScatterMul(&[1 2 3], [0 2], 7) = [7 2 21]",
    keeps_the_shape: "ScatterMul(&f32[?,3], i32[2], f32[2,3]) : f32[?,3]",
    index_in_range: "ScatterMul(&[1 2 3], [0 3], [8 9]) ! `indices`[1] is 3, which is not in 0..3",
}
