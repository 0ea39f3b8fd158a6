//! The Rust types of elements, and [`Scalar`]: one element with its dtype, stored inline.

use crate::DType;
use crate::buffer::{in_words, in_words_mut, to_words};
use half::{bf16, f16};
use num_complex::Complex;

/// The element type of complex64: two f32.
pub type C64 = Complex<f32>;
/// The element type of complex128: two f64.
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
    /// A quantised signed 8-bit number.
    QInt8(i8),
    /// A quantised unsigned 8-bit number.
    QUInt8(u8),
    /// A quantised signed 16-bit number.
    QInt16(i16),
    /// A quantised unsigned 16-bit number.
    QUInt16(u16),
    /// A quantised signed 32-bit number.
    QInt32(i32)
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is an element of plain data.
///
/// The trait is sealed. Every implementor is `Copy`, has no padding, fits in 16 bytes aligned to 8, and
/// admits all-zero bytes as a value: `buffer.rs` relies on it.
pub trait Element:
    sealed::Sealed + Copy + Send + Sync + PartialEq + std::fmt::Debug + Default + 'static
{
    /// The dtype.
    const DTYPE: DType;
    /// Wraps the element in a [`Scalar`].
    fn scalar(self) -> Scalar;
    /// The element in `scalar`, if it is of this type.
    fn of(scalar: &Scalar) -> Option<&Self>;
    /// The element in `scalar`, mutably, if it is of this type.
    fn of_mut(scalar: &mut Scalar) -> Option<&mut Self>;
}

macro_rules! elements {
    ($($variant:ident: $t:ty),* $(,)?) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(u64)]
        enum Tag { $($variant),* }

        /// One element of plain data with its dtype. A tensor of rank 0 holds one inline, without allocation.
        ///
        /// The struct is three whole words. With narrower fields, a copy would read in wide pieces what was
        /// written in narrow ones, and the processor would wait for such a store to finish: a fifth to a
        /// quarter of the time of a loop over scalars.
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

        /// The Rust type of each plain dtype, named after the dtype.
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

/// The dtypes of a set, as a slice: `dtypes!(floats)`. The sets are those of `with_element!`.
#[macro_export]
macro_rules! dtypes {
    ($set:ident) => { $crate::dtypes!(@ $set list) };
    (@ plain $($to:tt)*) => {
        $crate::dtypes!(# [F16 BF16 F32 F64 I8 I16 I32 I64 U8 U16 U32 U64 Bool C64 C128 QI8 QU8 QI16 QU16 QI32] $($to)*)
    };
    (@ ints $($to:tt)*) => { $crate::dtypes!(# [I32 I64 I8 I16 U8 U16 U32 U64] $($to)*) };
    (@ floats $($to:tt)*) => { $crate::dtypes!(# [F32 F64 F16 BF16] $($to)*) };
    (@ singles $($to:tt)*) => { $crate::dtypes!(# [F32 F64] $($to)*) };
    (@ complexes $($to:tt)*) => { $crate::dtypes!(# [C64 C128] $($to)*) };
    (@ wide_fields $($to:tt)*) => { $crate::dtypes!(# [F32 F64 C64 C128] $($to)*) };
    (@ fields $($to:tt)*) => { $crate::dtypes!(# [F32 F64 C64 C128 F16 BF16] $($to)*) };
    (@ reals $($to:tt)*) => { $crate::dtypes!(# [F32 F64 I32 I64 F16 BF16 I8 I16 U8 U16 U32 U64] $($to)*) };
    (@ numbers $($to:tt)*) => {
        $crate::dtypes!(# [F32 F64 I32 I64 F16 BF16 I8 I16 U8 U16 U32 U64 C64 C128] $($to)*)
    };
    (@ comparables $($to:tt)*) => {
        $crate::dtypes!(# [F32 F64 I32 I64 F16 BF16 I8 I16 U8 U16 U32 U64 C64 C128 Bool] $($to)*)
    };
    (@ bools $($to:tt)*) => { $crate::dtypes!(# [Bool] $($to)*) };
    (# [$($d:ident)*] list) => { &[$($crate::DType::$d),*] };
    (# [$($d:ident)*] pick $dtype:expr, $T:ident => $body:expr, else => $other:expr) => {
        match $dtype {
            $($crate::DType::$d => {
                type $T = $crate::element::types::$d;
                $body
            })*
            _ => $other,
        }
    };
}

/// Evaluates an expression with a type alias bound to the Rust type of a dtype, or another expression if the
/// dtype is not in the set.
///
/// ```
/// # use millstream_tensor::{DType, with_element};
/// # fn width(dtype: DType) -> Option<usize> {
/// // Every plain dtype.
/// with_element!(dtype, T => Some(size_of::<T>()), else => None)
/// # }
/// # fn others(dtype: DType) -> Option<usize> {
/// // The dtypes of a set: `ints`, `floats`, `singles`, `complexes`, `fields`, `wide_fields`, `reals`, `numbers`, `comparables`, `bools`.
/// with_element!(dtype, T in floats => Some(size_of::<T>()), else => None)
/// # .or(
/// // The dtypes listed.
/// with_element!(dtype, T in [I32 I64] => Some(size_of::<T>()), else => None)
/// # )}
/// # assert_eq!([width(DType::Bool), others(DType::I64), others(DType::Bool)], [Some(1), Some(8), None]);
/// ```
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr, else => $other:expr $(,)?) => {
        $crate::dtypes!(@ plain pick $dtype, $T => $body, else => $other)
    };
    ($dtype:expr, $T:ident in [$($d:ident)*] => $body:expr, else => $other:expr $(,)?) => {
        $crate::dtypes!(# [$($d)*] pick $dtype, $T => $body, else => $other)
    };
    ($dtype:expr, $T:ident in $set:ident => $body:expr, else => $other:expr $(,)?) => {
        $crate::dtypes!(@ $set pick $dtype, $T => $body, else => $other)
    };
}
