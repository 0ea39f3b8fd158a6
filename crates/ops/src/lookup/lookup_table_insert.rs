//! `LookupTableInsert`, `LookupTableInsertV2`: inserts keys into a table.

use super::tables::{generations, pairs, table, user};
use millstream_graph::op::{Kernel, OpDef};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["LookupTableInsert", "LookupTableInsertV2"], |name, by| {
        pairs(user(name, by), "Tin", "Tout")
            .doc("Inserts keys with their values into the table. The value of an existing key is replaced.")
            .kernel(Kernel::stateful(|cx| table(cx)?.insert(cx.input(1), cx.input(2))))
    })
}

cases! {
    gives_nothing: "LookupTableInsertV2(resource[], str[?], i64[?]) :",
    as_many_values: "LookupTableInsertV2(MutableHashTableV2(; key_dtype=i32, value_dtype=f32), [1 2], [1.0]) ! `values` must be f32[2]",
    wants_a_table: "LookupTableInsertV2(@i32 1, [1], [0]) ! refers to a variable",
}
