//! Tensors, shapes and dtypes in TensorFlow's messages: `TensorProto`, `TensorShapeProto`, and the numbers of
//! dtypes.
//!
//! A tensor's message holds the elements as raw bytes (`tensor_content`) or in the list for its dtype. A list
//! may be shorter than the tensor: its last value is repeated, and an empty list means zeros. A few bytes may
//! therefore claim to be a huge tensor, so the caller of the decoder approves sizes before anything is
//! allocated.

use crate::bytes::put_varint;
use millstream_proto::{DataType, TensorProto, TensorShapeProto, tensor_shape_proto};
use millstream_tensor::{
    Assembler, C64, C128, Complex, DType, Element, Error, MAX_RANK, PartialShape, QInt8, QInt16, QInt32,
    QUInt8, QUInt16, Result, Shape, Str, Tensor, bf16, ensure, f16, invalid,
};

/// A check of `count` elements of `size` bytes before they are allocated; returns an error if they are too
/// much.
pub type Allow<'a> = &'a mut dyn FnMut(usize, usize) -> Result<()>;

/// The dtype with this number.
pub fn dtype(number: i32) -> Result<DType> {
    DType::from_number(number).ok_or_else(|| match DataType::try_from(number) {
        Ok(named) if number != 0 => {
            Error::unimplemented(format!("the dtype {} is not supported", named.as_str_name()))
        }
        _ => invalid!("{number} is not a known dtype number"),
    })
}

/// The shape in a message, which may be partly unknown.
pub fn partial_shape(message: &TensorShapeProto) -> Result<PartialShape> {
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

/// The shape of a tensor, which must be fully known; that of a scalar if there is no message.
pub fn full_shape(message: Option<&TensorShapeProto>) -> Result<Shape> {
    let Some(message) = message else { return Ok(Shape::new([])) };
    let shape = partial_shape(message)?;
    shape.full().ok_or_else(|| invalid!("the shape of a tensor must be known, not {shape}"))
}

/// The message for a shape.
pub fn encode_shape(shape: &PartialShape) -> TensorShapeProto {
    let Some(dims) = shape.dims() else { return TensorShapeProto { dim: Vec::new(), unknown_rank: true } };
    let size = |d: &Option<usize>| d.map_or(-1, |d| i64::try_from(d).unwrap_or(i64::MAX));
    let dim = dims.iter().map(|d| tensor_shape_proto::Dim { size: size(d), name: String::new() }).collect();
    TensorShapeProto { dim, unknown_rank: false }
}

/// The tensor in a message.
pub fn decode(message: &TensorProto, allow: Allow<'_>) -> Result<Tensor> {
    let dtype = dtype(message.dtype)?;
    let shape = full_shape(message.tensor_shape.as_ref())?;
    let count = shape.checked_elements()?;
    allow(count, dtype.size().unwrap_or(size_of::<Str>()))?;
    let m = message;
    macro_rules! plain {
        ($list:expr, $convert:expr, $from_bytes:expr) => {
            decode_plain(dtype, shape, count, &m.tensor_content, $list, $convert, $from_bytes)
        };
    }
    match dtype {
        DType::F32 => plain!(&m.float_val, |&v: &f32| v, f32::from_le_bytes),
        DType::F64 => plain!(&m.double_val, |&v: &f64| v, f64::from_le_bytes),
        DType::F16 => plain!(&m.half_val, |&v: &i32| f16::from_bits(v as u16), f16::from_le_bytes),
        DType::BF16 => plain!(&m.half_val, |&v: &i32| bf16::from_bits(v as u16), bf16::from_le_bytes),
        DType::I8 => plain!(&m.int_val, |&v: &i32| v as i8, i8::from_le_bytes),
        DType::I16 => plain!(&m.int_val, |&v: &i32| v as i16, i16::from_le_bytes),
        DType::I32 => plain!(&m.int_val, |&v: &i32| v, i32::from_le_bytes),
        DType::I64 => plain!(&m.int64_val, |&v: &i64| v, i64::from_le_bytes),
        DType::U8 => plain!(&m.int_val, |&v: &i32| v as u8, u8::from_le_bytes),
        DType::U16 => plain!(&m.int_val, |&v: &i32| v as u16, u16::from_le_bytes),
        DType::U32 => plain!(&m.uint32_val, |&v: &u32| v, u32::from_le_bytes),
        DType::U64 => plain!(&m.uint64_val, |&v: &u64| v, u64::from_le_bytes),
        DType::Bool => plain!(&m.bool_val, |&v: &bool| v, |[b]: [u8; 1]| b != 0),
        DType::QI8 => plain!(&m.int_val, |&v: &i32| QInt8(v as i8), |b| QInt8(i8::from_le_bytes(b))),
        DType::QU8 => plain!(&m.int_val, |&v: &i32| QUInt8(v as u8), |b| QUInt8(u8::from_le_bytes(b))),
        DType::QI16 => plain!(&m.int_val, |&v: &i32| QInt16(v as i16), |b| QInt16(i16::from_le_bytes(b))),
        DType::QU16 => plain!(&m.int_val, |&v: &i32| QUInt16(v as u16), |b| QUInt16(u16::from_le_bytes(b))),
        DType::QI32 => plain!(&m.int_val, |&v: &i32| QInt32(v), |b| QInt32(i32::from_le_bytes(b))),
        DType::C64 => plain!(
            m.scomplex_val.as_chunks::<2>().0,
            |&[re, im]: &[f32; 2]| Complex::new(re, im),
            |b: [u8; 8]| {
                let [a, b, c, d, e, f, g, h] = b;
                Complex::new(f32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h]))
            }
        ),
        DType::C128 => plain!(
            m.dcomplex_val.as_chunks::<2>().0,
            |&[re, im]: &[f64; 2]| Complex::new(re, im),
            |b: [u8; 16]| {
                let bits = u128::from_le_bytes(b);
                Complex::new(f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64))
            }
        ),
        DType::Str => decode_strings(message, shape, count, allow),
        DType::Resource | DType::Variant => Err(Error::unimplemented(format!(
            "a tensor of {dtype} cannot be read from a message: it points to state in the process that wrote it"
        ))),
    }
}

fn decode_plain<T: Element, V, const SIZE: usize>(
    dtype: DType,
    shape: Shape,
    count: usize,
    content: &[u8],
    list: &[V],
    convert: impl Fn(&V) -> T,
    from_bytes: impl Fn([u8; SIZE]) -> T,
) -> Result<Tensor> {
    if !content.is_empty() {
        let (chunks, rest) = content.as_chunks::<SIZE>();
        ensure!(
            chunks.len() == count && rest.is_empty(),
            "a tensor {dtype}{shape} needs {} bytes of `tensor_content`, which has {}",
            count.saturating_mul(SIZE),
            content.len()
        );
        return Tensor::from_iter(shape, chunks.iter().map(|b| from_bytes(*b)));
    }
    check_list(dtype, &shape, count, list.len())?;
    match list.last() {
        None => Tensor::zeros(dtype, shape),
        Some(last) => {
            let rest = std::iter::repeat_with(|| convert(last)).take(count - list.len());
            Tensor::from_iter(shape, list.iter().map(&convert).chain(rest))
        }
    }
}

fn check_list(dtype: DType, shape: &Shape, count: usize, given: usize) -> Result<()> {
    ensure!(given <= count, "a tensor {dtype}{shape} has {count} elements, but the message holds {given}");
    Ok(())
}

fn decode_strings(message: &TensorProto, shape: Shape, count: usize, allow: Allow<'_>) -> Result<Tensor> {
    let bytes: Vec<&[u8]> = match message.tensor_content.is_empty() {
        true => message.string_val.iter().map(Vec::as_slice).collect(),
        false => split_strings(&message.tensor_content, count)?,
    };
    check_list(DType::Str, &shape, count, bytes.len())?;
    allow(bytes.iter().map(|b| b.len()).sum(), 1)?;
    // Memory for all strings is allocated before any is created: a message that claims many may hold few.
    let mut all = Assembler::new(DType::Str, shape)?;
    let given = bytes.len();
    let values = bytes.into_iter().map(Str::new).collect::<Result<Vec<Str>>>()?;
    let last = Tensor::str(values.last().cloned().unwrap_or_default());
    all.push(&Tensor::strings([given], values)?, 0, given)?;
    all.push_fill(&last, count - given)?;
    all.finish()
}

/// Splits packed strings: all lengths as varints, then all bytes.
fn split_strings(content: &[u8], count: usize) -> Result<Vec<&[u8]>> {
    let bad = || invalid!("`tensor_content` does not hold {count} packed strings");
    let mut at = content;
    let mut lengths = Vec::new();
    for _ in 0..count {
        let mut length = 0usize;
        for shift in (0..35).step_by(7) {
            let (&byte, rest) = at.split_first().ok_or_else(bad)?;
            at = rest;
            length |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        lengths.push(length);
    }
    let mut strings = Vec::new();
    for length in lengths {
        let (string, rest) = at.split_at_checked(length).ok_or_else(bad)?;
        at = rest;
        strings.push(string);
    }
    ensure!(at.is_empty(), "`tensor_content` holds {} bytes after its {count} strings", at.len());
    Ok(strings)
}

/// The message for a tensor. Strings are in their list, all other elements are raw bytes, however few.
pub fn encode(tensor: &Tensor) -> Result<TensorProto> {
    let mut m = TensorProto {
        dtype: tensor.dtype().number(),
        tensor_shape: Some(encode_shape(&tensor.shape().into())),
        ..TensorProto::default()
    };
    match (tensor.as_strs(), tensor.as_bytes()) {
        (Some(values), _) => m.string_val = values.iter().map(|v| v.to_vec()).collect(),
        (_, Some(bytes)) => m.tensor_content = bytes.to_vec(),
        _ => {
            return Err(Error::unimplemented(format!(
                "a tensor of {} cannot be written to a message: it points to state in this process",
                tensor.dtype()
            )));
        }
    }
    Ok(m)
}

/// The same as [`encode`], except that strings are raw bytes too: all lengths, then all bytes.
pub fn encode_packed(tensor: &Tensor) -> Result<TensorProto> {
    let mut m = encode(tensor)?;
    let strings = std::mem::take(&mut m.string_val);
    for string in &strings {
        put_varint(&mut m.tensor_content, string.len() as u64);
    }
    m.tensor_content.extend(strings.concat());
    Ok(m)
}

/// The same as [`encode`], except that a single element is in the list of its dtype, as TensorFlow writes
/// constants.
pub fn encode_constant(tensor: &Tensor) -> Result<TensorProto> {
    let mut m = encode(tensor)?;
    // TensorFlow writes elements of these types in their list, however many there are.
    let listed = matches!(tensor.dtype(), DType::Bool | DType::F16 | DType::BF16 | DType::C64 | DType::C128);
    if tensor.elements() != 1 && listed {
        m.tensor_content.clear();
        match tensor.dtype() {
            DType::Bool => m.bool_val = tensor.as_slice::<bool>()?.to_vec(),
            DType::F16 => m.half_val = tensor.as_slice::<f16>()?.iter().map(|v| v.to_bits().into()).collect(),
            DType::BF16 => {
                m.half_val = tensor.as_slice::<bf16>()?.iter().map(|v| v.to_bits().into()).collect()
            }
            DType::C64 => {
                m.scomplex_val = tensor.as_slice::<C64>()?.iter().flat_map(|v| [v.re, v.im]).collect();
            }
            _ => m.dcomplex_val = tensor.as_slice::<C128>()?.iter().flat_map(|v| [v.re, v.im]).collect(),
        }
    }
    if tensor.elements() != 1 {
        return Ok(m);
    }
    m.tensor_content.clear();
    fn one<T: Element>(tensor: &Tensor) -> Result<T> {
        Ok(tensor.as_slice::<T>()?.first().copied().unwrap_or_default())
    }
    match tensor.dtype() {
        DType::F32 => m.float_val = vec![one(tensor)?],
        DType::F64 => m.double_val = vec![one(tensor)?],
        DType::F16 => m.half_val = vec![one::<f16>(tensor)?.to_bits().into()],
        DType::BF16 => m.half_val = vec![one::<bf16>(tensor)?.to_bits().into()],
        DType::I8 => m.int_val = vec![one::<i8>(tensor)?.into()],
        DType::I16 => m.int_val = vec![one::<i16>(tensor)?.into()],
        DType::I32 => m.int_val = vec![one(tensor)?],
        DType::I64 => m.int64_val = vec![one(tensor)?],
        DType::U8 => m.int_val = vec![one::<u8>(tensor)?.into()],
        DType::U16 => m.int_val = vec![one::<u16>(tensor)?.into()],
        DType::U32 => m.uint32_val = vec![one(tensor)?],
        DType::U64 => m.uint64_val = vec![one(tensor)?],
        DType::Bool => m.bool_val = vec![one(tensor)?],
        DType::QI8 => m.int_val = vec![one::<QInt8>(tensor)?.0.into()],
        DType::QU8 => m.int_val = vec![one::<QUInt8>(tensor)?.0.into()],
        DType::QI16 => m.int_val = vec![one::<QInt16>(tensor)?.0.into()],
        DType::QU16 => m.int_val = vec![one::<QUInt16>(tensor)?.0.into()],
        DType::QI32 => m.int_val = vec![one::<QInt32>(tensor)?.0],
        DType::C64 => {
            let v = one::<C64>(tensor)?;
            m.scomplex_val = vec![v.re, v.im];
        }
        DType::C128 => {
            let v = one::<C128>(tensor)?;
            m.dcomplex_val = vec![v.re, v.im];
        }
        DType::Str | DType::Resource | DType::Variant => {}
    }
    Ok(m)
}

/// The message for a tensor with its elements in the list of their dtype, as checkpoints of the first format
/// hold them. `None` for a dtype without one.
pub(crate) fn encode_lists(tensor: &Tensor) -> Result<Option<TensorProto>> {
    let mut m = encode(tensor)?;
    m.tensor_content.clear();
    macro_rules! list {
        ($t:ty, $convert:expr) => {
            tensor.as_slice::<$t>()?.iter().map($convert).collect()
        };
    }
    match tensor.dtype() {
        DType::F32 => m.float_val = list!(f32, |v| *v),
        DType::F64 => m.double_val = list!(f64, |v| *v),
        DType::F16 => m.half_val = list!(f16, |v| v.to_bits().into()),
        DType::BF16 => m.half_val = list!(bf16, |v| v.to_bits().into()),
        DType::I8 => m.int_val = list!(i8, |v| (*v).into()),
        DType::I16 => m.int_val = list!(i16, |v| (*v).into()),
        DType::I32 => m.int_val = list!(i32, |v| *v),
        DType::I64 => m.int64_val = list!(i64, |v| *v),
        DType::U8 => m.int_val = list!(u8, |v| (*v).into()),
        DType::U16 => m.int_val = list!(u16, |v| (*v).into()),
        DType::U32 => m.uint32_val = list!(u32, |v| *v),
        DType::U64 => m.uint64_val = list!(u64, |v| *v),
        DType::Bool => m.bool_val = list!(bool, |v| *v),
        DType::QI8 => m.int_val = list!(QInt8, |v| v.0.into()),
        DType::QU8 => m.int_val = list!(QUInt8, |v| v.0.into()),
        DType::QI16 => m.int_val = list!(QInt16, |v| v.0.into()),
        DType::QU16 => m.int_val = list!(QUInt16, |v| v.0.into()),
        DType::QI32 => m.int_val = list!(QInt32, |v| v.0),
        DType::C64 => m.scomplex_val = tensor.as_slice::<C64>()?.iter().flat_map(|v| [v.re, v.im]).collect(),
        DType::C128 => {
            m.dcomplex_val = tensor.as_slice::<C128>()?.iter().flat_map(|v| [v.re, v.im]).collect()
        }
        DType::Str => {}
        DType::Resource | DType::Variant => return Ok(None),
    }
    Ok(Some(m))
}

/// The number of elements in the list of a message's dtype.
pub(crate) fn listed(m: &TensorProto) -> usize {
    match DType::from_number(m.dtype) {
        Some(DType::F32) => m.float_val.len(),
        Some(DType::F64) => m.double_val.len(),
        Some(DType::F16 | DType::BF16) => m.half_val.len(),
        Some(DType::I64) => m.int64_val.len(),
        Some(DType::U32) => m.uint32_val.len(),
        Some(DType::U64) => m.uint64_val.len(),
        Some(DType::Bool) => m.bool_val.len(),
        Some(DType::C64) => m.scomplex_val.len() / 2,
        Some(DType::C128) => m.dcomplex_val.len() / 2,
        Some(DType::Str) => m.string_val.len(),
        _ => m.int_val.len(),
    }
}
