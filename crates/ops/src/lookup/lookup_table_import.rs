//! `LookupTableImport`, `LookupTableImportV2`: replaces the contents of a table.

use super::tables::{generations, pairs, table, user};
use millstream_graph::op::{Kernel, OpDef};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["LookupTableImport", "LookupTableImportV2"], |name, by| {
        pairs(user(name, by), "Tin", "Tout")
            .doc(
                "Replaces the contents of the table by the given keys and values. A table that is \
                 initialized once is initialized by this.",
            )
            .kernel(Kernel::stateful(|cx| table(cx)?.import(cx.input(1), cx.input(2))))
    })
}

cases! {
    gives_nothing: "LookupTableImportV2(resource[], str[?], i64[?]) :",
    as_many_values: "LookupTableImportV2(MutableHashTableV2(; key_dtype=i32, value_dtype=f32), [1 2], [1.0]) ! `values` must be f32[2]",
    wants_a_table: "LookupTableImportV2(@i32 1, [1], [0]) ! refers to a variable",
}
