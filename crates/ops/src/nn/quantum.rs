//! What the ops of quantized numbers share: the integer types, and the conversions between integers and the
//! floats that they stand for.
//!
//! The arithmetic is TensorFlow's, step by step, in f32 where it is f32 there.

use crate::shared::elementwise::fresh;
use millstream_graph::op::KernelCx;
use millstream_tensor::DType::{self, QI8, QI16, QI32, QU8, QU16};
use millstream_tensor::pace::paced;
use millstream_tensor::{Element, QInt8, QInt16, QInt32, QUInt8, QUInt16, Result, Tensor, ensure};

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
