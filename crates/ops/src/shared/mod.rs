//! Helpers of several op families. A helper of one family is in the folder of that family.

#[macro_use]
pub(crate) mod elementwise;

pub(crate) mod axes;
pub(crate) mod casting;
#[cfg(feature = "input")]
pub(crate) mod compression;
pub(crate) mod dims;
pub(crate) mod files;
pub(crate) mod fold;
pub(crate) mod folds;
pub(crate) mod gather_gradient;
pub(crate) mod gradient;
pub(crate) mod handles;
pub(crate) mod keys;
#[cfg(feature = "input")]
pub(crate) mod lines;
pub(crate) mod lists;
#[cfg(any(feature = "input", feature = "summary"))]
pub(crate) mod messages;
pub(crate) mod optional;
pub(crate) mod philox;
pub(crate) mod pieces;
pub(crate) mod places;
#[cfg(any(feature = "input", feature = "summary"))]
pub(crate) mod png;
pub(crate) mod sparse_batch;
pub(crate) mod strings;
pub(crate) mod subscript;
pub(crate) mod sum;
pub(crate) mod text_numbers;
