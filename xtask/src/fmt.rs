//! `cargo xtask fmt`: formats every Rust file of the project.
//!
//! `cargo fmt` follows `mod` declarations, so it never sees the files that the `ops!` macro declares. This
//! task hands rustfmt every file there is.

use clap::Args;
use millstream::Result;
use std::path::PathBuf;
use std::process::Command;

/// What to do with files that are not formatted.
#[derive(Args, Default)]
pub struct Options {
    /// Report unformatted files instead of rewriting them.
    #[arg(long)]
    pub check: bool,
}

/// Formats the files, or fails if one of them is not formatted.
pub fn run(options: &Options) -> Result<()> {
    let files = crate::check::files_with_extension("rs");
    // rustfmt also follows the `mod` declarations of each file; naming few files a call keeps the command
    // line short.
    for some in files.chunks(200) {
        rustfmt(some, options.check)?;
    }
    Ok(())
}

fn rustfmt(files: &[PathBuf], check: bool) -> Result<()> {
    let mut command = Command::new("rustfmt");
    command
        .args(["--edition", "2024"])
        .args(check.then_some("--check"))
        .args(files)
        .current_dir(crate::root());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) if check => Err(crate::failed("files are not formatted; run `cargo xtask fmt`")),
        Ok(_) => Err(crate::failed("rustfmt failed")),
        Err(error) => Err(crate::failed(format!("rustfmt: {error}"))),
    }
}
