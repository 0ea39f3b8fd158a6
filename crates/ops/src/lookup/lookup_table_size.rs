//! `LookupTableSize`, `LookupTableSizeV2`: the number of keys in a table.

use super::tables::{generations, one_handle, table, user};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::{DType, PartialShape, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["LookupTableSize", "LookupTableSizeV2"], |name, by| {
        user(name, by)
            .doc("Returns the number of keys in the table.")
            .output("size", DType::I64)
            .infer(|cx| {
                cx.set(0, PartialShape::unknown_of_rank(0));
                one_handle(cx)
            })
            .kernel(Kernel::stateful(|cx| {
                let size = table(cx)?.len() as i64;
                cx.set(0, Tensor::scalar(size));
                Ok(())
            }))
    })
}

cases! {
    infers: "LookupTableSizeV2(resource[]) : i64[]",
    one_handle: "LookupTableSizeV2(resource[2]) ! `table_handle` must be a scalar",
    wants_a_table: "LookupTableSizeV2(@i32 1) ! refers to a variable",
}
