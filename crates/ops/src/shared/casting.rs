//! Conversion between element types: [`To`], for every pair of plain dtypes, and [`cast`] for tensors.
//!
//! Conversions give what the machine instructions in TensorFlow's kernels give: integers wrap around; a float
//! that does not fit becomes the least i32 or i64, or the low bits of that for narrower integers; NaN is
//! true; a complex number gives its real part.

use super::elementwise::fresh;
use half::{bf16, f16};
use millstream_tensor::pace::paced;
use millstream_tensor::{
    Complex, DType, Element, Error, QInt8, QInt16, QInt32, QUInt8, QUInt16, Result, Tensor, with_element,
};

/// Returns the elements converted to `dst`.
pub(crate) fn cast(x: &Tensor, dst: DType) -> Result<Tensor> {
    let src = x.dtype();
    if src == dst {
        return Ok(x.clone());
    }
    with_element!(src, S => with_element!(dst, D => converted::<S, D>(x), else => Err(no_cast(src, dst))),
        else => Err(no_cast(src, dst)))
}

fn converted<S: Element + To<D>, D: Element>(x: &Tensor) -> Result<Tensor> {
    let mut y = Tensor::zeros(D::DTYPE, x.shape().clone())?;
    let (to, from) = (fresh::<D>(&mut y)?, x.as_slice::<S>()?);
    paced(to.len(), |range| {
        for (y, x) in to[range.clone()].iter_mut().zip(&from[range]) {
            *y = x.to();
        }
    })?;
    Ok(y)
}

#[cold]
fn no_cast(src: DType, dst: DType) -> Error {
    Error::unimplemented(format!("{src} cannot be cast to {dst}: only numbers and bools convert"))
        .led_by(format!("Cast {} to {} is not supported", src.tf_name(), dst.tf_name()))
}

/// Conversion to `D`.
pub(crate) trait To<D> {
    fn to(self) -> D;
}

/// Truncates towards zero. Returns the least integer if the result does not fit.
#[inline(always)]
fn as_i32(v: f64) -> i32 {
    if v > -2147483649.0 && v < 2147483648.0 { v as i32 } else { i32::MIN }
}

#[inline(always)]
fn as_i64(v: f64) -> i64 {
    if (-9223372036854775808.0..9223372036854775808.0).contains(&v) { v as i64 } else { i64::MIN }
}

macro_rules! int {
    ($($from:ident),*) => { $( int!(@ $from: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64); )* };
    (@ $from:ident: $($to:ident),*) => { $(
        impl To<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to { self as $to }
        }
    )* };
}
int!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! float {
    ($($from:ident),*) => { $(
        float!($from: i8 as_i32, i16 as_i32, i32 as_i32, u8 as_i32, u16 as_i32, i64 as_i64, u32 as_i64);
        impl To<u64> for $from {
            #[inline(always)]
            fn to(self) -> u64 {
                if self >= 9223372036854775808.0 { self as u64 } else { as_i64(self.into()) as u64 }
            }
        }
        impl To<f32> for $from {
            #[inline(always)]
            fn to(self) -> f32 { self as f32 }
        }
        impl To<f64> for $from {
            #[inline(always)]
            fn to(self) -> f64 { self.into() }
        }
    )* };
    ($from:ident: $($to:ident $by:ident),*) => { $(
        impl To<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to { $by(self.into()) as $to }
        }
    )* };
}
float!(f32, f64);

// Conversions to the types that wrap others, from types that convert to all of the above.
macro_rules! outward {
    ($($from:ty),*) => { $(
        impl To<f16> for $from {
            #[inline(always)]
            fn to(self) -> f16 { f16::from_f32(To::<f32>::to(self)) }
        }
        impl To<bf16> for $from {
            #[inline(always)]
            fn to(self) -> bf16 { bf16::from_f32(To::<f32>::to(self)) }
        }
        outward!(@ $from: QInt8 i8, QInt16 i16, QInt32 i32, QUInt8 u8, QUInt16 u16);
    )* };
    (@ $from:ty: $($to:ident $inner:ident),*) => { $(
        impl To<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to { $to(To::<$inner>::to(self)) }
        }
    )* };
}

macro_rules! to_bool_and_complex {
    ($($from:ty),*) => { $(
        impl To<bool> for $from {
            #[inline(always)]
            fn to(self) -> bool { self != <$from>::default() }
        }
        impl To<Complex<f32>> for $from {
            #[inline(always)]
            fn to(self) -> Complex<f32> { Complex::new(self.to(), 0.0) }
        }
        impl To<Complex<f64>> for $from {
            #[inline(always)]
            fn to(self) -> Complex<f64> { Complex::new(self.to(), 0.0) }
        }
    )* };
}

// Conversions from the types that wrap others, through the wrapped type.
macro_rules! inward {
    ($($from:ty, $v:ident => $inner:expr, $via:ty;)*) => { $(
        inward!(@ $from, $v => $inner, $via: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
    )* };
    (@ $from:ty, $v:ident => $inner:expr, $via:ty: $($to:ident),*) => { $(
        impl To<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to { let $v = self; To::<$to>::to($inner) }
        }
    )* };
}
inward! {
    bool, v => v as u8, u8;
    f16, v => v.to_f32(), f32;
    bf16, v => v.to_f32(), f32;
    QInt8, v => v.0, i8;
    QInt16, v => v.0, i16;
    QInt32, v => v.0, i32;
    QUInt8, v => v.0, u8;
    QUInt16, v => v.0, u16;
    Complex<f32>, v => v.re, f32;
    Complex<f64>, v => v.re, f64;
}
outward!(
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    f32,
    f64,
    bool,
    f16,
    bf16,
    QInt8,
    QInt16,
    QInt32,
    QUInt8,
    QUInt16,
    Complex<f32>,
    Complex<f64>
);
to_bool_and_complex!(
    i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, bool, f16, bf16, QInt8, QInt16, QInt32, QUInt8, QUInt16
);

macro_rules! complexes {
    ($($from:ident),*) => { $(
        impl To<bool> for Complex<$from> {
            #[inline(always)]
            fn to(self) -> bool { self.re != 0.0 }
        }
        impl To<Complex<f32>> for Complex<$from> {
            #[inline(always)]
            fn to(self) -> Complex<f32> { Complex::new(self.re.to(), self.im.to()) }
        }
        impl To<Complex<f64>> for Complex<$from> {
            #[inline(always)]
            fn to(self) -> Complex<f64> { Complex::new(self.re.to(), self.im.to()) }
        }
    )* };
}
complexes!(f32, f64);
