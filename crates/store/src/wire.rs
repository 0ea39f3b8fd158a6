//! How elements and the types of queues are written.
//!
//! An element is a protobuf message whose field 1 holds a `TensorProto` for each component. What the server
//! must know of an element goes before it: in a priority queue the priority (8 bytes that sort as the number
//! does), in a queue whose batches are limited by tokens the number of its tokens (4 bytes, big-endian). The
//! type of a queue is a `NodeDef`, of the op and the attributes that make such a queue.

use crate::address::Address;
use millstream_checkpoint::message;
use millstream_proto::attr_value::{ListValue, Value};
use millstream_proto::{AttrValue, NodeDef, TensorProto, weight};
use millstream_state::{Batches, Item, QueueKind, QueueSpec};
use millstream_tensor::{Code, Error, Result, Tensor, ensure, invalid};
use smallvec::SmallVec;

/// Field 1, of the wire type with a length.
const COMPONENT: u8 = 0x0a;

/// The bytes of memory that an element may take for each byte that it may have. Short strings take the most.
const MEMORY_FACTOR: usize = 32;

/// The bytes of memory that the type of a queue may take.
const SPEC_MEMORY: usize = 16 << 20;

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
    let mut left = at.most_bytes.max(1 << 10).saturating_mul(MEMORY_FACTOR);
    while let Some((&tag, after)) = rest.split_first() {
        if tag != COMPONENT {
            return Err(invalid!("field {} is unknown", tag >> 3));
        }
        rest = after;
        if components.len() == spec.dtypes.len() {
            return Err(invalid!("it has more components than the {} of the queue", spec.dtypes.len()));
        }
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
        check_weight(one, weight::<TensorProto>(one), left)?;
        let proto = millstream_proto::decode(one).map_err(|e| invalid!("{e}"))?;
        components.push(tensor(&proto, &mut left)?);
    }
    Ok(components)
}

/// Returns an error if a message would take more than `most` bytes: a short one may have very many fields.
fn check_weight(bytes: &[u8], weight: usize, most: usize) -> Result<()> {
    ensure!(weight <= most, "a message of {} bytes would take {weight} bytes of memory", bytes.len());
    Ok(())
}

/// Reads a tensor that takes at most the `left` bytes, which it reduces: a short message may claim to be a
/// large tensor, and a row may have many of them.
fn tensor(proto: &TensorProto, left: &mut usize) -> Result<Tensor> {
    message::decode(proto, &mut |count: usize, size: usize| {
        let rest = count.checked_mul(size).and_then(|bytes| left.checked_sub(bytes));
        *left = rest.ok_or_else(|| invalid!("a tensor in it claims {count} elements of {size} bytes"))?;
        Ok(())
    })
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
    check_weight(bytes, weight::<NodeDef>(bytes), SPEC_MEMORY)?;
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
    let mut left = SPEC_MEMORY;
    let spec = QueueSpec {
        kind,
        capacity: size("capacity"),
        dtypes: list("component_types").r#type.iter().map(|&n| message::dtype(n)).collect::<Result<_>>()?,
        shapes: has_shapes.then_some(shapes),
        min_after_dequeue: size("min_after_dequeue"),
        seeds: (int("seed"), int("seed2")),
        batches: Batches {
            padding: list("_padding_values")
                .tensor
                .iter()
                .map(|proto| tensor(proto, &mut left))
                .collect::<Result<_>>()?,
            pad_to: list("_pad_to").i.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect(),
            max_tokens: value("_max_tokens").map(|_| size("_max_tokens")),
        },
    };
    // It is another's word: items are checked against it later, component by component.
    spec.check()?;
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_tensor::{DType, PartialShape};

    fn spec(dtypes: &[DType]) -> QueueSpec {
        QueueSpec {
            kind: QueueKind::Fifo,
            capacity: 3,
            dtypes: dtypes.to_vec(),
            shapes: None,
            min_after_dequeue: 0,
            seeds: (0, 0),
            batches: Batches::default(),
        }
    }

    /// At most a KiB for an element.
    fn at() -> Address {
        Address::parse("valkey://localhost/test?max_element_bytes=1024").unwrap()
    }

    /// A component: a field of the wire type with a length.
    fn component(bytes: &[u8]) -> Vec<u8> {
        assert!(bytes.len() < 1 << 14);
        [&[COMPONENT, bytes.len() as u8 | 0x80, (bytes.len() >> 7) as u8][..], bytes].concat()
    }

    #[track_caller]
    fn refused(row: &[u8], spec: &QueueSpec, why: &str) {
        let error = decode(row, spec, "q", &at()).map(drop).unwrap_err();
        assert_eq!(error.code(), Code::DataLoss);
        assert!(error.to_string().contains(why), "{error}");
    }

    /// A bool tensor of this size, of which the message has no element.
    fn claims(n: u64) -> Vec<u8> {
        let mut size = Vec::new();
        let mut rest = n;
        while 0x80 <= rest {
            size.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        size.push(rest as u8);
        let dim = [&[0x08][..], &size].concat();
        let shape = [&[0x12, dim.len() as u8][..], &dim].concat();
        [&[0x08, 10, 0x12, shape.len() as u8][..], &shape].concat()
    }

    #[test]
    fn elements_come_back() {
        let list = spec(&[DType::Str, DType::I64]);
        let item = [Tensor::strings([2], vec!["a".into(), "".into()]).unwrap(), Tensor::scalar(7i64)];
        let row = encode(&item, &list, "q", &at()).unwrap();
        let back = decode(&row, &list, "q", &at()).unwrap();
        assert!(back.iter().zip(&item).all(|(a, b)| a.bits_eq(b)) && back.len() == 2);
    }

    #[test]
    fn elements_that_lie_are_refused() {
        let (one, two) = (spec(&[DType::Bool]), spec(&[DType::Bool, DType::Bool]));
        assert!(decode(&component(&claims(100)), &one, "q", &at()).is_ok());
        refused(&component(&claims(1 << 40)), &one, "claims 1099511627776 elements");
        // Each would do, but not both.
        let both = [component(&claims(20_000)), component(&claims(20_000))].concat();
        assert!(decode(&both[..both.len() / 2], &two, "q", &at()).is_ok());
        refused(&both, &two, "claims 20000 elements");
        refused(&[component(&claims(1)), component(&claims(1))].concat(), &one, "more components than the 1");
        // Empty strings: two bytes each, and more than ten times that in memory.
        let strings = [&[0x08, 7][..], &[0x42, 0].repeat(4000)].concat();
        refused(&component(&strings), &spec(&[DType::Str]), "bytes of memory");
        refused(&[COMPONENT, 0xff], &one, "ends early");
        refused(&[0x12, 0], &one, "field 2 is unknown");
        let priority = QueueSpec { kind: QueueKind::Priority, ..spec(&[DType::I64]) };
        refused(&[1, 2, 3], &priority, "ends early");
    }

    #[test]
    fn types_come_back() {
        let mut padded = spec(&[DType::F32, DType::Str]);
        padded.kind = QueueKind::PaddingFifo;
        padded.shapes = Some(vec![PartialShape::from([None, Some(2)]), PartialShape::scalar()]);
        padded.batches = Batches {
            padding: vec![Tensor::scalar(1f32), Tensor::str("x")],
            pad_to: vec![4, 8],
            max_tokens: Some(99),
        };
        let bytes = encode_spec(&padded).unwrap();
        let back = decode_spec(&bytes).unwrap();
        assert_eq!(encode_spec(&back).unwrap(), bytes);
        assert_eq!((back.batches.pad_to, back.batches.max_tokens), (vec![4, 8], Some(99)));
        assert!(back.batches.padding[1].bits_eq(&padded.batches.padding[1]));
    }

    #[test]
    fn types_that_lie_are_refused() {
        let refused = |bytes: &[u8], why: &str| {
            let error = decode_spec(bytes).map(drop).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        refused(b"\x12\x03abc", "`abc` is not a kind of queue");
        refused(b"\xff", "");
        let fewer = QueueSpec { shapes: Some(Vec::new()), ..spec(&[DType::F32]) };
        refused(&encode_spec(&fewer).unwrap(), "1 components was given 0 shapes");
        let with = |list: ListValue| {
            let mut node = NodeDef { op: "FIFOQueue".to_owned(), ..NodeDef::default() };
            node.attr.insert("_padding_values".to_owned(), AttrValue { value: Some(list_of(list)) });
            millstream_proto::encode(&node)
        };
        let tensor = |n: u64| millstream_proto::decode::<TensorProto>(&claims(n)).unwrap();
        refused(
            &with(ListValue { tensor: vec![tensor(1 << 40)], ..ListValue::default() }),
            "claims 1099511627776",
        );
        let most = SPEC_MEMORY as u64;
        refused(
            &with(ListValue { tensor: vec![tensor(most), tensor(1)], ..ListValue::default() }),
            "claims 1 elements",
        );
        let many = ListValue { tensor: vec![TensorProto::default(); 1 << 18], ..ListValue::default() };
        refused(&with(many), "bytes of memory");
    }
}
