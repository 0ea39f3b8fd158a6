//! `ResourceScatterNdSub`, `ScatterNdSub`: subtracts from slices of a variable.

use super::runs::How;
use super::scatter_nd::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::Number;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Subtracts each row of `updates` from the slice of the variable at the index tuple in the same \
               row of `indices`.";
    defs(("ResourceScatterNdSub", "ScatterNdSub"), doc, || Number.into(), false, |cx| run(cx, How::Sub))
}

cases! {
    elements: "ResourceScatterNdSub(@[1 2 3], [[2] [0] [2]], [9 8 1]) = [-7 2 -7]",
    rows: "ScatterNdSub(&[[1 2] [3 4]], [[1]], [[8 9]]) = [[1 2] [-5 -5]]",
    keeps_the_shape: "ScatterNdSub(&f32[?,3], i32[2,1], f32[2,3]) : f32[?,3]",
    index_in_range: "ScatterNdSub(&[1 2 3], [[-1]], [8]) ! `indices`[0] is [-1], which is outside of shape [3]",
}
