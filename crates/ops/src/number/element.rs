//! The numeric tower over elements of tensors, as kernels need it: [`Number`], [`RealElement`],
//! [`FloatElement`].

use super::{Float, Math, Num, Real};
use millstream_tensor::{C64, C128, Complex, Element, bf16, f16};

/// An element type as the loops see it.
pub(crate) trait Lane: Element + Math<Mask = bool> {
    /// Its loops are compiled for the machine's vector width. Only where it pays: each such loop is compiled
    /// thrice.
    const WIDE: bool = false;
}

macro_rules! lanes {
    ($wide:literal: $($t:ty),*) => { $(
        impl Lane for $t { const WIDE: bool = $wide; }
    )* };
}
lanes!(true: f32, f64, i32, i64);
lanes!(false: f16, bf16, i8, i16, u8, u16, u32, u64, bool, Complex<f32>, Complex<f64>);

/// An element type that adds and multiplies.
pub(crate) trait Number: Lane + Num {
    /// The type that sums and products of many are kept in: f32 for the half-width floats, the type itself
    /// for the others.
    type Wide: Number<Wide = Self::Wide>;
    /// The type that means are summed in: as `Wide`, but 64 bits for integers.
    type Total: Number;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The quotient, as [`Num::div`], but of complex numbers by the plain formula, which may overflow in
    /// between.
    fn over(self, other: Self) -> Self;
    /// A count, rounded if it must be.
    fn count(n: usize) -> Self;
    /// The square root; integers truncate.
    fn root(self) -> Self;
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
    fn total(self) -> Self::Total;
    fn of_total(total: Self::Total) -> Self;
}

/// A number with an order.
pub(crate) trait RealElement: Number + Real + PartialOrd {
    /// Below every other: negative infinity or the least integer.
    const LOWEST: Self;
    /// Above every other.
    const HIGHEST: Self;
    /// The least number that is not infinite.
    const LEAST_FINITE: Self;
    /// The greatest number that is not infinite.
    const GREATEST_FINITE: Self;
}

/// A floating-point number, computed with in `Work`.
pub(crate) trait FloatElement: RealElement + Float {
    /// f32 or f64. Its functions are the standard library's.
    type Work: num_traits::Float + RealElement;
    fn work(self) -> Self::Work;
    fn of_work(work: Self::Work) -> Self;
}

/// The conversions of a type whose sums are kept in itself.
macro_rules! own_width {
    () => {
        #[inline(always)]
        fn widen(self) -> Self {
            self
        }
        #[inline(always)]
        fn narrow(wide: Self) -> Self {
            wide
        }
    };
}

macro_rules! ints {
    ($($t:ty: $total:ty),*) => { $(
        impl Number for $t {
            type Wide = $t;
            type Total = $total;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn over(self, other: Self) -> Self { self.div(other) }
            fn count(n: usize) -> Self { n as $t }
            fn root(self) -> Self { (self as f64).sqrt() as $t }
            own_width!();
            #[inline(always)]
            fn total(self) -> $total { self as $total }
            #[inline(always)]
            fn of_total(total: $total) -> Self { total as $t }
        }
        impl RealElement for $t {
            const LOWEST: Self = <$t>::MIN;
            const HIGHEST: Self = <$t>::MAX;
            const LEAST_FINITE: Self = <$t>::MIN;
            const GREATEST_FINITE: Self = <$t>::MAX;
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
            fn over(self, other: Self) -> Self { self / other }
            fn count(n: usize) -> Self { $count(n) }
            fn root(self) -> Self { num_traits::Float::sqrt(self) }
            #[inline(always)]
            fn widen(self) -> $wide { $widen(self) }
            #[inline(always)]
            fn narrow(wide: $wide) -> Self { $narrow(wide) }
            #[inline(always)]
            fn total(self) -> $wide { $widen(self) }
            #[inline(always)]
            fn of_total(total: $wide) -> Self { $narrow(total) }
        }
        impl RealElement for $t {
            const LOWEST: Self = $low;
            const HIGHEST: Self = $high;
            const LEAST_FINITE: Self = <$t>::MIN;
            const GREATEST_FINITE: Self = <$t>::MAX;
        }
        impl FloatElement for $t {
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
            fn over(self, other: Self) -> Self { self / other }
            fn count(n: usize) -> Self { <$t>::new(n as $re, 0.0) }
            fn root(self) -> Self { self.sqrt() }
            own_width!();
            #[inline(always)]
            fn total(self) -> Self { self }
            #[inline(always)]
            fn of_total(total: Self) -> Self { total }
        }
    )* };
}
complexes!(C64: f32, C128: f64);
