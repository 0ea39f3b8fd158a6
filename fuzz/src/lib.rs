//! Foreign bytes as input: what the fuzz targets do with them ([`targets`]), and the inputs to start from
//! ([`seeds`]).
//!
//! `cargo xtask fuzz` builds and runs the targets; see CONTRIBUTING.md. The files in `fuzz_targets` only pass
//! on their input.

mod files;
mod run;
pub mod seeds;
pub mod targets;

// The command line is a program, not a library, so its parsers are compiled into this crate.
#[path = "../../crates/cli/src/failure.rs"]
#[expect(dead_code, reason = "a target reports nothing")]
mod failure;
#[path = "../../crates/cli/src/feed.rs"]
mod feed;
#[path = "../../crates/cli/src/number.rs"]
mod number;
#[path = "../../crates/cli/src/plain.rs"]
mod plain;
