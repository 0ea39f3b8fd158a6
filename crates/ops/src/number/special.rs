//! Functions that the standard library lacks, and those in the hot loops of recurrent nets. The latter are
//! written in plain arithmetic so that loops over them are vectorized; an element gives the same bits alone
//! and in a vector.

use millstream_tensor::Complex;
use num_traits::Float;

/// Divides complex numbers by Smith's method, which avoids intermediate overflow.
pub(crate) fn complex_div<T: Float>(x: Complex<T>, y: Complex<T>) -> Complex<T> {
    if y.im.abs() <= y.re.abs() {
        let r = y.im / y.re;
        let d = y.re + y.im * r;
        Complex::new((x.re + x.im * r) / d, (x.im - x.re * r) / d)
    } else {
        let r = y.re / y.im;
        let d = y.re * r + y.im;
        Complex::new((x.re * r + x.im) / d, (x.im * r - x.re) / d)
    }
}

/// Functions of f32.
pub(crate) mod single {
    /// Returns e^x within 1 ulp. The result overflows to infinity and underflows to zero as it should; NaN
    /// stays NaN.
    #[inline(always)]
    pub(crate) fn exp(x: f32) -> f32 {
        // Beyond these bounds the result is infinite or zero. NaN fails both comparisons.
        let x = if x > 89.0 { 89.0 } else { x };
        let x = if x < -104.0 { -104.0 } else { x };
        // x = n ln 2 + r. Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
        let shifted = x * std::f32::consts::LOG2_E + ROUND;
        let n = shifted - ROUND;
        // ln 2 is split in two: the first part has so few bits that its product with n is exact.
        let r = (x - n * 0.693_359_4) - n * -2.121_944_4e-4;
        let p = 1.987_569_1e-4;
        let p = p * r + 1.398_199_9e-3;
        let p = p * r + 8.333_452e-3;
        let p = p * r + 4.166_579_6e-2;
        let p = p * r + 1.666_666_5e-1;
        let p = p * r + 0.5;
        let y = (p * (r * r) + r) + 1.0;
        // 2^n is computed as two factors, because 2^-149 and 2^128 are not normal numbers.
        let n = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
        let half = n >> 1;
        y * power_of_two(half) * power_of_two(n.wrapping_sub(half))
    }

    /// 1.5 * 2^23.
    const ROUND: f32 = 12_582_912.0;

    #[inline(always)]
    fn power_of_two(n: i32) -> f32 {
        f32::from_bits((n.wrapping_add(127) as u32) << 23)
    }

    /// Returns the hyperbolic tangent within 2 ulp (1.71 at most, of every seventh float).
    ///
    /// With `e` = e^2x - 1 it is `e / (e + 2)`. Both parts of that quotient are rounded, so the result is
    /// computed as a number near it and a small correction: from x near zero, from 1 elsewhere. One
    /// exponential serves both, in fewer steps than a polynomial near zero beside an exponential elsewhere.
    #[inline(always)]
    pub(crate) fn tanh(x: f32) -> f32 {
        let size = x.abs();
        // Beyond this bound the result is 1. NaN fails the comparison.
        let size = if size > 9.1 { 9.1 } else { size };
        let x2 = size + size;
        // x2 = n ln 2 + r, as in `exp`. The bits of `shifted` end with n + 127.
        let shifted = x2 * std::f32::consts::LOG2_E + ROUND_BIASED;
        let n = shifted - ROUND_BIASED;
        let r = (x2 - n * 0.693_359_4) - n * -2.121_944_4e-4;
        let p = 1.388_250_6e-3;
        let p = p * r + 8.366_596e-3;
        let p = p * r + 4.166_72e-2;
        let p = p * r + 1.666_654_3e-1;
        let p = p * r + 0.499_999_97;
        let power = f32::from_bits(shifted.to_bits() << 23);
        let e = (p * (r * r) + r) * power + (power - 1.0);
        let is_near = size < 0.56;
        let base = if is_near { size } else { 1.0 };
        let rest = if is_near { (e - x2) - size * e } else { -2.0 };
        (base + rest / (e + 2.0)).copysign(x)
    }

    /// 1.5 * 2^23 + 127.
    const ROUND_BIASED: f32 = 12_583_039.0;

    /// Returns 1 / (1 + e^-x) within 2.5 ulp.
    #[inline(always)]
    pub(crate) fn sigmoid(x: f32) -> f32 {
        // The exponential of -|x| neither overflows nor loses digits of small results.
        let e = exp(-x.abs());
        (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
    }

    pub(crate) fn erf(x: f32) -> f32 {
        libm::erff(x)
    }
    pub(crate) fn erfc(x: f32) -> f32 {
        libm::erfcf(x)
    }
    pub(crate) fn lgamma(x: f32) -> f32 {
        super::double::lgamma(x.into()) as f32
    }
    pub(crate) fn digamma(x: f32) -> f32 {
        super::double::digamma(x.into()) as f32
    }
}

/// Functions of f64.
pub(crate) mod double {
    #[inline(always)]
    pub(crate) fn exp(x: f64) -> f64 {
        x.exp()
    }
    #[inline(always)]
    pub(crate) fn tanh(x: f64) -> f64 {
        x.tanh()
    }
    #[inline(always)]
    pub(crate) fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }
    pub(crate) fn erf(x: f64) -> f64 {
        libm::erf(x)
    }
    pub(crate) fn erfc(x: f64) -> f64 {
        libm::erfc(x)
    }
    pub(crate) fn lgamma(x: f64) -> f64 {
        if x == f64::NEG_INFINITY { f64::INFINITY } else { libm::lgamma(x) }
    }
    /// The digamma function. It is infinite at its poles, as in TensorFlow, though the limits from the two
    /// sides differ.
    pub(crate) fn digamma(mut x: f64) -> f64 {
        if x == f64::INFINITY {
            return x;
        }
        let mut reflected = 0.0;
        if x <= 0.0 {
            if x == x.floor() {
                return f64::INFINITY;
            }
            // psi(1 - x) - psi(x) = pi / tan(pi x)
            let part = x - x.floor();
            reflected = -std::f64::consts::PI / (std::f64::consts::PI * part).tan();
            x = 1.0 - x;
        }
        let mut sum = 0.0;
        while x < 10.0 {
            sum -= 1.0 / x;
            x += 1.0;
        }
        let w = 1.0 / (x * x);
        // The asymptotic series: B(2k) / (2k x^2k).
        let series = w
            * (1.0 / 12.0
                - w * (1.0 / 120.0
                    - w * (1.0 / 252.0
                        - w * (1.0 / 240.0 - w * (1.0 / 132.0 - w * (691.0 / 32760.0 - w / 12.0))))));
        sum + x.ln() - 0.5 / x - series + reflected
    }
}

#[cfg(test)]
mod tests {
    /// Returns the distance from the true value in units in the last place.
    fn ulps(got: f32, want: f64) -> f64 {
        let near = (want as f32).abs().max(f32::MIN_POSITIVE);
        (f64::from(got) - want).abs() / f64::from(near.next_up() - near)
    }

    /// Of all floats every 4,099th, or every `MILLSTREAM_FLOATS`-th.
    #[test]
    fn singles_are_within_their_bounds() {
        let step = std::env::var("MILLSTREAM_FLOATS").ok().and_then(|n| n.parse().ok()).unwrap_or(4099);
        for bits in (0..=u32::MAX).step_by(step) {
            let x = f32::from_bits(bits);
            // Results that are not normal are another test's.
            if x.is_nan() || x.abs() > 87.0 {
                continue;
            }
            let d = f64::from(x);
            assert!(ulps(super::single::exp(x), d.exp()) <= 1.0, "exp({x})");
            assert!(ulps(super::single::tanh(x), d.tanh()) <= 2.0, "tanh({x})");
            let sigmoid = if x < 0.0 { d.exp() / (1.0 + d.exp()) } else { 1.0 / (1.0 + (-d).exp()) };
            assert!(ulps(super::single::sigmoid(x), sigmoid) <= 2.5, "sigmoid({x})");
        }
    }

    #[test]
    fn singles_at_the_edges() {
        use super::single::{exp, sigmoid, tanh};
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        assert_eq!([inf, -inf, 88.73, -105.0, 0.0].map(exp), [inf, 0.0, inf, 0.0, 1.0]);
        assert_eq!([inf, -inf, 100.0].map(tanh), [1.0, -1.0, 1.0]);
        assert_eq!([inf, -inf, 0.0].map(sigmoid), [1.0, 0.0, 0.5]);
        assert!([exp(nan), tanh(nan), sigmoid(nan)].iter().all(|v| v.is_nan()));
        assert_eq!(tanh(-0.0).to_bits(), (-0.0f32).to_bits());
    }
}
