//! Values: dtypes, full and partial shapes, aligned shared buffers, tensors, and the one error type.
//!
//! Start at [`Tensor`]. The crate knows no graphs, threads or files.

mod assemble;
pub mod budget;
mod buffer;
mod convert;
mod display;
mod dtype;
pub mod element;
mod error;
mod finite;
mod list;
mod movement;
#[cfg(feature = "arrays")]
pub mod npy;
mod opaque;
pub mod pace;
mod packed;
mod parse;
mod shape;
pub mod sorting;
mod spread;
mod tensor;
mod text;
mod walk;
mod word;

pub use assemble::Assembler;
pub use buffer::{ALIGN, Buffer, Loan, prefetch};
pub use convert::{Datum, FromTensor, IntoTensor, OwnedDatum};
pub use dtype::DType;
pub use element::{C64, C128, Element, QInt8, QInt16, QInt32, QUInt8, QUInt16, Scalar};
#[doc(hidden)]
pub use error::message;
pub use error::{Code, Error, Result};
pub use finite::NotFinite;
pub use half::{bf16, f16};
pub use list::{Items, TensorList};
pub use num_complex::Complex;
pub use opaque::{Handle, Opaque, Str, Variant};
pub use shape::{Dim, MAX_RANK, PartialShape, Shape, unequal};
pub use spread::Spread;
pub use tensor::Tensor;
pub use word::Word;

/// What tests divide their sizes by. Miri takes a thousand times as long as compiled code.
#[cfg(test)]
const MIRI: usize = if cfg!(miri) { 1000 } else { 1 };
