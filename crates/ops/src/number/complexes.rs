//! Complex numbers in formulas, and their parts.

use super::{Field, Num, Pairs, Part};
use millstream_tensor::Complex;

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
            complexes!(@one $t: log ln, sqrt sqrt, sin sin, cos cos, tan tan, asin asin, acos acos, atan atan,
                sinh sinh, cosh cosh, asinh asinh, acosh acosh);
            #[inline]
            fn exp(self) -> Self {
                // The product of an infinite size and a zero would be no number.
                if self.im == 0.0 { Complex::new(self.re.exp(), self.im) } else { Complex::exp(self) }
            }
            #[inline]
            fn atanh(self) -> Self {
                // On the cuts, the sign of the zero says which side is meant.
                let z = Complex::atanh(self);
                if self.im == 0.0 && self.re.abs() > 1.0 {
                    Complex::new(z.re, z.im.abs().copysign(self.im))
                } else {
                    z
                }
            }
            #[inline]
            fn expm1(self) -> Self {
                // exp(a) cos(b) - 1 = expm1(a) cos(b) - 2 sin(b/2)^2 keeps the digits near zero.
                let (s, c) = self.im.sin_cos();
                let half = (self.im / 2.0).sin();
                if self.im == 0.0 { return Complex::new(self.re.exp_m1(), self.im); }
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
            fn sigmoid(self) -> Self { Num::div(Self::int(1), Self::int(1) + Field::exp(-self)) }
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
