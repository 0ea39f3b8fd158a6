//! `millstream`: runs, inspects, draws and converts graphs that TensorFlow or Millstream wrote.
//!
//! One file per sub-command, each with its `Options` and its `run`. Results go to the standard output, everything else to the standard
//! error. Exit codes: 0 when all went well, 1 when the work failed, 2 when it was asked for in a wrong way. No algorithm is here:
//! what the commands do is done by the crate `millstream`.

mod convert;
mod dot;
mod failure;
mod feed;
mod inspect;
mod json;
mod load;
mod number;
mod ops;
mod queues;
mod run;
mod svg;
mod table;
mod value;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Runs dataflow graphs with real loops in them: GraphDefs and MetaGraphDefs, as TensorFlow writes them.
#[derive(Parser)]
#[command(
    name = "millstream",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Results go to the standard output, everything else to the standard error.
Exit codes: 0 success; 1 the work failed (`error: CODE: ...`, with TensorFlow's name of the code); 2 bad usage.

Examples:
  millstream inspect model.pb
  millstream run model.pb --feed n:0=27 --fetch while/Exit:0
  millstream svg model.pb > model.svg
  millstream ops AddV2

`millstream COMMAND --help` tells more about each."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Box<run::Options>),
    Inspect(inspect::Options),
    Dot(dot::Options),
    Svg(svg::Options),
    Ops(ops::Options),
    Convert(convert::Options),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(options) => run::run(*options),
        Command::Inspect(options) => inspect::run(options),
        Command::Dot(options) => dot::run(options),
        Command::Svg(options) => svg::run(options),
        Command::Ops(options) => ops::run(options),
        Command::Convert(options) => convert::run(options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
