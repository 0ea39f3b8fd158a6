//! The types of edges, by their numbers in messages.

use millstream_checkpoint::message::dtype;
use millstream_graph::ValueType;
use millstream_tensor::Result;

/// The offset of the numbers of references to variables.
const REF: i32 = 100;

/// Returns the type of an edge with this number.
pub(crate) fn value_type(number: i32) -> Result<ValueType> {
    match number > REF {
        true => Ok(ValueType::reference(dtype(number - REF)?)),
        false => Ok(dtype(number)?.into()),
    }
}

/// Returns the number of the type of an edge.
pub(crate) fn type_number(ty: ValueType) -> i32 {
    ty.dtype.number() + if ty.is_ref { REF } else { 0 }
}
