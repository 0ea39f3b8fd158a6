//! Dtypes and shapes as the messages number and spell them.

use millstream_graph::ValueType;
use millstream_proto::{TensorShapeProto, tensor_shape_proto};
use millstream_tensor::{DType, MAX_RANK, PartialShape, Result, Shape, ensure, invalid};

/// References to variables are numbered from here.
const REF: i32 = 100;

/// The dtype with this number.
pub(crate) fn dtype(number: i32) -> Result<DType> {
    DType::from_number(number).ok_or_else(|| match millstream_proto::DataType::try_from(number) {
        Ok(named) if number != 0 => millstream_tensor::Error::unimplemented(format!(
            "the dtype {} is not supported",
            named.as_str_name()
        )),
        _ => invalid!("{number} is not the number of a dtype"),
    })
}

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

/// A shape of which parts may be unknown.
pub(crate) fn partial_shape(message: &TensorShapeProto) -> Result<PartialShape> {
    if message.unknown_rank {
        ensure!(message.dim.is_empty(), "a shape of unknown rank has {} dimensions", message.dim.len());
        return Ok(PartialShape::unknown());
    }
    ensure!(
        message.dim.len() <= MAX_RANK,
        "a shape may have at most {MAX_RANK} dimensions, not {}",
        message.dim.len()
    );
    PartialShape::from_signed(&message.dim.iter().map(|d| d.size).collect::<Vec<_>>())
}

/// The shape of a tensor: all of it known.
pub(crate) fn full_shape(message: Option<&TensorShapeProto>) -> Result<Shape> {
    let Some(message) = message else { return Ok(Shape::new([])) };
    let shape = partial_shape(message)?;
    shape.full().ok_or_else(|| invalid!("the shape of a tensor must be known, not {shape}"))
}

/// A shape as a message.
pub(crate) fn shape_message(shape: &PartialShape) -> TensorShapeProto {
    let Some(dims) = shape.dims() else { return TensorShapeProto { dim: Vec::new(), unknown_rank: true } };
    let size = |d: &Option<usize>| d.map_or(-1, |d| i64::try_from(d).unwrap_or(i64::MAX));
    let dim = dims.iter().map(|d| tensor_shape_proto::Dim { size: size(d), name: String::new() }).collect();
    TensorShapeProto { dim, unknown_rank: false }
}
