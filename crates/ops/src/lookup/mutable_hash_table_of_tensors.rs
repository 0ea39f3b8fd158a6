//! `MutableHashTableOfTensors`, `MutableHashTableOfTensorsV2`: a mutable table whose values are tensors.

use super::tables::{generations, opener, opening, opens, value_shape};
use millstream_graph::Attr;
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::{AnyShape, Spec};
use millstream_state::TableKind;
use millstream_tensor::{PartialShape, Result};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["MutableHashTableOfTensors", "MutableHashTableOfTensorsV2"], |name, by| {
        opens(OpDef::new(name), by)
            .attr("value_shape", AnyShape.or(Attr::from(PartialShape::unknown_of_rank(0))))
            .kernel(opener(make))
            .doc(
                "Returns a handle to the table `shared_name` (by default, the node's name) in `container`, \
                 which is created if it does not exist. Keys can be inserted and removed; each value is a \
                 tensor of shape `value_shape`.",
            )
    })
}

fn make(cx: &millstream_graph::op::BuildCx) -> Result<Box<dyn millstream_graph::op::Run>> {
    opening(cx, TableKind::Mutable, value_shape(cx)?)
}

cases! {
    finds_the_default: "LookupTableFindV2(MutableHashTableOfTensorsV2(; key_dtype=str, value_dtype=i32, value_shape=shape[2]), [\"a\"], [1 2]) = i32[1,2] [[1 2]]",
    by_its_old_name: "LookupTableSize(MutableHashTableOfTensors(; key_dtype=i32, value_dtype=f32)) = i64 0",
    knows_its_shape: "MutableHashTableOfTensorsV2(; key_dtype=str, value_dtype=i32, value_shape=shape[?]) ! `value_shape` must be known",
}
