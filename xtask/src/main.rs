//! The project's own tasks.

mod bench;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "xtask", about = "The project's own tasks")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure, with one JSON line per variant.
    Bench(bench::Options),
}

fn main() -> std::process::ExitCode {
    let result = match Cli::parse().command {
        Command::Bench(options) => bench::run(&options),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}: {error}", error.code());
            std::process::ExitCode::FAILURE
        }
    }
}
