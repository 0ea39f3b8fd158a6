//! The nightly compiler that [`crate::miri`] and [`crate::sanitize`] need, and a clear word if it is not
//! there.
//!
//! Everything else of the project is built by a stable compiler.

use millstream::Result;
use std::path::Path;
use std::process::{Command, Stdio};

/// Checks that rustup has a nightly compiler with these components. If not, and if that shall be no error,
/// says so and returns true.
pub fn missing(task: &str, components: &[&str], skip: bool) -> Result<bool> {
    match (check(task, components), skip) {
        (Ok(()), _) => Ok(false),
        (Err(error), true) => {
            eprintln!("skipped: {error}");
            Ok(true)
        }
        (Err(error), false) => Err(error),
    }
}

fn check(task: &str, components: &[&str]) -> Result<()> {
    let install = format!("rustup toolchain install nightly --component {}", components.join(","));
    let needs =
        |what: &str| crate::failed(format!("`cargo xtask {task}` needs {what}; `{install}` installs it"));
    let mut list = Command::new("rustup");
    // Nothing is installed without being asked for.
    list.env("RUSTUP_AUTO_INSTALL", "0").args(["component", "list", "--installed", "--toolchain", "nightly"]);
    let installed = match list.output() {
        Ok(list) if list.status.success() => String::from_utf8_lossy(&list.stdout).into_owned(),
        Ok(_) => return Err(needs("a nightly compiler")),
        Err(_) => return Err(needs("rustup (https://rustup.rs) and a nightly compiler")),
    };
    // A component is listed with its target, `miri-x86_64-unknown-linux-gnu`, unless it is the same for all.
    let is = |line: &str, c: &str| line.strip_prefix(c).is_some_and(|r| r.is_empty() || r.starts_with('-'));
    match components.iter().find(|c| !installed.lines().any(|line| is(line, c))) {
        None => Ok(()),
        Some(missing) => Err(needs(&format!("the component `{missing}` of the nightly compiler"))),
    }
}

/// A command that runs nightly's cargo in the workspace, with this target folder.
pub fn cargo(target: &Path) -> Command {
    let mut cargo = Command::new("rustup");
    cargo.args(["run", "nightly", "cargo"]).current_dir(crate::root()).stdin(Stdio::null());
    // What the stable cargo, which runs this program, tells its children.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"]
    {
        cargo.env_remove(name);
    }
    cargo.env("CARGO_TARGET_DIR", target);
    cargo
}

/// The triple of this machine, as rustc names it.
pub fn host() -> Result<String> {
    let output = Command::new("rustup").args(["run", "nightly", "rustc", "-vV"]).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    match text.lines().find_map(|l| l.strip_prefix("host: ")) {
        Some(host) => Ok(host.to_owned()),
        None => Err(crate::failed("`rustup run nightly rustc -vV` does not tell the host")),
    }
}
