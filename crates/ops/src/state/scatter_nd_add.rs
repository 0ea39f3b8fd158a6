//! `ResourceScatterNdAdd`, `ScatterNdAdd`: adds to slices of a variable.

use super::runs::How;
use super::scatter_nd::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::Number;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Adds each row of `updates` to the slice of the variable at the index tuple in the same row of \
               `indices`.";
    defs(("ResourceScatterNdAdd", "ScatterNdAdd"), doc, || Number.into(), false, |cx| run(cx, How::Add))
}

cases! {
    elements: "ResourceScatterNdAdd(@[1 2 3], [[2] [0] [2]], [9 8 1]) = [9 2 13]",
    rows: "ScatterNdAdd(&[[1 2] [3 4]], [[1]], [[8 9]]) = [[1 2] [11 13]]",
    keeps_the_shape: "ScatterNdAdd(&f32[?,3], i32[2,1], f32[2,3]) : f32[?,3]",
    index_in_range: "ScatterNdAdd(&[1 2 3], [[-1]], [8]) ! `indices`[0] is [-1], which is outside of shape [3]",
}
