//! `MutableDenseHashTable`, `MutableDenseHashTableV2`: a mutable table whose keys may be tensors, with two
//! reserved keys.

use super::tables::{generations, named, open, opener, opens, spec, value_shape};
use millstream_graph::Attr;
use millstream_graph::op::spec::{AnyShape, Float, Int, Spec};
use millstream_graph::op::{BuildCx, KernelCx, OpDef, Run};
use millstream_state::{TableKind, TableSpec};
use millstream_tensor::{PartialShape, Result};

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
                 `deleted_key` can be used as a key. Each value is a tensor of shape `value_shape`. The \
                 other attributes set TensorFlow's memory layout and have no effect here.",
            )
    })
}

fn make(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let spec = spec(cx, TableKind::Mutable, value_shape(cx)?)?;
    let named = named(cx)?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let reserved = vec![cx.input(0).clone(), cx.input(1).clone()];
        let spec = TableSpec { key_shape: cx.input(0).shape().clone(), ..spec.clone() };
        open(cx, &named, &spec, reserved)
    }))
}

cases! {
    finds_the_default: "LookupTableFindV2(MutableDenseHashTableV2([0 0], [0 1]; value_dtype=i32), [[1 2] [3 4]], 7) = [7 7]",
    by_its_old_name: "LookupTableSize(MutableDenseHashTable(\"\", \"x\"; value_dtype=i32)) = i64 0",
    not_its_empty_key: "LookupTableFindV2(MutableDenseHashTableV2(i64 -1, i64 -2; value_dtype=i32), i64[2] [5 -1], 7) ! -1 is the empty or the deleted key",
    two_keys: "MutableDenseHashTableV2(i64 -1, i64 -1; value_dtype=i32) ! the empty and the deleted key must not be equal",
    alike: "MutableDenseHashTableV2(i64 -1, i64[1] [-2]; value_dtype=i32) ! must be i64[] like all keys, but one is i64[1]",
}
