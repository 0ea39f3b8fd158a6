//! Functions that the standard library lacks, and the ones of the hot loops of recurrent nets in plain arithmetic, so
//! that a loop over them becomes vector code: an element gives the same bits whether it is computed alone or in a vector.

use millstream_tensor::Complex;
use num_traits::Float;

/// The quotient by Smith's way: no overflow in between.
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

/// Of f32.
pub(crate) mod single {
    #[inline(always)]
    pub(crate) fn exp(x: f32) -> f32 {
        x.exp()
    }
    #[inline(always)]
    pub(crate) fn tanh(x: f32) -> f32 {
        x.tanh()
    }
    #[inline(always)]
    pub(crate) fn sigmoid(x: f32) -> f32 {
        1.0 / (1.0 + (-x).exp())
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

/// Of f64.
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
    /// The logarithmic derivative of the gamma function. At its poles NaN, as the sides disagree.
    pub(crate) fn digamma(mut x: f64) -> f64 {
        if x == f64::INFINITY {
            return x;
        }
        let mut reflected = 0.0;
        if x <= 0.0 {
            if x == x.floor() {
                return f64::NAN;
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
