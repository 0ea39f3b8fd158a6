//! What the ops of quantized numbers share: the integer types, and the conversions between integers and the
//! floats that they stand for.
//!
//! The arithmetic is TensorFlow's, step by step, in f32 where it is f32 there.

use crate::shared::elementwise::fresh;
use millstream_graph::op::{InferCx, KernelCx};
use millstream_tensor::DType::{self, QI8, QI16, QI32, QU8, QU16};
use millstream_tensor::pace::paced;
use millstream_tensor::{
    Element, Error, PartialShape, QInt8, QInt16, QInt32, QUInt8, QUInt16, Result, Tensor, ensure,
};

/// The quantized types.
pub(super) const QUANTA: &[DType] = &[QI8, QU8, QI32, QI16, QU16];

/// A quantized integer.
pub(super) trait Quantum: Element {
    const BITS: u32;
    const LEAST: i64;
    const MOST: i64;
    /// The low bits of an integer.
    fn low_bits(v: i64) -> Self;
    fn value(self) -> i32;

    /// The integer of a float that was rounded. One that does not fit gives the low bits of the least one.
    fn of_float(v: f32) -> Self {
        let wide = (-9223372036854775808.0..9223372036854775808.0).contains(&v);
        match Self::BITS {
            32 => Self::low_bits(if wide { v as i64 } else { i64::MIN }),
            _ => Self::low_bits(i64::from(to_int(v))),
        }
    }

    /// Half the range of a signed type, and 0 for others.
    fn half() -> f32 {
        if Self::LEAST < 0 { ((Self::MOST - Self::LEAST + 1) as f64 / 2.0) as f32 } else { 0.0 }
    }
}

/// The integer of a float, or the least one if it does not fit.
pub(super) fn to_int(v: f32) -> i32 {
    if (-2147483648.0..2147483648.0).contains(&v) { v as i32 } else { i32::MIN }
}

macro_rules! quantum {
    ($($t:ident $inner:ident;)*) => { $(
        impl Quantum for $t {
            const BITS: u32 = $inner::BITS;
            const LEAST: i64 = $inner::MIN as i64;
            const MOST: i64 = $inner::MAX as i64;
            fn low_bits(v: i64) -> Self {
                $t(v as $inner)
            }
            fn value(self) -> i32 {
                self.0 as i32
            }
        }
    )* };
}
quantum! { QInt8 i8; QUInt8 u8; QInt16 i16; QUInt16 u16; QInt32 i32; }

/// Reads input `i`, an end of a range.
pub(super) fn end(cx: &KernelCx, i: usize) -> Result<f32> {
    let t = cx.input(i);
    ensure!(t.rank() == 0, "`{}` must be a scalar but has shape {}", cx.name_of(i), t.shape());
    t.to_scalar::<f32>()
}

/// The integer that a float would be, if it need not fit into the type.
pub(super) fn place<T: Quantum>(v: f32, min: f32, max: f32) -> i64 {
    if min == max {
        return T::LEAST;
    }
    let steps = (1u64 << T::BITS) as f64;
    let scale = steps / (f64::from(max - min) * (steps / (steps - 1.0)));
    let whole = (f64::from(v) * scale).round() - (f64::from(min) * scale).round();
    (whole as i64).saturating_add(T::LEAST)
}

/// The nearest integer of the type to a float.
pub(super) fn nearest<T: Quantum>(v: f32, min: f32, max: f32) -> i64 {
    place::<T>(v, min, max).clamp(T::LEAST, T::MOST)
}

/// The range of integers of 32 bits that are sums of products of bytes from these two ranges.
pub(super) fn range_of_products(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
    let each = |(min, max): (f32, f32)| (max - min) / (QUInt8::MOST - QUInt8::LEAST) as f32;
    let product = each(a) * each(b);
    (product * QInt32::LEAST as f32, product * QInt32::MOST as f32)
}

/// The difference between each byte and the byte that represents zero, as an integer.
pub(super) fn centered(x: &Tensor, (min, max): (f32, f32)) -> Result<Tensor> {
    let zero = place::<QUInt8>(0.0, min, max) as i32;
    each(x, |q: QUInt8| q.value().wrapping_sub(zero))
}

/// The error of an op whose kernel takes bytes alone.
pub(super) fn takes_bytes(op: &str, dtype: DType) -> Error {
    Error::unimplemented(format!(
        "{op} has no kernel of {}: as in TensorFlow, it takes quint8",
        dtype.tf_name()
    ))
}

/// The reason why ops of quantized numbers have no gradient.
pub(super) const NO_SLOPE: &str = "TensorFlow has none either: integers do not change by degrees";

/// Checks that the inputs from `first` on are scalars, and sets the last two outputs to scalars.
pub(super) fn infer_ends(cx: &mut InferCx, first: usize) -> Result<()> {
    (first..cx.n_inputs()).try_for_each(|i| cx.scalar(i))?;
    let n = cx.n_outputs();
    cx.set(n - 2, PartialShape::scalar());
    cx.set(n - 1, PartialShape::scalar());
    Ok(())
}

/// Sets the last two outputs, the ends of a range.
pub(super) fn set_ends(cx: &mut KernelCx, (min, max): (f32, f32)) {
    cx.set(1, Tensor::scalar(min));
    cx.set(2, Tensor::scalar(max));
}

/// Converts each element.
pub(super) fn each<S: Element, D: Element>(x: &Tensor, convert: impl Fn(S) -> D) -> Result<Tensor> {
    let mut out = Tensor::zeros(D::DTYPE, x.shape().clone())?;
    let (to, from) = (fresh::<D>(&mut out)?, x.as_slice::<S>()?);
    paced(to.len(), |range| {
        to[range.clone()].iter_mut().zip(&from[range]).for_each(|(y, x)| *y = convert(*x))
    })?;
    Ok(out)
}

/// The integers of floats from `min` to `max`: the least float is the least integer.
#[derive(Clone, Copy)]
pub(super) struct FromFloat {
    scale: f32,
    shift: f32,
    least: f32,
    most: f32,
}

impl FromFloat {
    pub fn new<T: Quantum>(min: f32, max: f32) -> FromFloat {
        let steps = (1u64 << T::BITS) as f64;
        let scale = if min == max { 0.0 } else { ((steps - 1.0) / f64::from(max - min)) as f32 };
        let start = (min * scale).round();
        // The greatest i32 is no f32.
        let most = (T::MOST as f32).min(2147483520.0);
        FromFloat { scale, shift: start - T::LEAST as f32, least: T::LEAST as f32, most }
    }

    pub fn integer<T: Quantum>(&self, x: f32) -> T {
        let v = (x * self.scale).round() - self.shift;
        let v = if v < self.least { self.least } else { v };
        T::low_bits(i64::from(to_int(if self.most < v { self.most } else { v })))
    }
}

/// The floats of integers from `min` to `max`.
#[derive(Clone, Copy)]
pub(super) struct ToFloat {
    scale: f32,
    start: f32,
}

impl ToFloat {
    pub fn new<T: Quantum>(min: f32, max: f32) -> ToFloat {
        let steps = (1u64 << T::BITS) as f64;
        let scale = (f64::from(max - min) / (steps - 1.0)) as f32;
        let start = if min == max { min } else { (min / scale).round() * scale };
        ToFloat { scale, start: start - T::LEAST as f32 * scale }
    }

    pub fn float<T: Quantum>(&self, q: T) -> f32 {
        self.start + q.value() as f32 * self.scale
    }
}
