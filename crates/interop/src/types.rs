//! Types of edges as the messages number them.

use millstream_checkpoint::message::dtype;
use millstream_graph::ValueType;
use millstream_tensor::Result;

/// References to variables are numbered from here.
const REF: i32 = 100;

/// The type of an edge with this number.
pub(crate) fn value_type(number: i32) -> Result<ValueType> {
    match number > REF {
        true => Ok(ValueType::reference(dtype(number - REF)?)),
        false => Ok(dtype(number)?.into()),
    }
}

/// The number of the type of an edge.
pub(crate) fn type_number(ty: ValueType) -> i32 {
    ty.dtype.number() + if ty.is_ref { REF } else { 0 }
}
