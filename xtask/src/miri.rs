//! `cargo xtask miri`: tests under Miri, the interpreter that finds undefined behaviour.
//!
//! Miri takes hundreds of times as long as compiled code. Without `--all` it runs the tests of the code that
//! is next to `unsafe`. It cannot run machine code, `mmap` or the system calls of the file layer, so the JIT,
//! the matrix products and whatever opens files are AddressSanitizer's (`cargo xtask sanitize address`).

use crate::nightly;
use clap::Args;
use millstream::Result;

/// What to run.
#[derive(Args)]
pub struct Options {
    /// Everything that Miri can run, which takes about half an hour.
    #[arg(long)]
    all: bool,
    /// Succeed, with a word, if the nightly compiler or Miri is missing.
    #[arg(long)]
    skip_if_missing: bool,
    /// Arguments for `cargo miri test` in place of the usual tests, such as `-p millstream-tensor --lib
    /// list::`.
    #[arg(last = true)]
    tests: Vec<String>,
}

/// How many inputs a property is tried with.
const PROPTEST_CASES: &str = "4";

/// The tests without `--all`: those of memory that is shared, lent, used again or read as another type.
const SHORT: &[&[&str]] = &[&[
    "-p",
    "millstream-tensor",
    "--lib",
    "--",
    "buffer::",
    "convert::",
    "list::",
    "opaque::",
    "packed::",
    "spread::",
    "word::",
]];

/// The tests with `--all`.
const ALL: &[&[&str]] = &[
    &["-p", "millstream-tensor", "--lib"],
    &["-p", "millstream-state", "--lib", "--test", "queues", "--test", "cancellation", "--test", "readers"],
];

/// Runs the tests.
pub fn run(options: &Options) -> Result<()> {
    if nightly::missing("miri", &["miri", "rust-src"], options.skip_if_missing)? {
        return Ok(());
    }
    let given: Vec<&str> = options.tests.iter().map(String::as_str).collect();
    let runs: &[&[&str]] = match (given.is_empty(), options.all) {
        (false, _) => &[&given],
        (true, true) => ALL,
        (true, false) => SHORT,
    };
    for tests in runs {
        let mut cargo = nightly::cargo(&crate::target()?);
        cargo.env("PROPTEST_CASES", PROPTEST_CASES).env("CARGO_INCREMENTAL", "0");
        // Without isolation, tests see the environment, the clock and files that are just read.
        // The locks of parking_lot keep pointers as integers.
        cargo.env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-permissive-provenance");
        match cargo.args(["miri", "test"]).args(*tests).status() {
            Ok(status) if status.success() => {}
            Ok(_) => return Err(crate::failed(format!("Miri failed: cargo miri test {}", tests.join(" ")))),
            Err(error) => return Err(crate::failed(format!("rustup: {error}"))),
        }
    }
    Ok(())
}
