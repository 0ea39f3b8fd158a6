//! Helpers of the ops on tables: opening a table by name, and the types of keys and values.

pub(super) use crate::shared::handles::{By, generations, one_handle};
use crate::shared::handles::{Named, handle_shape, share};
use millstream_graph::op::spec::{AnyType, Bool, Spec, Text};
use millstream_graph::op::{BuildCx, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_state::{Dense, Table, TableKind, TableSpec};
use millstream_tensor::{Result, Shape, ensure};
use std::sync::Arc;

/// Declares what all ops that open a table have in common, without doc and cases.
pub(super) fn opens(def: OpDef, by: By) -> OpDef {
    by.output(def, "table_handle")
        .attr("container", Text.or(""))
        .attr("shared_name", Text.or(""))
        .attr("use_node_name_sharing", Bool.or(false))
        .attr("key_dtype", AnyType)
        .attr("value_dtype", AnyType)
        .infer(handle_shape)
        .gradient(Gradient::none("of tables there is none, as in TensorFlow"))
}

/// Returns a kernel that opens a table: the one of this name, whose specification must be equal, or a new
/// one.
pub(super) fn opener(kind: fn(&BuildCx) -> Result<Box<dyn Run>>) -> Kernel {
    Kernel::opens(kind)
}

/// Returns a kernel that opens a table with scalar keys.
pub(super) fn opening(cx: &BuildCx, kind: TableKind, value_shape: Shape) -> Result<Box<dyn Run>> {
    let spec = spec(cx, kind, value_shape)?;
    let named = named(cx)?;
    Ok(Box::new(move |cx: &mut KernelCx| open(cx, &named, &spec, None)))
}

/// Returns the name of the table. Without a `shared_name` it is private to the session, unless
/// `use_node_name_sharing` is true.
pub(super) fn named(cx: &BuildCx) -> Result<Named> {
    match cx.node.attrs.bool("use_node_name_sharing")? {
        true => Named::new(cx.node),
        false => Named::or_private(cx.node),
    }
}

/// Returns the specification of a table with scalar keys from the attributes.
pub(super) fn spec(cx: &BuildCx, kind: TableKind, value_shape: Shape) -> Result<TableSpec> {
    let attrs = &cx.node.attrs;
    let (key, value) = (attrs.dtype("key_dtype")?, attrs.dtype("value_dtype")?);
    Ok(TableSpec { kind, key, key_shape: Shape::default(), value, value_shape })
}

/// Returns the attribute `value_shape`, which must be fully known.
pub(super) fn value_shape(cx: &BuildCx) -> Result<Shape> {
    let shape = cx.node.attrs.shape("value_shape")?;
    ensure!(shape.is_full(), "`value_shape` must be known, but is {shape}");
    Ok(shape.full().unwrap_or_default())
}

/// Opens the table and sets output 0 to its handle.
pub(super) fn open(cx: &mut KernelCx, named: &Named, spec: &TableSpec, dense: Option<Dense>) -> Result<()> {
    let op = cx.node.op.name;
    let handle = named.handle(cx, |resources, container, name| {
        let make = || Table::new(name, op, spec.clone(), dense);
        let table = resources.get_or_create(container, name, make)?;
        table.check_same(op, spec)?;
        Ok(table)
    })?;
    cx.set(0, handle);
    Ok(())
}

/// Returns the table that input 0 refers to.
pub(super) fn table(cx: &KernelCx) -> Result<Arc<Table>> {
    share(cx, 0)
}

/// Declares an op that uses a table.
pub(super) fn user(name: &'static str, by: By) -> OpDef {
    by.input(OpDef::new(name), "table_handle")
        .infer(one_handle)
        .gradient(Gradient::none("of tables there is none, as in TensorFlow"))
}

/// Declares the keys and values that an op takes, with dtypes in the attributes of these names.
pub(super) fn pairs(def: OpDef, key: &'static str, value: &'static str) -> OpDef {
    def.input("keys", key).input("values", value).attr(key, AnyType).attr(value, AnyType)
}
