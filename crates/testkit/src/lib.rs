//! Suites that meet in one place: golden data by a real TensorFlow, the op library's examples, generated programs, stress.
//!
//! Start at [`tiers`] (what runs a graph, and all of which must agree), [`graphs`], [`values`], [`gradients`] and [`second`] (golden data),
//! [`examples`] (the op library's own), [`differences`] (their gradients), [`generate`] (random programs), [`smooth`] (random programs to
//! differentiate), [`mutate`] (graphs made wrong). The tests of this crate run them all; nothing here is shipped.

pub mod compare;
pub mod differences;
pub mod examples;
pub mod generate;
pub mod gradients;
pub mod graphs;
pub mod json;
pub mod mutate;
pub mod report;
pub mod second;
pub mod smooth;
pub mod tiers;
pub mod values;
