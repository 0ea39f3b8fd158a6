//! Foreign bytes in: what the fuzz targets do with them ([`targets`]), and what they start from ([`seeds`]).
//!
//! `cargo xtask fuzz` builds and runs them; CONTRIBUTING.md says more. The files in `fuzz_targets` only hand their input over.

mod files;
mod run;
pub mod seeds;
pub mod targets;

// The command line is a program, not a library: its parsers are compiled here once more.
#[path = "../../crates/cli/src/failure.rs"]
#[expect(dead_code, reason = "a target reports nothing")]
mod failure;
#[path = "../../crates/cli/src/feed.rs"]
mod feed;
#[path = "../../crates/cli/src/number.rs"]
mod number;
