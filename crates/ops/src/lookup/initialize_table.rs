//! `InitializeTable`, `InitializeTableV2`: initializes a table.

use super::tables::{generations, one_handle, pairs, table, user};
use millstream_graph::op::{InferCx, Kernel, OpDef};
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["InitializeTable", "InitializeTableV2"], |name, by| {
        pairs(user(name, by), "Tkey", "Tval")
            .doc("Initializes a table with keys and values. A key may occur twice if its values are equal.")
            .infer(infer)
            .kernel(Kernel::stateful(|cx| table(cx)?.fill(cx.input(1), cx.input(2))))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    one_handle(cx)?;
    cx.vector(1)?;
    let (keys, values) = (cx.input(1), cx.input(2));
    ensure!(
        keys.is_compatible(values),
        "`keys` and `values` must be equally long, but are {keys} and {values}"
    );
    Ok(())
}

cases! {
    gives_nothing: "InitializeTableV2(resource[], str[?], i64[?]) :",
    equally_long: "InitializeTableV2(resource[], str[2], i64[3]) ! must be equally long",
    each_key_once: "InitializeTableV2(HashTableV2(; key_dtype=i32, value_dtype=f32), [1 1], [1.0 2.0]) ! HashTable has different value for same key. Key 1 has 1 and trying to add value 2",
    filled_once: "InitializeTableV2(MutableHashTableV2(; key_dtype=i32, value_dtype=f32), [1], [1.0]) ! is not filled for good",
}
