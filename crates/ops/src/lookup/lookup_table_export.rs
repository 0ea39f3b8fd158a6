//! `LookupTableExport`, `LookupTableExportV2`: the contents of a table.

use super::tables::{generations, one_handle, table, user};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["LookupTableExport", "LookupTableExportV2"], |name, by| {
        user(name, by)
            .doc("Returns all keys of the table, in order, and their values.")
            .output("keys", "Tkeys")
            .output("values", "Tvalues")
            .attr("Tkeys", AnyType)
            .attr("Tvalues", AnyType)
            .infer(infer)
            .kernel(Kernel::stateful(run))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    for i in 0..2 {
        cx.set(i, PartialShape::unknown());
    }
    one_handle(cx)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let table = table(cx)?;
    let wanted = (cx.attrs().dtype("Tkeys")?, cx.attrs().dtype("Tvalues")?);
    let spec = table.spec();
    ensure!(
        wanted == (spec.key, spec.value),
        "{table:?} has keys of {} and values of {}, not of {} and {}",
        spec.key,
        spec.value,
        wanted.0,
        wanted.1
    );
    let (keys, values) = table.export()?;
    cx.set(0, keys);
    cx.set(1, values);
    Ok(())
}

cases! {
    nothing_yet: "LookupTableExportV2(MutableHashTableV2(; key_dtype=i32, value_dtype=f32); Tkeys=i32, Tvalues=f32) = i32[0] [], f32[0] []",
    of_its_types: "LookupTableExportV2(MutableHashTableV2(; key_dtype=i32, value_dtype=f32); Tkeys=i32, Tvalues=i32) ! values of f32, not of i32 and i32",
    infers: "LookupTableExportV2(resource[]; Tkeys=i32, Tvalues=f32) : i32[..], f32[..]",
}
