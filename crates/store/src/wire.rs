//! How elements and the types of queues are written.
//!
//! An element is a protobuf message whose field 1 holds a `TensorProto` for each component. What the server
//! must know of an element goes before it: in a priority queue the priority (8 bytes that sort as the number
//! does), in a queue whose batches are limited by tokens the number of its tokens (4 bytes, big-endian). The
//! type of a queue is a `NodeDef`, of the op and the attributes that make such a queue.

use crate::address::Address;
use millstream_checkpoint::message;
use millstream_proto::attr_value::{ListValue, Value};
use millstream_proto::{AttrValue, NodeDef, TensorProto};
use millstream_state::{Batches, Item, QueueKind, QueueSpec};
use millstream_tensor::{Code, Error, Result, Tensor, invalid};
use smallvec::SmallVec;

/// Field 1, of the wire type with a length.
const COMPONENT: u8 = 0x0a;

/// Writes an element of a queue.
pub(crate) fn encode(item: &[Tensor], spec: &QueueSpec, queue: &str, at: &Address) -> Result<Vec<u8>> {
    let mut row = Vec::new();
    if spec.kind == QueueKind::Priority {
        let priority = item.first().map_or(Ok(0), Tensor::to_scalar::<i64>)?;
        row.extend((priority as u64 ^ (1 << 63)).to_be_bytes());
    }
    if spec.batches.max_tokens.is_some() {
        let tokens = u32::try_from(spec.tokens_of(item)).unwrap_or(u32::MAX);
        row.extend(tokens.to_be_bytes());
    }
    for component in item {
        let bytes = millstream_proto::encode(&message::encode(component)?);
        row.push(COMPONENT);
        let mut length = bytes.len();
        while length >= 0x80 {
            row.push(length as u8 | 0x80);
            length >>= 7;
        }
        row.push(length as u8);
        row.extend(bytes);
    }
    if at.most_bytes < row.len() {
        let error = invalid!(
            "an element for queue '{queue}' in {at} takes {} bytes, more than the limit of {}",
            row.len(),
            at.most_bytes
        );
        return Err(error.with_help("raise `max_element_bytes` in the address, or split the element"));
    }
    Ok(row)
}

/// Reads an element.
pub(crate) fn decode(row: &[u8], spec: &QueueSpec, queue: &str, at: &Address) -> Result<Item> {
    parse(row, spec, at).and_then(Item::new).map_err(|error| {
        let text = format!("queue '{queue}' in {at} holds something that is not an element of it");
        Error::new(Code::DataLoss, text)
            .note(error.message().to_owned())
            .with_help("use a namespace that nothing else writes to")
    })
}

fn parse(row: &[u8], spec: &QueueSpec, at: &Address) -> Result<SmallVec<[Tensor; 2]>> {
    let cut = || invalid!("it ends early");
    let mut head = 0;
    if spec.kind == QueueKind::Priority {
        head += 8;
    }
    if spec.batches.max_tokens.is_some() {
        head += 4;
    }
    let mut rest = row.get(head..).ok_or_else(cut)?;
    let mut components = SmallVec::new();
    while let Some((&tag, after)) = rest.split_first() {
        if tag != COMPONENT {
            return Err(invalid!("field {} is unknown", tag >> 3));
        }
        rest = after;
        let (mut length, mut shift) = (0usize, 0);
        loop {
            let (&byte, after) = rest.split_first().filter(|_| shift < 35).ok_or_else(cut)?;
            rest = after;
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        let (one, after) = rest.split_at_checked(length).ok_or_else(cut)?;
        rest = after;
        let proto: TensorProto = millstream_proto::decode(one).map_err(|e| invalid!("{e}"))?;
        // A short message may claim to be a large tensor.
        let allow = &mut |count: usize, size: usize| match count.checked_mul(size) {
            Some(bytes) if bytes <= at.most_bytes.max(1 << 10).saturating_mul(32) => Ok(()),
            _ => Err(invalid!("a component of it claims {count} elements of {size} bytes")),
        };
        components.push(message::decode(&proto, allow)?);
    }
    Ok(components)
}

/// Writes the type of a queue. Equal types give equal bytes.
pub(crate) fn encode_spec(spec: &QueueSpec) -> Result<Vec<u8>> {
    let int = |n: usize| Value::I(i64::try_from(n).unwrap_or(i64::MAX));
    let mut node = NodeDef { op: spec.kind.to_string(), ..NodeDef::default() };
    let mut set = |name: &str, value| node.attr.insert(name.to_owned(), AttrValue { value: Some(value) });
    set("capacity", int(spec.capacity));
    let dtypes = spec.dtypes.iter().map(|d| d.number()).collect();
    set("component_types", list_of(ListValue { r#type: dtypes, ..ListValue::default() }));
    if let Some(shapes) = &spec.shapes {
        let shape = shapes.iter().map(message::encode_shape).collect();
        set("shapes", list_of(ListValue { shape, ..ListValue::default() }));
    }
    set("min_after_dequeue", int(spec.min_after_dequeue));
    set("seed", Value::I(spec.seeds.0));
    set("seed2", Value::I(spec.seeds.1));
    let Batches { padding, pad_to, max_tokens } = &spec.batches;
    let tensor = padding.iter().map(message::encode).collect::<Result<_>>()?;
    set("_padding_values", list_of(ListValue { tensor, ..ListValue::default() }));
    let i = pad_to.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
    set("_pad_to", list_of(ListValue { i, ..ListValue::default() }));
    if let Some(most) = max_tokens {
        set("_max_tokens", int(*most));
    }
    Ok(millstream_proto::encode(&node))
}

fn list_of(list: ListValue) -> Value {
    Value::List(Box::new(list))
}

/// Reads the type of a queue.
pub(crate) fn decode_spec(bytes: &[u8]) -> Result<QueueSpec> {
    let node: NodeDef = millstream_proto::decode(bytes).map_err(|e| invalid!("{e}"))?;
    let kinds = [QueueKind::Fifo, QueueKind::PaddingFifo, QueueKind::RandomShuffle, QueueKind::Priority];
    let kind = kinds.into_iter().find(|kind| kind.to_string() == node.op);
    let kind = kind.ok_or_else(|| invalid!("`{}` is not a kind of queue", node.op))?;
    let value = |name: &str| node.attr.get(name).and_then(|attr| attr.value.as_ref());
    let int = |name: &str| match value(name) {
        Some(Value::I(n)) => *n,
        _ => 0,
    };
    let size = |name: &str| usize::try_from(int(name)).unwrap_or(0);
    let list = |name: &str| match value(name) {
        Some(Value::List(list)) => ListValue::clone(list),
        _ => ListValue::default(),
    };
    let shapes = list("shapes").shape.iter().map(message::partial_shape).collect::<Result<Vec<_>>>()?;
    let has_shapes = value("shapes").is_some();
    let decoded = |proto: &TensorProto| message::decode(proto, &mut |_, _| Ok(()));
    Ok(QueueSpec {
        kind,
        capacity: size("capacity"),
        dtypes: list("component_types").r#type.iter().map(|&n| message::dtype(n)).collect::<Result<_>>()?,
        shapes: has_shapes.then_some(shapes),
        min_after_dequeue: size("min_after_dequeue"),
        seeds: (int("seed"), int("seed2")),
        batches: Batches {
            padding: list("_padding_values").tensor.iter().map(decoded).collect::<Result<_>>()?,
            pad_to: list("_pad_to").i.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect(),
            max_tokens: value("_max_tokens").map(|_| size("_max_tokens")),
        },
    })
}
