//! `millstream man`: manual pages.

use crate::Cli;
use crate::failure::{Outcome, file_error};
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Print the manual page, or write the pages of all commands
///
/// Without a folder, prints the page of `millstream` itself, in the format of `man`. With a folder, writes
/// it, and one page for each command (`millstream-run.1`), into that folder.
#[derive(Args)]
#[command(after_help = "\
Examples:
  millstream man | man -l -
  millstream man ~/.local/share/man/man1
  man millstream-run")]
pub(crate) struct Options {
    /// The folder to write all pages into; it is made if it does not exist
    folder: Option<PathBuf>,
}

pub(crate) fn run(options: Options) -> Outcome {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    if let Some(folder) = &options.folder {
        return Ok(write(&command, folder).map_err(|e| file_error("write", folder, &e))?);
    }
    let mut out = io::stdout().lock();
    Man::new(command).render(&mut out)?;
    Ok(out.flush()?)
}

/// Writes the pages of the program and of its commands.
fn write(command: &clap::Command, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    for command in std::iter::once(command).chain(commands) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        let mut page = Vec::new();
        Man::new(command.clone()).title(name.to_owned()).render(&mut page)?;
        fs::write(folder.join(format!("{name}.1")), page)?;
    }
    Ok(())
}
