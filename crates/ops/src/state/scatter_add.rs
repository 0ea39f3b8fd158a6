//! `ResourceScatterAdd`, `ScatterAdd`: adds to rows of a variable.

use super::runs::How;
use super::scatter::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::Number;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Adds `updates[i]` to row `indices[i]` of the variable. Updates with equal indices are all \
               added.";
    defs(("ResourceScatterAdd", "ScatterAdd"), doc, || Number.into(), false, |cx| run(cx, How::Add))
}

cases! {
    adds: "ResourceScatterAdd(@[1 2 3], [2 0 2], [9 8 1]) = [9 2 13]",
    rows: "ScatterAdd(&f32[2,2] [[1 2] [3 4]], [1], f32[1,2] [[8 9]]) = f32[2,2] [[1 2] [11 13]]",
    a_scalar_for_all: "ScatterAdd(&[1 2 3], [0 2], 7) = [8 2 10]",
    keeps_the_shape: "ScatterAdd(&f32[?,3], i32[2], f32[2,3]) : f32[?,3]",
    index_in_range: "ScatterAdd(&[1 2 3], [0 3], [8 9]) ! `indices`[1] is 3, which is not in 0..3",
    has_rows: "ScatterAdd(&f32[], i32[2], f32[2]) ! a scalar variable has no rows",
}
