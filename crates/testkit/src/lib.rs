//! Test suites that need several crates: golden data from a real TensorFlow, the examples of the op library,
//! generated programs, stress.
//!
//! Start at [`tiers`] (the ways to run a graph, which must all agree), [`graphs`], [`values`], [`gradients`]
//! and [`second`] (golden data), [`examples`] (the op library's examples), [`differences`] (their gradients),
//! [`generate`] (random programs), [`smooth`] (random differentiable programs), [`mutate`] (corrupted
//! graphs). [`workers`] runs the cases of a long suite on all cores. The tests of this crate run them all;
//! nothing here is shipped.

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
pub mod workers;
