//! The project's own tasks: `cargo xtask check` is the gate.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task talks")]

mod bench;
mod check;
mod coverage;
mod fmt;
mod fuzz;
mod generate;
mod miri;
mod mutants;
mod nightly;
mod op_names;
mod sanitize;
mod stubs;
mod wheels;

use clap::{Parser, Subcommand};
use millstream::{Code, Error};
use std::path::{Path, PathBuf};

#[derive(Parser)]
#[command(name = "xtask", about = "The project's own tasks")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Format, lints, docs, generated code, tidiness, tests: the gate of every change.
    Check(check::Options),
    /// Format every Rust file, the op library included, which `cargo fmt` does not see.
    Fmt(fmt::Options),
    /// Write the methods of the ops from their declarations.
    Gen(generate::Options),
    /// Fuzz everything that reads foreign bytes.
    Fuzz(fuzz::Options),
    /// Run tests under Miri, which finds undefined behaviour. Needs a nightly compiler.
    Miri(miri::Options),
    /// Run tests under ThreadSanitizer or AddressSanitizer. Needs a nightly compiler.
    Sanitize(sanitize::Options),
    /// Measure the lines that tests execute, in the crates that must not fail.
    Coverage(coverage::Options),
    /// Change the code of the crates that must not fail, and count the changes that no test notices.
    Mutants(mutants::Options),
    /// Run benchmarks; `--json` prints one JSON line per variant.
    Bench(bench::Options),
    /// Build the Python package's wheels, for this Python and free-threaded ones, and check their size and
    /// import time.
    Wheels(wheels::Options),
}

fn main() -> std::process::ExitCode {
    let result = match Cli::parse().command {
        Command::Check(options) => check::run(&options),
        Command::Fmt(options) => fmt::run(&options),
        Command::Gen(options) => generate::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Miri(options) => miri::run(&options),
        Command::Sanitize(options) => sanitize::run(&options),
        Command::Coverage(options) => coverage::run(&options),
        Command::Mutants(options) => mutants::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Wheels(options) => wheels::run(&options),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}: {error}", error.code());
            std::process::ExitCode::FAILURE
        }
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// The target folder in which this program was built.
fn target() -> millstream::Result<PathBuf> {
    let here = std::env::current_exe().map_err(|e| failed(format!("xtask: {e}")))?;
    Ok(here.ancestors().nth(2).map_or_else(|| root().join("target"), Path::to_owned))
}

/// The error of a task that failed.
fn failed(why: impl Into<String>) -> Error {
    Error::new(Code::FailedPrecondition, why.into())
}
