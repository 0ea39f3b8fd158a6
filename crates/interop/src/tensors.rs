//! Tensors to and from `TensorProto`.
//!
//! A message holds the elements as raw bytes (`tensor_content`) or in the list for its dtype. A list may be shorter than the
//! tensor: its last value then stands for the rest, and an empty list for zeros. So a few bytes may claim to be a huge tensor:
//! the claim is held against the import's allowance before anything is allocated.

use crate::allowance::Allowance;
use crate::types;
use millstream_proto::TensorProto;
use millstream_tensor::{
    C64, C128, Complex, DType, Element, Error, QInt8, QInt16, QInt32, QUInt8, QUInt16, Result, Shape, Str,
    Tensor, bf16, ensure, f16, invalid,
};

/// The tensor that a message holds.
pub(crate) fn decode(message: &TensorProto, allowance: &mut Allowance) -> Result<Tensor> {
    let dtype = types::dtype(message.dtype)?;
    let shape = types::full_shape(message.tensor_shape.as_ref())?;
    let count = shape.checked_elements()?;
    allowance.take(count, dtype.size().unwrap_or(size_of::<Str>()))?;
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
        DType::Str => decode_strings(message, shape, count, allowance),
        DType::Resource | DType::Variant => Err(Error::unimplemented(format!(
            "a constant of dtype {dtype} cannot be read: what it refers to lives in the process that wrote it"
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

fn decode_strings(
    message: &TensorProto,
    shape: Shape,
    count: usize,
    allowance: &mut Allowance,
) -> Result<Tensor> {
    let bytes: Vec<&[u8]> = match message.tensor_content.is_empty() {
        true => message.string_val.iter().map(Vec::as_slice).collect(),
        false => split_strings(&message.tensor_content, count)?,
    };
    check_list(DType::Str, &shape, count, bytes.len())?;
    allowance.take(bytes.iter().map(|b| b.len()).sum(), 1)?;
    let mut values: Vec<Str> = bytes.into_iter().map(Str::from).collect();
    let last = values.last().cloned().unwrap_or_default();
    values.resize(count, last);
    Tensor::strings(shape, values)
}

/// Packed strings: all lengths as varints, then all bytes.
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

/// A tensor as a message: scalars in the list of their dtype, more elements as raw bytes, as TensorFlow writes them.
pub(crate) fn encode(tensor: &Tensor) -> Result<TensorProto> {
    let mut m = TensorProto {
        dtype: tensor.dtype().number(),
        tensor_shape: Some(types::shape_message(&tensor.shape().into())),
        ..TensorProto::default()
    };
    if let Some(values) = tensor.as_strs() {
        m.string_val = values.iter().map(|v| v.to_vec()).collect();
        return Ok(m);
    }
    let bytes = tensor.as_bytes().ok_or_else(|| {
        Error::unimplemented(format!("a constant of dtype {} cannot be written", tensor.dtype()))
    })?;
    if tensor.elements() != 1 {
        m.tensor_content = bytes.to_vec();
        return Ok(m);
    }
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
