//! The Rust types of elements, and [`Scalar`]: one element with its dtype, held in place.

use crate::DType;
use crate::buffer::{in_words, in_words_mut, to_words};
use half::{bf16, f16};
use num_complex::Complex;

/// complex64: two f32.
pub type C64 = Complex<f32>;
/// complex128: two f64.
pub type C128 = Complex<f64>;

macro_rules! quantized {
    ($($(#[$doc:meta])* $name:ident($inner:ty)),*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(pub $inner);
    )* };
}
quantized! {
    /// A quantised 8-bit signed number.
    QInt8(i8),
    /// A quantised 8-bit unsigned number.
    QUInt8(u8),
    /// A quantised 16-bit signed number.
    QInt16(i16),
    /// A quantised 16-bit unsigned number.
    QUInt16(u16),
    /// A quantised 32-bit signed number.
    QInt32(i32)
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type whose values are elements of a tensor of plain data.
///
/// Sealed. Every implementor is `Copy`, has no padding, fits in 16 bytes aligned to 8, and all-zero bytes are one of
/// its values: `buffer.rs` relies on it.
pub trait Element:
    sealed::Sealed + Copy + Send + Sync + PartialEq + std::fmt::Debug + Default + 'static
{
    /// The dtype.
    const DTYPE: DType;
    /// Holds the element in place.
    fn scalar(self) -> Scalar;
    /// The element held, if it is of this type.
    fn of(scalar: &Scalar) -> Option<&Self>;
    /// The element held, to change, if it is of this type.
    fn of_mut(scalar: &mut Scalar) -> Option<&mut Self>;
}

macro_rules! elements {
    ($($variant:ident: $t:ty),* $(,)?) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(u64)]
        enum Tag { $($variant),* }

        /// One element of plain data with its dtype: how tensors of rank 0 are held, without allocation.
        ///
        /// Three whole words. Were they narrower, copying would read in wide pieces what had been written in narrow ones, and a
        /// processor that finds such a store still on its way waits for it: a fifth to a quarter of the time of a loop over scalars.
        #[derive(Clone, Copy)]
        pub struct Scalar {
            tag: Tag,
            /// The element's bytes, then zeros.
            words: [u64; 2],
        }

        impl Scalar {
            /// The dtype.
            #[inline]
            pub fn dtype(&self) -> DType {
                match self.tag { $(Tag::$variant => DType::$variant),* }
            }

            /// Zero (or false) of a plain dtype; `None` for strings, resources and variants.
            pub fn zero(dtype: DType) -> Option<Scalar> {
                match dtype {
                    $(DType::$variant => Some(<$t>::default().scalar()),)*
                    _ => None,
                }
            }
        }

        impl PartialEq for Scalar {
            fn eq(&self, other: &Scalar) -> bool {
                match self.tag {
                    $(Tag::$variant => <$t>::of(self) == <$t>::of(other)),*
                }
            }
        }

        impl std::fmt::Debug for Scalar {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.tag {
                    $(Tag::$variant => f.debug_tuple(stringify!($variant)).field(in_words::<$t>(&self.words)).finish()),*
                }
            }
        }

        $(
            impl sealed::Sealed for $t {}
            impl Element for $t {
                const DTYPE: DType = DType::$variant;
                #[inline]
                fn scalar(self) -> Scalar { Scalar { tag: Tag::$variant, words: to_words(self) } }
                #[inline]
                fn of(scalar: &Scalar) -> Option<&Self> {
                    (scalar.tag == Tag::$variant).then(|| in_words(&scalar.words))
                }
                #[inline]
                fn of_mut(scalar: &mut Scalar) -> Option<&mut Self> {
                    (scalar.tag == Tag::$variant).then(|| in_words_mut(&mut scalar.words))
                }
            }
        )*

        /// The Rust type of each plain dtype, under the dtype's name.
        #[expect(missing_docs, reason = "one alias per dtype, named as it")]
        pub mod types {
            use super::*;
            $(pub type $variant = $t;)*
        }
    };
}

elements! {
    F16: f16, BF16: bf16, F32: f32, F64: f64,
    I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64,
    Bool: bool, C64: Complex<f32>, C128: Complex<f64>,
    QI8: QInt8, QU8: QUInt8, QI16: QInt16, QU16: QUInt16, QI32: QInt32,
}

/// Runs `$body` with the type alias `$T` bound to the Rust type of a plain dtype, or `$other` for strings, resources and
/// variants: `with_element!(dtype, T => f::<T>(), else => return Err(..))`.
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        match $dtype {
            $crate::DType::F16 => {
                type $T = $crate::element::types::F16;
                $body
            }
            $crate::DType::BF16 => {
                type $T = $crate::element::types::BF16;
                $body
            }
            $crate::DType::F32 => {
                type $T = $crate::element::types::F32;
                $body
            }
            $crate::DType::F64 => {
                type $T = $crate::element::types::F64;
                $body
            }
            $crate::DType::I8 => {
                type $T = $crate::element::types::I8;
                $body
            }
            $crate::DType::I16 => {
                type $T = $crate::element::types::I16;
                $body
            }
            $crate::DType::I32 => {
                type $T = $crate::element::types::I32;
                $body
            }
            $crate::DType::I64 => {
                type $T = $crate::element::types::I64;
                $body
            }
            $crate::DType::U8 => {
                type $T = $crate::element::types::U8;
                $body
            }
            $crate::DType::U16 => {
                type $T = $crate::element::types::U16;
                $body
            }
            $crate::DType::U32 => {
                type $T = $crate::element::types::U32;
                $body
            }
            $crate::DType::U64 => {
                type $T = $crate::element::types::U64;
                $body
            }
            $crate::DType::Bool => {
                type $T = $crate::element::types::Bool;
                $body
            }
            $crate::DType::C64 => {
                type $T = $crate::element::types::C64;
                $body
            }
            $crate::DType::C128 => {
                type $T = $crate::element::types::C128;
                $body
            }
            $crate::DType::QI8 => {
                type $T = $crate::element::types::QI8;
                $body
            }
            $crate::DType::QU8 => {
                type $T = $crate::element::types::QU8;
                $body
            }
            $crate::DType::QI16 => {
                type $T = $crate::element::types::QI16;
                $body
            }
            $crate::DType::QU16 => {
                type $T = $crate::element::types::QU16;
                $body
            }
            $crate::DType::QI32 => {
                type $T = $crate::element::types::QI32;
                $body
            }
            _ => $other,
        }
    };
}
