//! `MutableHashTable`, `MutableHashTableV2`: a mutable table.

use super::tables::{generations, opener, opening, opens};
use millstream_graph::op::OpDef;
use millstream_state::TableKind;
use millstream_tensor::Shape;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["MutableHashTable", "MutableHashTableV2"], |name, by| {
        opens(OpDef::new(name), by)
            .kernel(opener(|cx| opening(cx, TableKind::Mutable, Shape::default())))
            .doc(
                "Returns a handle to the table `shared_name` (by default, the node's name) in `container`, \
                 which is created if it does not exist. Keys can be inserted and removed; each value is a \
                 scalar.",
            )
    })
}

cases! {
    starts_empty: "LookupTableSizeV2(MutableHashTableV2(; key_dtype=str, value_dtype=f32)) = i64 0",
    by_its_old_name: "LookupTableSize(MutableHashTable(; key_dtype=i32, value_dtype=f32)) = i64 0",
    finds_the_default: "LookupTableFindV2(MutableHashTableV2(; key_dtype=i32, value_dtype=f32), [[1 2]], -1.0) = f32[1,2] [[-1 -1]]",
}
