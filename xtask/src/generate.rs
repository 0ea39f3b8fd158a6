//! `cargo xtask gen`: writes the methods of the ops in `crates/millstream/src/ops` from the declarations of
//! the op library, the messages' structs, descriptors and fields, the Python package's copy of the
//! descriptors, its stubs, and the licences of the dependencies.

mod docs;
mod licences;
mod messages;
mod methods;

use clap::Args;
use millstream::{Code, Error, Result};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What to do with the generated code.
#[derive(Args, Default)]
pub struct Options {
    /// Only report files that are out of date.
    #[arg(long)]
    pub check: bool,
}

/// The folder of the methods, from the root of the workspace.
const METHODS: &str = "crates/millstream/src/ops";

/// The messages' descriptors, which the Python package makes its protobuf classes from.
const MESSAGES: &str = "crates/python/py/millstream/_generated/messages.bin";

/// The types of the ops' functions in Python.
const STUBS: &str = "crates/python/py/millstream/_generated/raw_ops.pyi";

/// The crates in what is built, and their licences.
const THIRD_PARTY: &str = "THIRD-PARTY.md";

/// Writes the files, or returns an error that names a stale one.
pub fn run(options: &Options) -> Result<()> {
    let files = methods::files()?;
    for (name, code) in &files {
        write(options, &format!("{METHODS}/{name}.rs"), rustfmt(code)?.as_bytes())?;
    }
    no_others(&crate::root().join(METHODS), &files)?;
    let messages = messages::messages()?;
    write(options, messages::STRUCTS, rustfmt(&messages.structs)?.as_bytes())?;
    write(options, messages::DESCRIPTORS, &messages.descriptors)?;
    write(options, messages::FIELDS, rustfmt(&messages.fields)?.as_bytes())?;
    write(options, MESSAGES, &messages.descriptors)?;
    write(options, THIRD_PARTY, licences::third_party()?.as_bytes())?;
    write(options, STUBS, crate::stubs::generate().as_bytes())
}

/// An error if the folder has a file that is none of these: one of a family that is gone.
fn no_others(folder: &Path, files: &[(String, String)]) -> Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let known = path.file_stem().is_some_and(|stem| files.iter().any(|(name, _)| stem == name.as_str()));
        if !known {
            return Err(crate::failed(format!("{} is not generated: delete it", path.display())));
        }
    }
    Ok(())
}

fn write(options: &Options, name: &str, contents: &[u8]) -> Result<()> {
    let path = crate::root().join(name);
    if std::fs::read(&path).is_ok_and(|old| old == contents) {
        return Ok(());
    }
    if options.check {
        return Err(crate::failed(format!("{name} is stale: run `cargo xtask gen`")));
    }
    std::fs::write(&path, contents).map_err(|e| crate::failed(format!("{}: {e}", path.display())))
}

fn rustfmt(code: &str) -> Result<String> {
    let failed = |e: std::io::Error| crate::failed(format!("rustfmt: {e}"));
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(crate::root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or_else(|| crate::failed("rustfmt has no input"))?;
    let text = code.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() || !writer.join().is_ok_and(|r| r.is_ok()) {
        return Err(crate::failed("rustfmt does not accept the generated code"));
    }
    String::from_utf8(output.stdout).map_err(|e| Error::new(Code::Internal, e.to_string()))
}
