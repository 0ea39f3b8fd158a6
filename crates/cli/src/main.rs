//! `millstream`: runs, inspects, draws and converts graphs written by TensorFlow or Millstream.
//!
//! Each sub-command has a file with its `Options` and its `run`. Results go to standard output, everything
//! else to standard error. The exit codes are 0 for success, 1 for failure, 2 for bad usage and 130 for a
//! run that was interrupted. No algorithm is here: the commands call the crate `millstream`.

mod completions;
mod convert;
mod doctor;
mod dot;
mod explain;
mod failure;
mod feed;
mod guard;
mod inspect;
mod interrupt;
mod json;
mod load;
mod man;
mod number;
mod ops;
mod plain;
mod queues;
mod run;
mod svg;
mod table;
mod value;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use std::sync::LazyLock;

/// Runs dataflow graphs with loops: GraphDefs, MetaGraphDefs and SavedModels in TensorFlow's formats
#[derive(Parser)]
#[command(
    name = "millstream",
    version,
    long_version = about(),
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Results go to standard output, everything else to standard error.
Exit codes: 0 success; 1 failure (`error: CODE: ...`, where CODE is TensorFlow's name of the error code);
2 bad usage; 130 a run that Ctrl-C ended.

Examples:
  millstream inspect model.pb
  millstream run model.pb --feed n:0=27 --fetch while/Exit:0
  millstream svg model.pb > model.svg
  millstream ops AddV2

`millstream COMMAND --help` describes each command."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Box<run::Options>),
    Inspect(inspect::Options),
    Explain(explain::Options),
    Dot(dot::Options),
    Svg(svg::Options),
    Ops(ops::Options),
    Convert(convert::Options),
    Doctor(doctor::Options),
    Completions(completions::Options),
    Man(man::Options),
}

/// The version, and what the engine is made of and runs on.
fn about() -> &'static str {
    static ABOUT: LazyLock<String> = LazyLock::new(millstream::about);
    &ABOUT
}

fn main() -> ExitCode {
    load::begin();
    let result = match Cli::parse().command {
        Command::Run(options) => run::run(*options),
        Command::Inspect(options) => inspect::run(options),
        Command::Explain(options) => explain::run(options),
        Command::Dot(options) => dot::run(options),
        Command::Svg(options) => svg::run(options),
        Command::Ops(options) => ops::run(options),
        Command::Convert(options) => convert::run(options),
        Command::Doctor(options) => doctor::run(options),
        Command::Completions(options) => completions::run(options),
        Command::Man(options) => man::run(options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            guard::over();
            let code = failure.report();
            if interrupt::was_pressed() { ExitCode::from(interrupt::EXIT_CODE) } else { code }
        }
    }
}
