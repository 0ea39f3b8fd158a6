//! Checks for numbers that are not finite: [`Tensor::has_nan`], [`Tensor::has_infinite`],
//! [`Tensor::not_finite`].

use crate::{DType, Tensor};
use half::{bf16, f16};
use num_complex::Complex;

/// The number and place of a tensor's elements that are not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotFinite {
    /// The number of elements that are NaN, or a complex number with a NaN in it.
    pub nan: usize,
    /// The number of other elements that are infinite.
    pub infinite: usize,
    /// The row-major index of the first such element.
    pub first: usize,
}

impl Tensor {
    /// Whether some element is NaN. False for dtypes without NaNs.
    pub fn has_nan(&self) -> bool {
        any(self, |n| n == Kind::Nan)
    }

    /// Whether some element is infinite. False for dtypes without infinities.
    pub fn has_infinite(&self) -> bool {
        any(self, |n| n == Kind::Infinite)
    }

    /// The elements that are not finite; `None` if all are.
    pub fn not_finite(&self) -> Option<NotFinite> {
        if !any(self, |n| n != Kind::Finite) {
            return None;
        }
        let (mut found, mut i, mut first) = (NotFinite::default(), 0, None);
        any(self, |kind| {
            match kind {
                Kind::Finite => {}
                Kind::Nan => found.nan += 1,
                Kind::Infinite => found.infinite += 1,
            }
            if kind != Kind::Finite {
                first.get_or_insert(i);
            }
            i += 1;
            false
        });
        Some(NotFinite { first: first.unwrap_or(0), ..found })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Finite,
    Nan,
    Infinite,
}

trait Number {
    fn kind(self) -> Kind;
}

macro_rules! floats {
    ($($t:ty),*) => { $(
        impl Number for $t {
            #[inline]
            fn kind(self) -> Kind {
                match (self.is_nan(), self.is_infinite()) {
                    (true, _) => Kind::Nan,
                    (_, true) => Kind::Infinite,
                    _ => Kind::Finite,
                }
            }
        }
    )* };
}
floats!(f32, f64, f16, bf16);

impl<T: Number> Number for Complex<T> {
    #[inline]
    fn kind(self) -> Kind {
        match (self.re.kind(), self.im.kind()) {
            (Kind::Nan, _) | (_, Kind::Nan) => Kind::Nan,
            (Kind::Infinite, _) | (_, Kind::Infinite) => Kind::Infinite,
            _ => Kind::Finite,
        }
    }
}

fn any(value: &Tensor, mut test: impl FnMut(Kind) -> bool) -> bool {
    macro_rules! with {
        ($t:ty) => {
            value.as_slice::<$t>().is_ok_and(|all| all.iter().any(|x| test(x.kind())))
        };
    }
    match value.dtype() {
        DType::F32 => with!(f32),
        DType::F64 => with!(f64),
        DType::F16 => with!(f16),
        DType::BF16 => with!(bf16),
        DType::C64 => with!(Complex<f32>),
        DType::C128 => with!(Complex<f64>),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::Tensor;

    #[track_caller]
    fn check(text: &str, want: Option<(usize, usize, usize)>) {
        let value = Tensor::parse(text).unwrap();
        let got = value.not_finite();
        assert_eq!(got.map(|n| (n.nan, n.infinite, n.first)), want, "{text}");
        assert_eq!((value.has_nan(), value.has_infinite()), {
            let (nan, infinite, _) = want.unwrap_or_default();
            (nan > 0, infinite > 0)
        });
    }

    #[test]
    fn what_is_not_finite_is_counted() {
        check("f32[2,2] [[1 2] [nan -inf]]", Some((1, 1, 2)));
        check("f64 nan", Some((1, 0, 0)));
        check("f16[3] [1 inf inf]", Some((0, 2, 1)));
        check("bf16[1] [nan]", Some((1, 0, 0)));
        check("c64[2] [1+2i nan+1i]", Some((1, 0, 1)));
        check("f32[2] [1 2]", None);
        check("f32[0] []", None);
        check("i32[2] [1 2]", None);
        check(r#""nan""#, None);
    }
}
