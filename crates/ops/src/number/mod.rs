//! The numeric tower: what formulas and kernels compute with.
//!
//! ```text
//! formulas                                          kernels: the same, of elements of tensors
//! Math    equality, select                          Lane         Element
//! └ Num      + - * /, powers, signs                 └ Number        wider sums, counts
//!   ├ Real      order, rounding quotients             └ RealElement     bounds
//!   │ └ Int        bits, shifts                         └ FloatElement    its working precision
//!   ├ Field     exp, log, sin, .. of floats and complex numbers
//!   │ ├ Pairs      complex numbers
//!   └─┴ Float   special functions, of floats
//!       └ Part     parts of complex numbers
//! ```
//!
//! A formula is generic over one of the traits on the left. They ask for no
//! [`Element`](millstream_tensor::Element), so the same text computes on elements here and can be read by a
//! compiler through a recording type of its own. Kernels (reductions, segments, updates of variables) use the
//! traits on the right (`element.rs`), which extend them; arithmetic has one implementation.
//!
//! Everything is total: integers wrap around, and a division by zero gives zero (an op that must fail says so
//! in a second formula). f16 and bf16 compute in f32 and round after every operation. There is no branch,
//! only [`Math::select`].

mod complexes;
mod element;
mod floats;
pub(crate) mod gamma;
mod integers;
pub(crate) mod record;
mod special;
#[cfg(test)]
mod tests;
mod tiles;
mod words;

pub(crate) use element::{FloatElement, Lane, Number, RealElement};

use millstream_tensor::{Complex, bf16, f16};

/// The result of a comparison.
pub(crate) trait Mask: Copy + 'static {
    fn and(self, o: Self) -> Self;
    fn or(self, o: Self) -> Self;
    fn not(self) -> Self;
    fn never() -> Self;
}

impl Mask for bool {
    #[inline(always)]
    fn and(self, o: Self) -> Self {
        self & o
    }
    #[inline(always)]
    fn or(self, o: Self) -> Self {
        self | o
    }
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
    #[inline(always)]
    fn never() -> Self {
        false
    }
}

/// A type with equality.
pub(crate) trait Math: Copy + 'static {
    type Mask: Mask;
    fn equal(self, o: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`; both are computed.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// Integers, floats, complex numbers.
pub(crate) trait Num: Math {
    fn int(v: i8) -> Self;
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn neg(self) -> Self;
    /// Of integers towards zero.
    fn div(self, o: Self) -> Self;
    /// An integer that nothing can be divided by: zero.
    fn divides_nothing(self) -> Self::Mask;
    fn pow(self, o: Self) -> Self;
    /// A negative integer: no exponent for an integer base.
    fn is_no_exponent(self) -> Self::Mask;
    fn conj(self) -> Self;
    /// x/|x| of complex numbers, -1, 0 or 1 of reals.
    fn sign(self) -> Self;
    /// To the nearest integer, ties to even; complex numbers by parts.
    fn round(self) -> Self;
}

/// Integers and floats.
pub(crate) trait Real: Num {
    fn less(self, o: Self) -> Self::Mask;
    fn less_equal(self, o: Self) -> Self::Mask;
    /// The greater; a NaN if either is one.
    fn max(self, o: Self) -> Self;
    /// The smaller; a NaN if either is one.
    fn min(self, o: Self) -> Self;
    fn abs(self) -> Self;
    /// The quotient rounded down.
    fn floor_div(self, o: Self) -> Self;
    /// The remainder that goes with `floor_div`: has the sign of the divisor.
    fn floor_mod(self, o: Self) -> Self;
    /// The remainder of the quotient that is rounded towards zero: has the sign of the dividend.
    fn trunc_mod(self, o: Self) -> Self;
}

/// Integers.
pub(crate) trait Int: Real {
    fn bit_and(self, o: Self) -> Self;
    fn bit_or(self, o: Self) -> Self;
    fn bit_xor(self, o: Self) -> Self;
    fn invert(self) -> Self;
    /// The shift is kept within 0..bits.
    fn shl(self, o: Self) -> Self;
    fn shr(self, o: Self) -> Self;
    fn ones(self) -> u8;
}

macro_rules! methods {
    ($($name:ident),* $(,)?) => { $( fn $name(self) -> Self; )* };
}

/// Floats and complex numbers.
pub(crate) trait Field: Num {
    fn lit(v: f64) -> Self;
    methods!(
        exp, expm1, log, log1p, sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh,
        sigmoid
    );
    fn rsqrt(self) -> Self;
}

/// Floats.
pub(crate) trait Float: Real + Field {
    methods!(floor, ceil, erf, erfc, lgamma, digamma, erfinv, ndtri, bessel_i0e, bessel_i1e);
    fn igamma(self, x: Self) -> Self;
    fn igammac(self, x: Self) -> Self;
    fn igamma_grad_a(self, x: Self) -> Self;
    fn random_gamma_grad(self, x: Self) -> Self;
    fn zeta(self, q: Self) -> Self;
    fn polygamma(self, x: Self) -> Self;
    fn atan2(self, o: Self) -> Self;
    fn is_nan(self) -> Self::Mask;
    fn is_inf(self) -> Self::Mask;
    fn is_finite(self) -> Self::Mask;
    fn next_after(self, to: Self) -> Self;
}

/// Complex numbers, as pairs of floats.
pub(crate) trait Pairs: Field {
    type Part;
    fn re(self) -> Self::Part;
    fn im(self) -> Self::Part;
    /// The distance from zero, without overflow in between.
    fn size(self) -> Self::Part;
    /// The angle in -pi..=pi.
    fn angle(self) -> Self::Part;
}

/// Floats that are parts of complex numbers.
pub(crate) trait Part: Float {
    type Whole;
    fn with(self, im: Self) -> Self::Whole;
}

macro_rules! math {
    ($($t:ty),*) => { $(
        impl Math for $t {
            type Mask = bool;
            #[inline(always)]
            fn equal(self, o: Self) -> bool { self == o }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self { if mask { yes } else { no } }
        }
    )* };
}
math!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>);

/// The error for a dtype that a kernel has no code for.
pub(crate) fn no_kernel(op: &str, dtype: millstream_tensor::DType) -> millstream_tensor::Error {
    millstream_tensor::invalid!("{op} does not compute with {dtype}")
        .with_help("convert the input with `cast`")
}
