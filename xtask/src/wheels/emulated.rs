//! Wheels for another machine, run by QEMU in user mode.
//!
//! The interpreter is Debian's, for that machine: apt fetches its packages into a folder of their own, and
//! nothing of the system is changed. pip fetches NumPy's and protobuf's wheels for that machine. Where QEMU
//! or apt is missing, the wheel is not run, and the output says so.

use super::{LEARNED, SOLVER, TRIED, failed, io, learned, output, root, said, succeed};
use millstream::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Debian's packages with the interpreter, and the library of C++ that NumPy needs.
const PACKAGES: [&str; 3] = ["python3-minimal", "libpython3-stdlib", "libstdc++6"];

/// Runs a wheel for this machine, if there is an emulator.
pub fn try_out(wheel: &Path, machine: &str, folder: &Path) -> Result<()> {
    let qemu = format!("qemu-{machine}");
    for program in [qemu.as_str(), "apt-get", "dpkg"] {
        if Command::new(program).arg("--version").output().is_err() {
            println!("  not run: `{program}` is missing (`apt-get install qemu-user` on Debian)");
            return Ok(());
        }
    }
    let (system, python) = system(machine, folder)?;
    let site = site(wheel, machine, &version(&python)?, folder)?;
    let began = Instant::now();
    let emulate = |arguments: &[&str]| {
        let mut command = Command::new(&qemu);
        command.arg("-L").arg(&system).arg(&python).args(arguments).env("PYTHONPATH", &site);
        output(&mut command)
    };
    emulate(&["-c", TRIED])?;
    let solver = root().join(SOLVER);
    learned(&emulate(&[solver.to_str().unwrap_or(SOLVER)])?)?;
    println!(
        "  run under {qemu} in {:.0} s: a loop, and a model with a solver in it, which learned `{LEARNED}`",
        began.elapsed().as_secs_f64()
    );
    Ok(())
}

/// A folder with Debian for a machine, as far as Python needs it, and its interpreter.
fn system(machine: &str, folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let architecture = if machine == "aarch64" { "arm64" } else { "amd64" };
    let apt = folder.join(architecture);
    let (state, cache, system) = (apt.join("state"), apt.join("cache"), apt.join("root"));
    if let Some(python) = interpreter(&system) {
        return Ok((system, python));
    }
    for made in [&state.join("lists/partial"), &cache.join("archives/partial"), &system] {
        fs::create_dir_all(made).map_err(io)?;
    }
    let status = apt.join("status");
    fs::write(&status, "").map_err(io)?;
    let set = [
        format!("APT::Architecture={architecture}"),
        format!("APT::Architectures={architecture}"),
        format!("Dir::State={}", state.display()),
        format!("Dir::State::status={}", status.display()),
        format!("Dir::Cache={}", cache.display()),
        // Without the locks of the system, of which nothing is changed.
        "Debug::NoLocking=1".to_owned(),
    ];
    let apt_get = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        for option in &set {
            command.args(["-o", option]);
        }
        output(command.args(arguments))
    };
    apt_get(&["update"])?;
    apt_get(&[&["install", "-y", "--download-only", "--no-install-recommends"][..], &PACKAGES].concat())?;
    for package in fs::read_dir(cache.join("archives")).map_err(io)?.flatten().map(|entry| entry.path()) {
        if package.extension().is_some_and(|extension| extension == "deb") {
            succeed(Command::new("dpkg").arg("-x").arg(package).arg(&system))?;
        }
    }
    let python = interpreter(&system).ok_or_else(|| failed("apt has no Python for this machine"))?;
    Ok((system, python))
}

/// The interpreter `python3.N` in a folder with a system.
fn interpreter(system: &Path) -> Option<PathBuf> {
    let mut programs = fs::read_dir(system.join("usr/bin")).ok()?.flatten().map(|entry| entry.path());
    programs.find(|path| version(path).is_ok())
}

/// The `3.N` of an interpreter named `python3.N`.
fn version(python: &Path) -> Result<String> {
    let name = python.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let version = name.strip_prefix("python").filter(|version| version.starts_with("3."));
    let version = version.filter(|version| version[2..].bytes().all(|byte| byte.is_ascii_digit()));
    version.map(str::to_owned).ok_or_else(|| failed(format!("{} is no python3.N", python.display())))
}

/// A folder with a wheel and the packages that it needs, for an interpreter of another machine.
fn site(wheel: &Path, machine: &str, version: &str, folder: &Path) -> Result<PathBuf> {
    let site = folder.join(format!("site-{machine}"));
    let _ = fs::remove_dir_all(&site);
    let mut arguments: Vec<String> =
        ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:"]
            .map(str::to_owned)
            .to_vec();
    // pip takes the tags that it is given, and no older ones.
    for tag in ["manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014"] {
        arguments.extend(["--platform".to_owned(), format!("{tag}_{machine}")]);
    }
    arguments.extend(["--python-version".to_owned(), version.to_owned()]);
    arguments.extend(["--target".to_owned(), site.display().to_string(), wheel.display().to_string()]);
    said(Path::new("python3"), &arguments)?;
    Ok(site)
}
