//! `MutableDenseHashTable`, `MutableDenseHashTableV2`: a mutable table whose keys may be tensors, with two
//! reserved keys.

use super::tables::{generations, named, open, opener, opens, spec, value_shape};
use millstream_graph::Attr;
use millstream_graph::op::spec::{AnyShape, Float, Int, Spec};
use millstream_graph::op::{BuildCx, KernelCx, OpDef, Run};
use millstream_state::{Dense, TableKind, TableSpec};
use millstream_tensor::{PartialShape, Result, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["MutableDenseHashTable", "MutableDenseHashTableV2"], |name, by| {
        let def = OpDef::new(name).input("empty_key", "key_dtype").input("deleted_key", "key_dtype");
        opens(def, by)
            .attr("value_shape", AnyShape.or(Attr::from(PartialShape::unknown_of_rank(0))))
            .attr("initial_num_buckets", Int.or(131_072))
            .attr("max_load_factor", Float.or(0.8f32))
            .kernel(opener(make))
            .doc(
                "Returns a handle to the table `shared_name` (by default, the node's name) in `container`, \
                 which is created if it does not exist. Keys have the shape of `empty_key`; neither it nor \
                 `deleted_key` can be used as a key. Each value is a tensor of shape `value_shape`. The table \
                 is exported with all its buckets, `initial_num_buckets` at first, a power of two; the keys of \
                 free ones are `empty_key`. Their number doubles before more than `max_load_factor` of them \
                 are used.",
            )
    })
}

fn make(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let spec = spec(cx, TableKind::Mutable, value_shape(cx)?)?;
    let named = named(cx)?;
    let buckets = cx.node.attrs.int("initial_num_buckets")?;
    let buckets = usize::try_from(buckets).map_err(|_| invalid!("`initial_num_buckets` is {buckets}"))?;
    let max_load_factor = cx.node.attrs.float("max_load_factor")?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let (empty, deleted) = (cx.input(0).clone(), cx.input(1).clone());
        let dense = Dense { empty, deleted, buckets, max_load_factor };
        let spec = TableSpec { key_shape: cx.input(0).shape().clone(), ..spec.clone() };
        open(cx, &named, &spec, Some(dense))
    }))
}

cases! {
    finds_the_default: "LookupTableFindV2(MutableDenseHashTableV2([0 0], [0 1]; value_dtype=i32), [[1 2] [3 4]], 7) = [7 7]",
    by_its_old_name: "LookupTableSize(MutableDenseHashTable(\"\", \"x\"; value_dtype=i32)) = i64 0",
    not_its_empty_key: "LookupTableFindV2(MutableDenseHashTableV2(i64 -1, i64 -2; value_dtype=i32), i64[2] [5 -1], 7) ! Using the empty_key as a table key is not allowed",
    exports_free_buckets: "LookupTableExportV2(MutableDenseHashTableV2(i64 100, i64 200; value_dtype=f32, initial_num_buckets=4); Tkeys=i64, Tvalues=f32) = i64 [[100] [100] [100] [100]], [[0.0] [0.0] [0.0] [0.0]]",
    buckets_are_a_power_of_two: "LookupTableSizeV2(MutableDenseHashTableV2(i64 100, i64 200; value_dtype=f32, initial_num_buckets=3)) ! `initial_num_buckets` must be a power of 2 from 4, but is 3",
    load_is_a_part: "LookupTableSizeV2(MutableDenseHashTableV2(i64 100, i64 200; value_dtype=f32, max_load_factor=1.5)) ! `max_load_factor` must be between 0 and 1, but is 1.5",
    two_keys: "MutableDenseHashTableV2(i64 -1, i64 -1; value_dtype=i32) ! Empty and deleted keys cannot be equal",
    alike: "MutableDenseHashTableV2(i64 -1, i64[1] [-2]; value_dtype=i32) ! must be i64[] like all keys, but one is i64[1]",
}
