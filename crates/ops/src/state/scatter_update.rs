//! `ResourceScatterUpdate`, `ScatterUpdate`: replaces rows of a variable.

use super::runs::How;
use super::scatter::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::AnyType;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Replaces row `indices[i]` of the variable by `updates[i]`. If an index occurs more than once, \
               the last update wins.";
    defs(("ResourceScatterUpdate", "ScatterUpdate"), doc, || AnyType.into(), true, |cx| run(cx, How::Replace))
}

cases! {
    replaces: "ResourceScatterUpdate(@[1 2 3], [2 0], [9 8]) = [8 2 9]",
    rows: "ScatterUpdate(&[[1 2] [3 4]], [1], [[8 9]]) = [[1 2] [8 9]]",
    a_scalar_for_all: "ResourceScatterUpdate(@[[1 2] [3 4] [5 6]], [0 2], 7) = [[7 7] [3 4] [7 7]]",
    last_stays: "ScatterUpdate(&[1 2 3], [0 0], [8 9]) = [9 2 3]",
    strings: "ResourceScatterUpdate(@[\"a\" \"b\"], 1, \"c\") = [\"a\" \"c\"]",
    keeps_the_shape: "ScatterUpdate(&f32[?,3], i32[2], f32[2,3]) : f32[?,3]",
    index_in_range: "ResourceScatterUpdate(@[1 2 3], [0 3], [8 9]) ! `indices`[1] is 3, which is not in 0..3",
    negative_index: "ScatterUpdate(&[1 2 3], i64[1] [-1], [9]) ! `indices`[0] is -1, which is not in 0..3",
    one_row_per_index: "ResourceScatterUpdate(@[1 2 3], [0 1], [8]) ! `updates` has shape [1] but must be [2] or a scalar",
    needs_a_value: "ResourceScatterUpdate(@i32[3], [0], [9]) ! is used before it has a value",
}
