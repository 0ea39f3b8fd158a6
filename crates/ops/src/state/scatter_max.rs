//! `ResourceScatterMax`, `ScatterMax`: takes the maximum of rows and updates.

use super::runs::How;
use super::scatter::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::RealNumber;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Sets row `indices[i]` of the variable to the elementwise maximum of the row and `updates[i]`.";
    defs(("ResourceScatterMax", "ScatterMax"), doc, || RealNumber.into(), false, |cx| run(cx, How::Max))
}

cases! {
    greater: "ResourceScatterMax(@[1 20 90], [2 0 2], [9 8 120]) = [8 20 120]",
    gives_the_reference: "ScatterMax(&f32[3] [1 2 3], [0 2], f32 2) = f32[3] [2 2 3]",
    keeps_the_shape: "ScatterMax(&f32[?,3], i32[2], f32[2,3]) : f32[?,3]",
    index_in_range: "ScatterMax(&[1 2 3], [0 3], [8 9]) ! `indices`[1] is 3, which is not in 0..3",
}
