//! `millstream completions`: completions for shells.

use crate::Cli;
use crate::failure::Outcome;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::{self, Write};

/// Print the completions for a shell
///
/// Prints a script with which the shell completes commands, options, their values and file names when Tab is
/// pressed. The examples install it for one user.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  millstream completions bash > ~/.local/share/bash-completion/completions/millstream
  millstream completions zsh > ~/.zfunc/_millstream     # with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  millstream completions fish > ~/.config/fish/completions/millstream.fish"
)]
pub(crate) struct Options {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(options: Options) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "millstream", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    Ok(out.flush()?)
}
