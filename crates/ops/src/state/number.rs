//! The arithmetic that updates are made of, for every dtype that has it.

use millstream_tensor::{C64, C128, Element, bf16, f16};

/// Sums, differences, products and quotients. Integers wrap around.
pub(crate) trait Number: Element {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `None` where integers are divided by zero.
    fn div(self, other: Self) -> Option<Self>;
}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl Number for $t {
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn div(self, other: Self) -> Option<Self> { (other != 0).then(|| self.wrapping_div(other)) }
        }
    )* };
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! fields {
    ($($t:ty),*) => { $(
        impl Number for $t {
            fn add(self, other: Self) -> Self { self + other }
            fn sub(self, other: Self) -> Self { self - other }
            fn mul(self, other: Self) -> Self { self * other }
            fn div(self, other: Self) -> Option<Self> { Some(self / other) }
        }
    )* };
}
fields!(f16, bf16, f32, f64, C64, C128);

/// Runs `$body` with `$T` bound to the Rust type of a dtype out of a list; `INVALID_ARGUMENT` for others.
macro_rules! dispatch {
    ($dtype:expr, [$($D:ident)*], $T:ident => $body:expr) => {
        match $dtype {
            $(millstream_tensor::DType::$D => {
                type $T = millstream_tensor::element::types::$D;
                $body
            })*
            other => Err(millstream_tensor::invalid!("this op does not work on {other}")),
        }
    };
}
/// [`dispatch!`] over the floats.
macro_rules! floats {
    ($dtype:expr, $T:ident => $body:expr) => { dispatch!($dtype, [F16 BF16 F32 F64], $T => $body) };
}
/// [`dispatch!`] over floats and integers.
macro_rules! reals {
    ($dtype:expr, $T:ident => $body:expr) => {
        dispatch!($dtype, [F16 BF16 F32 F64 I8 I16 I32 I64 U8 U16 U32 U64], $T => $body)
    };
}
/// [`dispatch!`] over floats, integers and complex numbers.
macro_rules! numbers {
    ($dtype:expr, $T:ident => $body:expr) => {
        dispatch!($dtype, [F16 BF16 F32 F64 I8 I16 I32 I64 U8 U16 U32 U64 C64 C128], $T => $body)
    };
}
