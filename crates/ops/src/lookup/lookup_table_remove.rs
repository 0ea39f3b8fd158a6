//! `LookupTableRemoveV2`: removes keys from a table.

use super::tables::{By, table, user};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Kernel, OpDef};

pub(crate) fn def() -> OpDef {
    user("LookupTableRemoveV2", By::Resource)
        .doc("Removes keys from the table. Keys that are not in it are ignored.")
        .input("keys", "Tin")
        .attr("Tin", AnyType)
        .kernel(Kernel::stateful(|cx| table(cx)?.remove(cx.input(1))))
}

cases! {
    gives_nothing: "LookupTableRemoveV2(resource[], str[?]) :",
    stays_as_it_is: "LookupTableRemoveV2(HashTableV2(; key_dtype=i32, value_dtype=f32), [1]) ! cannot be changed after initialization",
    wants_a_table: "LookupTableRemoveV2(@i32 1, [1]) ! refers to a variable",
}
