//! `LookupTableFind`, `LookupTableFindV2`: looks up keys.

use super::tables::{generations, one_handle, table, user};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["LookupTableFind", "LookupTableFindV2"], |name, by| {
        user(name, by)
            .doc("Returns the value of each key, or `default_value` for keys that are not in the table.")
            .input("keys", "Tin")
            .input("default_value", "Tout")
            .output("values", "Tout")
            .attr("Tin", AnyType)
            .attr("Tout", AnyType)
            .infer(infer)
            .kernel(Kernel::stateful(run))
    })
}

// Keys may be tensors, whose dimensions the graph does not know, so the shape is known only for scalars.
fn infer(cx: &mut InferCx) -> Result<()> {
    one_handle(cx)?;
    let scalars = cx.input(2).rank() == Some(0);
    cx.set(
        0,
        if scalars && cx.input(1).rank() == Some(0) { cx.input(1).clone() } else { PartialShape::unknown() },
    );
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let values = table(cx)?.find(cx.input(1), cx.input(2))?;
    cx.set(0, values);
    Ok(())
}

cases! {
    not_initialized: "LookupTableFindV2(HashTableV2(; key_dtype=i32, value_dtype=f32), [1], 0.0) ! Table not initialized.",
    keys_are_typed: "LookupTableFindV2(MutableHashTableV2(; key_dtype=i32, value_dtype=f32), [\"a\"], 0.0) ! the keys of MutableHashTableV2",
    values_are_typed: "LookupTableFindV2(MutableHashTableV2(; key_dtype=i32, value_dtype=f32), [1], 0) ! `default_value` must be f32[]",
    infers: "LookupTableFindV2(resource[], str[], i64[]) : i64[]",
    wants_a_table: "LookupTableFindV2(@i32 1, [1], 0) ! refers to a variable",
}
