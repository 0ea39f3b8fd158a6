//! Floats in formulas.

use super::{Field, Float, Num, Real};
use millstream_tensor::{bf16, f16};

// f32 and f64 compute directly; the module named has the functions that the standard library lacks, or has
// better ones.
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
                } else {
                    0.0 // NaN has no sign: TensorFlow's kernel subtracts two comparisons.
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
            #[inline(always)]
            fn max(self, o: Self) -> Self { if o > self || o.is_nan() { o } else { self } }
            #[inline(always)]
            fn min(self, o: Self) -> Self { if o < self || o.is_nan() { o } else { self } }
            halves!(@two $t: Real: floor_div, floor_mod, trunc_mod);
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
