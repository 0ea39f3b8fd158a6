//! Arithmetic on element types as kernels need it: [`Number`] (everything that adds and multiplies), [`Real`] (what has an
//! order), [`Float`]. Integers wrap around. And the macros that pick the Rust type for a dtype.

use millstream_tensor::{C64, C128, Element, bf16, f16};

/// An element type that adds and multiplies.
pub(crate) trait Number: Element {
    /// What sums and products of many are kept in: f32 for the half-width floats, the type itself for the others.
    type Wide: Number<Wide = Self::Wide>;
    /// What means are summed in: as `Wide`, but 64 bits for integers.
    type Total: Number;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The quotient; integers truncate, and give 0 for a zero divisor.
    fn over(self, other: Self) -> Self;
    /// A count, rounded if it must be.
    fn count(n: usize) -> Self;
    /// The square root; integers truncate.
    fn root(self) -> Self;
    /// The complex conjugate; a real number itself.
    fn conjugate(self) -> Self;
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
    fn total(self) -> Self::Total;
    fn of_total(total: Self::Total) -> Self;
}

/// A number with an order.
pub(crate) trait Real: Number + PartialOrd {
    /// Below every other: negative infinity or the least integer.
    const LOWEST: Self;
    /// Above every other.
    const HIGHEST: Self;
    /// The least number that is not infinite.
    const LEAST_FINITE: Self;
    /// The greatest number that is not infinite.
    const GREATEST_FINITE: Self;
    /// The greater; NaN if one is NaN.
    fn greater(self, other: Self) -> Self;
    /// The lesser; NaN if one is NaN.
    fn lesser(self, other: Self) -> Self;
}

/// A real floating-point number, computed with in `Work`.
pub(crate) trait Float: Real {
    /// f32 or f64.
    type Work: num_traits::Float + Element + Number + Real;
    fn work(self) -> Self::Work;
    fn of_work(work: Self::Work) -> Self;
}

macro_rules! ints {
    ($($t:ty: $total:ty),*) => { $(
        impl Number for $t {
            type Wide = $t;
            type Total = $total;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn over(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_div(other) } }
            fn count(n: usize) -> Self { n as $t }
            fn root(self) -> Self { (self as f64).sqrt() as $t }
            fn conjugate(self) -> Self { self }
            #[inline(always)]
            fn widen(self) -> Self { self }
            #[inline(always)]
            fn narrow(wide: Self) -> Self { wide }
            #[inline(always)]
            fn total(self) -> $total { self as $total }
            #[inline(always)]
            fn of_total(total: $total) -> Self { total as $t }
        }
        impl Real for $t {
            const LOWEST: Self = <$t>::MIN;
            const HIGHEST: Self = <$t>::MAX;
            const LEAST_FINITE: Self = <$t>::MIN;
            const GREATEST_FINITE: Self = <$t>::MAX;
            #[inline(always)]
            fn greater(self, other: Self) -> Self { self.max(other) }
            #[inline(always)]
            fn lesser(self, other: Self) -> Self { self.min(other) }
        }
    )* };
}
ints!(i8: i64, i16: i64, i32: i64, i64: i64, u8: u64, u16: u64, u32: u64, u64: u64);

macro_rules! reals {
    ($($t:ty: $wide:ty, $zero:expr, $one:expr, $widen:expr, $narrow:expr, $count:expr, $low:expr, $high:expr;)*) => { $(
        impl Number for $t {
            type Wide = $wide;
            type Total = $wide;
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn over(self, other: Self) -> Self { self / other }
            fn count(n: usize) -> Self { $count(n) }
            fn root(self) -> Self { num_traits::Float::sqrt(self) }
            fn conjugate(self) -> Self { self }
            #[inline(always)]
            fn widen(self) -> $wide { $widen(self) }
            #[inline(always)]
            fn narrow(wide: $wide) -> Self { $narrow(wide) }
            #[inline(always)]
            fn total(self) -> $wide { $widen(self) }
            #[inline(always)]
            fn of_total(total: $wide) -> Self { $narrow(total) }
        }
        impl Real for $t {
            const LOWEST: Self = $low;
            const HIGHEST: Self = $high;
            const LEAST_FINITE: Self = <$t>::MIN;
            const GREATEST_FINITE: Self = <$t>::MAX;
            #[inline(always)]
            fn greater(self, other: Self) -> Self { if self > other || self != self { self } else { other } }
            #[inline(always)]
            fn lesser(self, other: Self) -> Self { if self < other || self != self { self } else { other } }
        }
        impl Float for $t {
            type Work = $wide;
            #[inline(always)]
            fn work(self) -> $wide { $widen(self) }
            #[inline(always)]
            fn of_work(work: $wide) -> Self { $narrow(work) }
        }
    )* };
}
fn same<T>(v: T) -> T {
    v
}
reals! {
    f32: f32, 0.0, 1.0, same, same, |n| n as f32, f32::NEG_INFINITY, f32::INFINITY;
    f64: f64, 0.0, 1.0, same, same, |n| n as f64, f64::NEG_INFINITY, f64::INFINITY;
    f16: f32, f16::ZERO, f16::ONE, f16::to_f32, f16::from_f32, |n| f16::from_f32(n as f32), f16::NEG_INFINITY, f16::INFINITY;
    bf16: f32, bf16::ZERO, bf16::ONE, bf16::to_f32, bf16::from_f32, |n| bf16::from_f32(n as f32), bf16::NEG_INFINITY, bf16::INFINITY;
}

macro_rules! complexes {
    ($($t:ty: $re:ty),*) => { $(
        impl Number for $t {
            type Wide = $t;
            type Total = $t;
            const ZERO: Self = <$t>::new(0.0, 0.0);
            const ONE: Self = <$t>::new(1.0, 0.0);
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { self - other }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn over(self, other: Self) -> Self { self / other }
            fn count(n: usize) -> Self { <$t>::new(n as $re, 0.0) }
            fn root(self) -> Self { self.sqrt() }
            fn conjugate(self) -> Self { self.conj() }
            #[inline(always)]
            fn widen(self) -> Self { self }
            #[inline(always)]
            fn narrow(wide: Self) -> Self { wide }
            #[inline(always)]
            fn total(self) -> Self { self }
            #[inline(always)]
            fn of_total(total: Self) -> Self { total }
        }
    )* };
}
complexes!(C64: f32, C128: f64);

/// The error for a dtype that a kernel has no code for.
pub(crate) fn no_kernel(op: &str, dtype: millstream_tensor::DType) -> millstream_tensor::Error {
    millstream_tensor::invalid!("{op} does not compute with {dtype}")
        .with_help("convert the input with `cast`")
}

/// Runs `$body` with `$T` bound to the [`Float`] of a dtype: `with_float!(op, dtype, T => f::<T>())`.
macro_rules! with_float {
    ($op:expr, $dtype:expr, $T:ident => $body:expr) => {
        $crate::number::with_types!($op, $dtype, $T => $body; F16 F32 F64 BF16)
    };
}
/// As [`with_float!`], for every [`Real`].
macro_rules! with_real {
    ($op:expr, $dtype:expr, $T:ident => $body:expr) => {
        $crate::number::with_types!($op, $dtype, $T => $body; F16 F32 F64 BF16 I8 I16 I32 I64 U8 U16 U32 U64)
    };
}
/// As [`with_float!`], for every [`Number`].
macro_rules! with_number {
    ($op:expr, $dtype:expr, $T:ident => $body:expr) => {
        $crate::number::with_types!($op, $dtype, $T => $body; F16 F32 F64 BF16 I8 I16 I32 I64 U8 U16 U32 U64 C64 C128)
    };
}
/// Runs `$body` with `$T` bound to the Rust type of one of the dtypes listed; an error for the others.
macro_rules! with_types {
    ($op:expr, $dtype:expr, $T:ident => $body:expr; $($variant:ident)*) => {
        match $dtype {
            $(millstream_tensor::DType::$variant => {
                type $T = millstream_tensor::element::types::$variant;
                $body
            })*
            other => Err($crate::number::no_kernel($op, other)),
        }
    };
}
pub(crate) use {with_float, with_number, with_real, with_types};
