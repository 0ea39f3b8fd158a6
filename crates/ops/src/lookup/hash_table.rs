//! `HashTable`, `HashTableV2`: a lookup table that is initialized once.

use super::tables::{generations, opener, opening, opens};
use millstream_graph::op::OpDef;
use millstream_state::TableKind;
use millstream_tensor::Shape;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["HashTable", "HashTableV2"], |name, by| {
        opens(OpDef::new(name), by).kernel(opener(|cx| opening(cx, TableKind::Fixed, Shape::default()))).doc(
            "Returns a handle to the table `shared_name` (by default, the node's name) in `container`, \
             which is created if it does not exist. The table is initialized once, and has a value for \
             each key.",
        )
    })
}

cases! {
    starts_empty: "LookupTableSizeV2(HashTableV2(; key_dtype=str, value_dtype=i64)) = i64 0",
    by_its_old_name: "LookupTableSize(HashTable(; key_dtype=i64, value_dtype=str)) = i64 0",
    keys_are_exact: "HashTableV2(; key_dtype=f32, value_dtype=i64) ! the keys of a table are i32, i64 or strings, not f32",
    values_are_values: "HashTableV2(; key_dtype=i32, value_dtype=variant) ! numbers, bools or strings, not variant",
}
