//! `ResourceScatterNdUpdate`, `ScatterNdUpdate`: replaces slices of a variable.

use super::runs::How;
use super::scatter_nd::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::AnyType;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Replaces the slice of the variable at the index tuple in each row of `indices` by the same \
               row of `updates`.";
    defs(
        ("ResourceScatterNdUpdate", "ScatterNdUpdate"),
        doc,
        || AnyType.into(),
        true,
        |cx| run(cx, How::Replace),
    )
}

cases! {
    elements: "ResourceScatterNdUpdate(@[1 2 3], [[2] [0]], [9 8]) = [8 2 9]",
    two_axes: "ScatterNdUpdate(&[[1 2] [3 4]], [[0 1] [1 0]], [8 9]) = [[1 8] [9 4]]",
    rows: "ScatterNdUpdate(&[[1 2] [3 4]], [[1]], [[8 9]]) = [[1 2] [8 9]]",
    one_element: "ScatterNdUpdate(&[[1 2] [3 4]], [0 1], 7) = [[1 7] [3 4]]",
    skips: "ScatterNdUpdate(&[1 2 3], [[7] [0]], [9 8]; bad_indices_policy=\"IGNORE\") = [8 2 3]",
    keeps_the_shape: "ScatterNdUpdate(&f32[?,3], i32[2,1], f32[2,3]) : f32[?,3]",
    index_in_range: "ResourceScatterNdUpdate(@[1 2 3], [[0] [3]], [8 9]) ! `indices`[1] is [3], which is outside of shape [3]",
    shapes_fit: "ScatterNdUpdate(&f32[?,3], i32[2,1], f32[2,4]) ! `updates` has shape [2,4] but must be [2,3]",
    depth_fits: "ScatterNdUpdate(&f32[3], i32[2,2], f32[2]) ! the last axis of `indices` has 2 entries but the variable has only 1 axes",
}
