//! `LookupTableImport`, `LookupTableImportV2`: replaces the contents of a table.

use super::tables::{generations, one_handle, pairs, table, user};
use millstream_graph::op::{InferCx, Kernel, OpDef};
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["LookupTableImport", "LookupTableImportV2"], |name, by| {
        pairs(user(name, by), "Tin", "Tout")
            .doc(
                "Replaces the contents of the table by the given keys and values. A table that is \
                 initialized once is initialized by this.",
            )
            .infer(infer)
            .kernel(Kernel::stateful(|cx| table(cx)?.import(cx.input(1), cx.input(2))))
    })
}

// Keys and values may have axes of their own, but there are as many of the one as of the other.
fn infer(cx: &mut InferCx) -> Result<()> {
    one_handle(cx)?;
    cx.at_least_rank(1, 1)?;
    cx.at_least_rank(2, 1)?;
    let (keys, values) = (cx.input(1), cx.input(2));
    if let (Some(n), Some(m)) = (keys.dim(0), values.dim(0)) {
        ensure!(
            n == m,
            "Dimension 0 in both shapes must be equal, but are {n} and {m}. Shapes are {keys} and {values}.";
            "there are {n} `keys` but {m} `values`"
        );
    }
    Ok(())
}

cases! {
    gives_nothing: "LookupTableImportV2(resource[], str[?], i64[?]) :",
    as_many_values: "LookupTableImportV2(resource[], i64[2], f32[1]) ! Dimension 0 in both shapes must be equal, but are 2 and 1",
    of_vectors: "LookupTableImportV2(resource[], i64[2], f32[2,3]) :",
    some_list: "LookupTableImportV2(resource[], i64[], f32[]) ! must be at least rank 1 but is rank 0",
    of_its_shape: "LookupTableImportV2(MutableHashTableV2(; key_dtype=i32, value_dtype=f32), [1 2], [[1.0] [2.0]]) ! Expected shape [2] for value, got [2,1]",
    wants_a_table: "LookupTableImportV2(@i32 1, [1], [0]) ! refers to a variable",
}
