//! Arithmetic, comparison, logic: elementwise ops.

#[macro_use]
pub(crate) mod elementwise;
pub(crate) mod numbers;
mod special;

ops! { add_v2, is_nan, less, neg }
