//! What formulas are written in: a small family of traits over the element types. A formula is generic over one of them,
//! so the same text computes on elements here and can be read by a compiler through a type of its own.
//!
//! Everything is total: integers wrap around, a division by zero gives zero (an op that must fail says so in a second
//! formula). f16 and bf16 compute in f32 and round after every operation. There is no branch, only [`Math::select`].

use millstream_tensor::{Complex, Element, bf16, f16};

/// What comparisons give.
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

/// Anything with equality.
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
    /// The quotient rounded towards zero.
    fn trunc_div(self, o: Self) -> Self;
    /// The remainder that goes with `trunc_div`: has the sign of the dividend.
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

macro_rules! parts {
    ($($t:ident),*) => { $(
        impl Pairs for Complex<$t> {
            type Part = $t;
            #[inline(always)]
            fn re(self) -> $t { self.re }
            #[inline(always)]
            fn im(self) -> $t { self.im }
            #[inline(always)]
            fn size(self) -> $t { self.re.hypot(self.im) }
            #[inline(always)]
            fn angle(self) -> $t { self.im.atan2(self.re) }
        }

        impl Part for $t {
            type Whole = Complex<$t>;
            #[inline(always)]
            fn with(self, im: $t) -> Complex<$t> { Complex::new(self, im) }
        }
    )* };
}
parts!(f32, f64);

/// An element type as the loops see it.
pub(crate) trait Lane: Element + Math<Mask = bool> {
    /// Its loops are compiled for the machine's vector width. Only where it pays: each such loop is compiled thrice.
    const WIDE: bool = false;
}

macro_rules! lanes {
    ($wide:literal: $($t:ty),*) => { $(
        impl Lane for $t { const WIDE: bool = $wide; }
    )* };
}
lanes!(true: f32, f64, i32, i64);
lanes!(false: f16, bf16, i8, i16, u8, u16, u32, u64, bool, Complex<f32>, Complex<f64>);

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

macro_rules! ints {
    ($sign:ident: $($t:ident),*) => { $(
        impl Num for $t {
            #[inline(always)]
            fn int(v: i8) -> Self { v as $t }
            #[inline(always)]
            fn add(self, o: Self) -> Self { self.wrapping_add(o) }
            #[inline(always)]
            fn sub(self, o: Self) -> Self { self.wrapping_sub(o) }
            #[inline(always)]
            fn mul(self, o: Self) -> Self { self.wrapping_mul(o) }
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn div(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_div(o) } }
            #[inline(always)]
            fn divides_nothing(self) -> bool { self == 0 }
            #[inline]
            fn pow(self, mut o: Self) -> Self {
                if ints!(@negative $sign o) { return 0; }
                let (mut base, mut out): ($t, $t) = (self, 1);
                while o != 0 {
                    if o & 1 == 1 { out = out.wrapping_mul(base); }
                    base = base.wrapping_mul(base);
                    o >>= 1;
                }
                out
            }
            #[inline(always)]
            fn is_no_exponent(self) -> bool { ints!(@negative $sign self) }
            #[inline(always)]
            fn conj(self) -> Self { self }
            #[inline(always)]
            fn sign(self) -> Self { ints!(@sign $sign self) }
            #[inline(always)]
            fn round(self) -> Self { self }
        }

        impl Real for $t {
            #[inline(always)]
            fn less(self, o: Self) -> bool { self < o }
            #[inline(always)]
            fn less_equal(self, o: Self) -> bool { self <= o }
            #[inline(always)]
            fn max(self, o: Self) -> Self { Ord::max(self, o) }
            #[inline(always)]
            fn min(self, o: Self) -> Self { Ord::min(self, o) }
            #[inline(always)]
            fn abs(self) -> Self { ints!(@abs $sign self) }
            #[inline(always)]
            fn floor_div(self, o: Self) -> Self { ints!(@floor_div $sign self, o) }
            #[inline(always)]
            fn floor_mod(self, o: Self) -> Self { self.wrapping_sub(Real::floor_div(self, o).wrapping_mul(o)) }
            #[inline(always)]
            fn trunc_div(self, o: Self) -> Self { Num::div(self, o) }
            #[inline(always)]
            fn trunc_mod(self, o: Self) -> Self { if o == 0 { 0 } else { self.wrapping_rem(o) } }
        }

        impl Int for $t {
            #[inline(always)]
            fn bit_and(self, o: Self) -> Self { self & o }
            #[inline(always)]
            fn bit_or(self, o: Self) -> Self { self | o }
            #[inline(always)]
            fn bit_xor(self, o: Self) -> Self { self ^ o }
            #[inline(always)]
            fn invert(self) -> Self { !self }
            #[inline(always)]
            fn shl(self, o: Self) -> Self { self << ints!(@shift $sign $t, o) }
            #[inline(always)]
            fn shr(self, o: Self) -> Self { self >> ints!(@shift $sign $t, o) }
            #[inline(always)]
            fn ones(self) -> u8 { self.count_ones() as u8 }
        }
    )* };
    (@negative signed $v:expr) => { $v < 0 };
    (@negative unsigned $v:expr) => { false };
    (@sign signed $v:expr) => { $v.signum() };
    (@sign unsigned $v:expr) => { Ord::min($v, 1) };
    (@abs signed $v:expr) => { $v.wrapping_abs() };
    (@abs unsigned $v:expr) => { $v };
    (@floor_div signed $x:expr, $y:expr) => {{
        let q = Num::div($x, $y);
        // Rounded towards zero where the signs differ and something is left: one too many.
        if ($x < 0) != ($y < 0) && q.wrapping_mul($y) != $x && $y != 0 { q.wrapping_sub(1) } else { q }
    }};
    (@floor_div unsigned $x:expr, $y:expr) => { Num::div($x, $y) };
    (@shift signed $t:ident, $o:expr) => { $o.clamp(0, ($t::BITS - 1) as $t) as u32 };
    (@shift unsigned $t:ident, $o:expr) => { Ord::min($o, ($t::BITS - 1) as $t) as u32 };
}
ints!(signed: i8, i16, i32, i64);
ints!(unsigned: u8, u16, u32, u64);

// f32 and f64 compute directly; the module named has the functions that the standard library lacks, or has better ones.
macro_rules! floats {
    ($($t:ident, $special:ident);*) => { $(
        impl Num for $t {
            #[inline(always)]
            fn int(v: i8) -> Self { v.into() }
            #[inline(always)]
            fn add(self, o: Self) -> Self { self + o }
            #[inline(always)]
            fn sub(self, o: Self) -> Self { self - o }
            #[inline(always)]
            fn mul(self, o: Self) -> Self { self * o }
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline(always)]
            fn div(self, o: Self) -> Self { self / o }
            #[inline(always)]
            fn divides_nothing(self) -> bool { false }
            #[inline(always)]
            fn pow(self, o: Self) -> Self { self.powf(o) }
            #[inline(always)]
            fn is_no_exponent(self) -> bool { false }
            #[inline(always)]
            fn conj(self) -> Self { self }
            #[inline(always)]
            fn sign(self) -> Self {
                if self > 0.0 {
                    1.0
                } else if self < 0.0 {
                    -1.0
                } else if self.is_nan() {
                    self
                } else {
                    0.0
                }
            }
            #[inline(always)]
            fn round(self) -> Self { self.round_ties_even() }
        }

        impl Real for $t {
            #[inline(always)]
            fn less(self, o: Self) -> bool { self < o }
            #[inline(always)]
            fn less_equal(self, o: Self) -> bool { self <= o }
            #[inline(always)]
            fn max(self, o: Self) -> Self { if o > self || o.is_nan() { o } else { self } }
            #[inline(always)]
            fn min(self, o: Self) -> Self { if o < self || o.is_nan() { o } else { self } }
            #[inline(always)]
            fn abs(self) -> Self { $t::abs(self) }
            #[inline(always)]
            fn floor_div(self, o: Self) -> Self { $t::floor(self / o) }
            #[inline(always)]
            fn floor_mod(self, o: Self) -> Self {
                let r = self % o;
                if r != 0.0 && (r < 0.0) != (o < 0.0) { r + o } else { r }
            }
            #[inline(always)]
            fn trunc_div(self, o: Self) -> Self { $t::trunc(self / o) }
            #[inline(always)]
            fn trunc_mod(self, o: Self) -> Self { self % o }
        }

        impl Field for $t {
            #[inline(always)]
            fn lit(v: f64) -> Self { v as $t }
            floats!(@std $t: expm1 exp_m1, log ln, log1p ln_1p, sqrt sqrt, sin sin, cos cos, tan tan, asin asin, acos acos,
                atan atan, sinh sinh, cosh cosh, asinh asinh, acosh acosh, atanh atanh);
            floats!(@special $special: exp, tanh, sigmoid);
            #[inline(always)]
            fn rsqrt(self) -> Self { 1.0 / $t::sqrt(self) }
        }

        impl Float for $t {
            floats!(@std $t: floor floor, ceil ceil);
            floats!(@special $special: erf, erfc, lgamma, digamma);
            floats!(@double $t: erfinv, ndtri, bessel_i0e, bessel_i1e);
            floats!(@doubles $t: igamma, igammac, igamma_grad_a, random_gamma_grad, zeta, polygamma);
            #[inline(always)]
            fn atan2(self, o: Self) -> Self { $t::atan2(self, o) }
            #[inline(always)]
            fn is_nan(self) -> bool { $t::is_nan(self) }
            #[inline(always)]
            fn is_inf(self) -> bool { $t::is_infinite(self) }
            #[inline(always)]
            fn is_finite(self) -> bool { $t::is_finite(self) }
            #[inline]
            fn next_after(self, to: Self) -> Self {
                if self.is_nan() || to.is_nan() { return self + to; }
                if self == to { return to; }
                if self < to { self.next_up() } else { self.next_down() }
            }
        }
    )* };
    (@std $t:ident: $($name:ident $std:ident),*) => { $(
        #[inline(always)]
        fn $name(self) -> Self { $t::$std(self) }
    )* };
    (@special $special:ident: $($name:ident),*) => { $(
        #[inline(always)]
        fn $name(self) -> Self { super::special::$special::$name(self) }
    )* };
    // Computed as f64, whatever the type.
    (@double $t:ident: $($name:ident),*) => { $(
        #[inline]
        fn $name(self) -> Self { super::gamma::$name(self.into()) as $t }
    )* };
    (@doubles $t:ident: $($name:ident),*) => { $(
        #[inline]
        fn $name(self, o: Self) -> Self { super::gamma::$name(self.into(), o.into()) as $t }
    )* };
}
floats!(f32, single; f64, double);

// f16 and bf16: every operation in f32, rounded after.
macro_rules! halves {
    ($($t:ident),*) => { $(
        impl Num for $t {
            #[inline(always)]
            fn int(v: i8) -> Self { $t::from_f32(v.into()) }
            halves!(@two $t: Num: add, sub, mul, div, pow);
            halves!(@one $t: Num: sign, round);
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline(always)]
            fn divides_nothing(self) -> bool { false }
            #[inline(always)]
            fn is_no_exponent(self) -> bool { false }
            #[inline(always)]
            fn conj(self) -> Self { self }
        }

        impl Real for $t {
            #[inline(always)]
            fn less(self, o: Self) -> bool { self < o }
            #[inline(always)]
            fn less_equal(self, o: Self) -> bool { self <= o }
            halves!(@two $t: Real: max, min, floor_div, floor_mod, trunc_div, trunc_mod);
            halves!(@one $t: Real: abs);
        }

        impl Field for $t {
            #[inline(always)]
            fn lit(v: f64) -> Self { $t::from_f64(v) }
            halves!(@one $t: Field: exp, expm1, log, log1p, sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh,
                atanh, rsqrt, sigmoid);
        }

        impl Float for $t {
            halves!(@one $t: Float: floor, ceil, erf, erfc, lgamma, digamma, erfinv, ndtri, bessel_i0e, bessel_i1e);
            halves!(@two $t: Float: atan2, igamma, igammac, igamma_grad_a, random_gamma_grad, zeta, polygamma);
            #[inline(always)]
            fn is_nan(self) -> bool { $t::is_nan(self) }
            #[inline(always)]
            fn is_inf(self) -> bool { $t::is_infinite(self) }
            #[inline(always)]
            fn is_finite(self) -> bool { $t::is_finite(self) }
            #[inline]
            fn next_after(self, to: Self) -> Self {
                if self.is_nan() || to.is_nan() { return $t::NAN; }
                if self == to { return to; }
                let (bits, sign) = (self.to_bits(), if to > self { 0 } else { 0x8000 });
                if bits & 0x7fff == 0 { return $t::from_bits(sign | 1); }
                // Away from zero the bits count up, towards it down.
                $t::from_bits(if bits & 0x8000 == sign { bits + 1 } else { bits - 1 })
            }
        }
    )* };
    (@one $t:ident: $tr:ident: $($name:ident),*) => { $(
        #[inline(always)]
        fn $name(self) -> Self { $t::from_f32(<f32 as $tr>::$name(self.to_f32())) }
    )* };
    (@two $t:ident: $tr:ident: $($name:ident),*) => { $(
        #[inline(always)]
        fn $name(self, o: Self) -> Self { $t::from_f32(<f32 as $tr>::$name(self.to_f32(), o.to_f32())) }
    )* };
}
halves!(f16, bf16);

macro_rules! complexes {
    ($($t:ident),*) => { $(
        impl Num for Complex<$t> {
            #[inline(always)]
            fn int(v: i8) -> Self { Complex::new(v.into(), 0.0) }
            #[inline(always)]
            fn add(self, o: Self) -> Self { self + o }
            #[inline(always)]
            fn sub(self, o: Self) -> Self { self - o }
            #[inline(always)]
            fn mul(self, o: Self) -> Self { self * o }
            #[inline(always)]
            fn neg(self) -> Self { -self }
            #[inline]
            fn div(self, o: Self) -> Self { super::special::complex_div(self, o) }
            #[inline(always)]
            fn divides_nothing(self) -> bool { false }
            #[inline]
            fn pow(self, o: Self) -> Self {
                if self.re != 0.0 || self.im != 0.0 {
                    return self.powc(o);
                }
                // The logarithm of zero is no number, but a positive power of zero is zero.
                if o.re > 0.0 && o.im == 0.0 {
                    Self::int(0)
                } else {
                    Complex::new($t::NAN, $t::NAN)
                }
            }
            #[inline(always)]
            fn is_no_exponent(self) -> bool { false }
            #[inline(always)]
            fn conj(self) -> Self { Complex::conj(&self) }
            #[inline]
            fn sign(self) -> Self {
                let size = self.norm();
                if size == 0.0 { Self::int(0) } else { Complex::new(self.re / size, self.im / size) }
            }
            #[inline(always)]
            fn round(self) -> Self { Complex::new(self.re.round_ties_even(), self.im.round_ties_even()) }
        }

        impl Field for Complex<$t> {
            #[inline(always)]
            fn lit(v: f64) -> Self { Complex::new(v as $t, 0.0) }
            complexes!(@one $t: exp exp, log ln, sqrt sqrt, sin sin, cos cos, tan tan, asin asin, acos acos, atan atan,
                sinh sinh, cosh cosh, asinh asinh, acosh acosh, atanh atanh);
            #[inline]
            fn expm1(self) -> Self {
                // exp(a) cos(b) - 1 = expm1(a) cos(b) - 2 sin(b/2)^2 keeps the digits near zero.
                let (s, c) = self.im.sin_cos();
                let half = (self.im / 2.0).sin();
                Complex::new(self.re.exp_m1() * c - 2.0 * half * half, self.re.exp() * s)
            }
            #[inline]
            fn log1p(self) -> Self {
                // |1 + z|^2 = 1 + (2a + a^2 + b^2) keeps the digits near zero.
                let (a, b) = (self.re, self.im);
                Complex::new((a * (2.0 + a) + b * b).ln_1p() / 2.0, b.atan2(1.0 + a))
            }
            #[inline]
            fn tanh(self) -> Self {
                // Beyond this tanh is 1 to the last digit, and the quotient would be infinite by infinite.
                if self.re.abs() > 44.0 { return Complex::new($t::signum(self.re), 0.0); }
                Complex::tanh(self)
            }
            #[inline]
            fn sigmoid(self) -> Self { Self::int(1) / (Self::int(1) + (-self).exp()) }
            #[inline]
            fn rsqrt(self) -> Self { Num::div(Self::int(1), Complex::sqrt(self)) }
        }
    )* };
    (@one $t:ident: $($name:ident $own:ident),*) => { $(
        #[inline]
        fn $name(self) -> Self { Complex::$own(self) }
    )* };
}
complexes!(f32, f64);
