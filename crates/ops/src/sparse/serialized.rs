//! Serialized sparse tensors: three elements for indices, values and shape, which are encoded `TensorProto`s
//! or variants that hold the tensors.

use super::entries::Entries;
use crate::shared::messages::{room_to_decode, room_to_encode};
use millstream_checkpoint::message;
use millstream_graph::op::KernelCx;
use millstream_proto::{TensorProto, decode, encode, weight};
use millstream_state::Sparse;
use millstream_tensor::{DType, Opaque, Result, Str, Tensor, Variant, ensure, invalid};

/// A variant that holds a tensor.
#[derive(Debug)]
struct Held(Tensor);

impl Opaque for Held {
    fn kind(&self) -> &'static str {
        "tensor"
    }
}

/// Serializes sparse tensors one after the other, to three elements of this dtype each.
pub(super) fn serialize(all: &[Sparse], dtype: DType, shape: &[usize]) -> Result<Tensor> {
    let shape = shape.iter().copied();
    let parts = all.iter().flatten();
    match dtype {
        DType::Variant => {
            let held = parts.map(|part| Variant::new(Held(part.clone())));
            Tensor::variants(millstream_tensor::Shape::new(shape), held.collect::<Result<_>>()?)
        }
        _ => {
            let text = |part| {
                let room = room_to_encode(part, 3)?;
                let bytes = encode(&message::encode_packed(part)?);
                // From here on, the string itself is charged.
                drop(room);
                Str::new(bytes)
            };
            let texts = parts.map(text);
            Tensor::strings(millstream_tensor::Shape::new(shape), texts.collect::<Result<_>>()?)
        }
    }
}

/// Deserializes the sparse tensors in the last axis of input 0, whose values must have this dtype.
pub(super) fn deserialize(cx: &KernelCx, dtype: DType) -> Result<Vec<Sparse>> {
    let all = cx.input(0);
    let name = cx.name_of(0);
    ensure!(
        all.shape().last() == Some(&3),
        "`{name}` must have 3 as its last dimension (indices, values, shape), but has shape {}",
        all.shape()
    );
    ensure!(
        all.elements() > 0,
        "`{name}` holds no sparse tensor: its shape is {}, and of none the rank is not known",
        all.shape()
    );
    let part = |i: usize| -> Result<Tensor> {
        match (all.as_strs(), all.as_variants()) {
            (Some(texts), _) => parsed(&texts[i]),
            (_, Some(held)) => {
                let held = &held[i];
                let tensor =
                    held.get::<Held>().ok_or_else(|| invalid!("it is a {}, not a tensor", held.kind()))?;
                Ok(tensor.0.clone())
            }
            _ => Err(invalid!("`{name}` must be strings or variants, not {}", all.dtype())),
        }
    };
    let one = |i: usize| -> Result<Sparse> {
        let [indices, values, shape] = [part(3 * i)?, part(3 * i + 1)?, part(3 * i + 2)?];
        ensure!(
            indices.dtype() == DType::I64 && shape.dtype() == DType::I64,
            "its indices and shape must be i64, but are {} and {}",
            indices.dtype(),
            shape.dtype()
        );
        ensure!(
            values.dtype() == dtype,
            "a SparseTensor of {dtype} is requested but its values are {}",
            values.dtype()
        );
        Entries::checked([&indices, &values, &shape], ["indices", "values", "shape"])?;
        Ok([indices, values, shape])
    };
    let read = |i: usize| one(i).map_err(|e| e.note(format!("in SparseTensor[{i}] of `{name}`")));
    (0..all.elements() / 3).map(read).collect()
}

fn parsed(bytes: &Str) -> Result<Tensor> {
    let _room = room_to_decode(bytes, weight::<TensorProto>)?;
    let message: TensorProto = decode(bytes).map_err(|e| invalid!("it is not a serialized tensor: {e}"))?;
    message::decode(&message, &mut |_, _| Ok(()))
}
