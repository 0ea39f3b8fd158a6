//! `cargo xtask sanitize`: tests under ThreadSanitizer or AddressSanitizer, which need a nightly compiler.
//!
//! ThreadSanitizer must see every access, those of the standard library included, so that is built too
//! (`-Zbuild-std`). Each sanitizer has a folder of its own in the target folder, since nothing that was built
//! for one fits the other. The fuzz targets run under AddressSanitizer by `cargo xtask fuzz --sanitize`.

use crate::nightly;
use clap::{Args, ValueEnum};
use millstream::Result;
use std::path::PathBuf;
use std::process::Command;

/// A sanitizer.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Sanitizer {
    /// Data races.
    Thread,
    /// Memory that is used past its bounds or its life, and leaks.
    Address,
}

/// What to run.
#[derive(Args)]
pub struct Options {
    /// The sanitizer.
    sanitizer: Sanitizer,
    /// Only what takes a minute or two once it is built: the crates whose tests need no ops.
    #[arg(long)]
    short: bool,
    /// Succeed, with a word, if the nightly compiler or a component of it is missing.
    #[arg(long)]
    skip_if_missing: bool,
    /// Arguments for `cargo test` in place of the usual tests, such as `-p millstream-state --test queues`.
    /// The usual ones are those of tensor, state, checkpoint and runtime, whose sessions drive the executor.
    #[arg(last = true)]
    tests: Vec<String>,
}

/// The tests without ops, and those with them. Not among them are the models of `tests/model.rs`, which use
/// one thread, and `alone` of runtime, which counts the threads of its process: ThreadSanitizer has one of
/// its own.
const SHORT: &str = "-p millstream-tensor -p millstream-state -p millstream-checkpoint --lib \
     --test cancellation --test queues --test readers --test golden --test hostile";
const ALL: &str = "-p millstream-tensor -p millstream-state -p millstream-checkpoint \
     -p millstream-runtime --lib \
     --test cancellation --test queues --test readers --test golden --test hostile \
     --test all --test stalls --test waiting";

impl Sanitizer {
    fn name(self) -> &'static str {
        match self {
            Sanitizer::Thread => "thread",
            Sanitizer::Address => "address",
        }
    }

    /// The components of the nightly compiler that it needs besides the compiler.
    pub fn components(self) -> &'static [&'static str] {
        match self {
            Sanitizer::Thread => &["rust-src"],
            Sanitizer::Address => &["rustc"],
        }
    }

    /// Nightly's cargo with the sanitizer's flags and target folder. Append a subcommand and its arguments,
    /// then [`Sanitizer::target_args`].
    pub fn cargo(self) -> Result<Command> {
        let mut cargo = nightly::cargo(&self.folder()?);
        cargo.env("RUSTFLAGS", format!("-Zsanitizer={}", self.name()));
        cargo.env("CARGO_INCREMENTAL", "0");
        cargo.env(
            match self {
                Sanitizer::Thread => "TSAN_OPTIONS",
                Sanitizer::Address => "ASAN_OPTIONS",
            },
            self.run_options(),
        );
        Ok(cargo)
    }

    /// The target folder of what is built for it.
    pub fn folder(self) -> Result<PathBuf> {
        Ok(crate::target()?.join(format!("sanitize-{}", self.name())))
    }

    /// The options of the sanitizer's run time.
    pub fn run_options(self) -> String {
        match self {
            // The first race ends the test: later ones may be its consequences.
            Sanitizer::Thread => String::from("halt_on_error=1:second_deadlock_stack=1"),
            // An allocation beyond 8 GiB fails, as it does on a machine that has not so much: tests ask for
            // more than there is and expect an error.
            Sanitizer::Address => {
                String::from("allocator_may_return_null=1:max_allocation_size_mb=8192:detect_leaks=1")
            }
        }
    }

    /// What cargo is told besides: with a target, flags do not apply to build scripts and macros.
    pub fn target_args(self) -> Result<Vec<String>> {
        let mut args = vec![String::from("--target"), nightly::host()?];
        if self == Sanitizer::Thread {
            args.push("-Zbuild-std".into());
        }
        Ok(args)
    }
}

/// Builds the tests, and runs them.
pub fn run(options: &Options) -> Result<()> {
    let sanitizer = options.sanitizer;
    let task = format!("sanitize {}", sanitizer.name());
    if nightly::missing(&task, sanitizer.components(), options.skip_if_missing)? {
        return Ok(());
    }
    let mut cargo = sanitizer.cargo()?;
    cargo.args(["test", "--no-fail-fast"]).args(sanitizer.target_args()?);
    match options.tests.as_slice() {
        [] => cargo.args((if options.short { SHORT } else { ALL }).split_whitespace()),
        tests => cargo.args(tests),
    };
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(crate::failed(format!("`cargo xtask {task}` failed; the report above tells where"))),
        Err(error) => Err(crate::failed(format!("rustup: {error}"))),
    }
}
