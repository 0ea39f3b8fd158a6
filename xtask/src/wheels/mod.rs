//! `cargo xtask wheels`: builds the Python package's wheels, and checks that each works, its size, and its
//! import time.
//!
//! One wheel serves CPython 3.9 and newer (abi3); each free-threaded CPython needs its own. On Linux, maturin
//! and zig build wheels for x86_64 and aarch64 that need glibc 2.28 or newer. Each wheel is then installed
//! into a fresh environment, where a loop is run, a model with a solver in it learns, and the import is
//! timed. Wheels for another machine run under an emulator ([`emulated`]), without the timing.

mod emulated;

use crate::{failed, root};
use clap::Args;
use millstream::Result;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The largest size of a wheel, in MB.
const MOST_MB: f64 = 15.0;

/// The longest time of `import millstream` beyond NumPy's own import, in milliseconds.
const MOST_MS: f64 = 60.0;

/// The free-threaded interpreters, each of which gets a wheel if it is installed.
const FREE_THREADED: [&str; 3] = ["python3.13t", "python3.14t", "python3.15t"];

/// The machines that get a wheel, with Linux and glibc.
const MACHINES: [&str; 2] = ["x86_64", "aarch64"];

/// The tag of the oldest systems that the wheels run on: those with glibc 2.28.
const OLDEST: &str = "manylinux_2_28";

/// The files with licences that a wheel holds.
const LICENCES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md"];

/// Imports NumPy, then the package, and prints the time of the second import, in milliseconds.
const TIMED: &str =
    "import time, numpy; t = time.perf_counter(); import millstream; print((time.perf_counter() - t) * 1e3)";

/// Runs a loop.
const TRIED: &str = "import millstream as tf; i = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0]); assert tf.Session().run(i) == 10";

/// Learns a constant through a loop that runs until it converges.
const SOLVER: &str = "examples/python/solver.py";

/// What the solver prints in the end, if it has learned the constant.
const LEARNED: &str = "eccentricity 0.6000,";

/// The names of the files in a wheel.
const NAMES: &str = "import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep='\\n')";

/// What to build.
#[derive(Args)]
pub struct Options {
    /// Interpreters to build for. The default is `python3` and every free-threaded one that is installed.
    /// Interpreters with the lock share one wheel.
    #[arg(short, long)]
    interpreter: Vec<String>,
    /// The machines to build for, x86_64 or aarch64. The default is both. Wheels for free-threaded
    /// interpreters are for this machine only.
    #[arg(short, long, value_parser = MACHINES)]
    machine: Vec<String>,
    /// Check the wheels that were built before, instead of building them.
    #[arg(long)]
    no_build: bool,
    /// The number of times that the import is timed.
    #[arg(long, default_value_t = 15)]
    reps: usize,
}

/// Builds, installs, tests and measures the wheels.
pub fn run(options: &Options) -> Result<()> {
    let folder = root().join("target/wheels");
    fs::create_dir_all(&folder).map_err(io)?;
    let mut findings = Vec::new();
    let tools = match options.no_build {
        true => None,
        false => Some(environment("python3", &folder.join("tools"), &["maturin>=1.9,<2", "ziglang"])?),
    };
    for (interpreter, machine) in wanted(options)? {
        let began = Instant::now();
        let wheel = match &tools {
            Some(tools) => build(tools, &interpreter, machine, &folder)?,
            None => built(&interpreter, machine, &folder)?,
        };
        let took = began.elapsed().as_secs();
        let mb = fs::metadata(&wheel).map_err(io)?.len() as f64 / 1e6;
        println!("{}", wheel.display());
        println!("  {mb:.1} MB (asked: at most {MOST_MB}), built in {took} s");
        if MOST_MB < mb {
            findings.push(format!("{} is too large", wheel.display()));
        }
        let names = said(Path::new("python3"), &["-c".as_ref(), NAMES.as_ref(), wheel.as_os_str()])?;
        for file in LICENCES.iter().filter(|file| !names.lines().any(|name| name.ends_with(**file))) {
            findings.push(format!("{} does not hold {file}", wheel.display()));
        }
        match machine {
            Some(machine) if machine != std::env::consts::ARCH => {
                emulated::try_out(&wheel, machine, &folder)?
            }
            _ => {
                let median = try_out(&wheel, &interpreter, &folder, options.reps)?;
                if MOST_MS < median {
                    findings.push(format!("{} is slow to import", wheel.display()));
                }
            }
        }
    }
    match findings.is_empty() {
        true => Ok(()),
        false => Err(failed(findings.join("\n  "))),
    }
}

/// Installs a wheel for this machine into a fresh environment and runs it. Returns the time of the import.
fn try_out(wheel: &Path, interpreter: &str, folder: &Path, reps: usize) -> Result<f64> {
    let began = Instant::now();
    let python = environment(interpreter, &folder.join("trial"), &[wheel.as_os_str()])?;
    let installed = began.elapsed().as_secs_f64();
    said(&python, &["-c", TRIED])?;
    learned(&said(&python, &[root().join(SOLVER)])?)?;
    println!(
        "  installed in {installed:.0} s, with NumPy; a loop ran, and a model with a solver in it has learned"
    );
    let mut times = (0..reps.max(1)).map(|_| timed(&python)).collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("  imported in {median:.0} ms, at worst {worst:.0}, beyond NumPy (asked: at most {MOST_MS})");
    Ok(median)
}

/// An error unless the solver has printed the constant that it is to learn.
fn learned(printed: &str) -> Result<()> {
    match printed.lines().last().is_some_and(|line| line.starts_with(LEARNED)) {
        true => Ok(()),
        false => Err(failed(format!("{SOLVER} has not learned; it printed\n{printed}"))),
    }
}

/// Each interpreter with a machine to build for. Without a machine, the wheel is for this system alone: this
/// is so where zig's wheels, which are for Linux, would not run.
fn wanted(options: &Options) -> Result<Vec<(String, Option<&str>)>> {
    let own = std::env::consts::ARCH;
    let machines: Vec<&str> = match options.machine.is_empty() {
        true => MACHINES.to_vec(),
        false => options.machine.iter().map(String::as_str).collect(),
    };
    let mut wanted = Vec::new();
    for interpreter in interpreters(options)? {
        match () {
            () if !cfg!(target_os = "linux") => wanted.push((interpreter, None)),
            () if is_free(&interpreter)? => wanted.push((interpreter, Some(own))),
            () => wanted.extend(machines.iter().map(|machine| (interpreter.clone(), Some(*machine)))),
        }
    }
    Ok(wanted)
}

/// One interpreter with the lock, for the wheel that all such interpreters share, and all free-threaded ones.
fn interpreters(options: &Options) -> Result<Vec<String>> {
    if options.interpreter.is_empty() {
        let found = FREE_THREADED.iter().filter(|python| is_free(python).unwrap_or(false));
        return Ok(["python3"].iter().chain(found).map(|python| python.to_string()).collect());
    }
    let (mut chosen, mut has_shared) = (Vec::new(), false);
    for python in &options.interpreter {
        let free = is_free(python)?;
        if free || !has_shared {
            chosen.push(python.clone());
        }
        has_shared |= !free;
    }
    Ok(chosen)
}

fn is_free(python: &str) -> Result<bool> {
    let asks = "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)";
    said(Path::new(python), &["-c", asks]).map(|answer| answer == "1")
}

/// Builds the wheel for an interpreter.
fn build(tools: &Path, interpreter: &str, machine: Option<&str>, folder: &Path) -> Result<PathBuf> {
    let fresh = folder.join("fresh");
    let _ = fs::remove_dir_all(&fresh);
    let mut command = Command::new(tools);
    command.current_dir(root()).args(["-m", "maturin", "build", "--release", "--locked"]);
    command.args(["--interpreter", interpreter]).arg("--out").arg(&fresh);
    if let Some(machine) = machine {
        let target = format!("{machine}-unknown-linux-gnu");
        has_target(&target)?;
        command.args(["--zig", "--compatibility", OLDEST, "--target", &target]);
        // maturin looks for zig among the packages of the `python3` that it finds.
        command.env("PATH", path_with(tools)?);
    }
    succeed(&mut command)?;
    let made = fs::read_dir(&fresh).map_err(io)?.next().ok_or_else(|| failed("maturin made no wheel"))?;
    let made = made.map_err(io)?;
    let wheel = folder.join(made.file_name());
    fs::rename(made.path(), &wheel).map_err(io)?;
    Ok(wheel)
}

/// The wheel for an interpreter that was built before.
fn built(interpreter: &str, machine: Option<&str>, folder: &Path) -> Result<PathBuf> {
    let free = is_free(interpreter)?;
    let fits = |name: &str| {
        name.ends_with(".whl")
            && name.contains("-abi3-") != free
            && machine.is_none_or(|machine| name.contains(OLDEST) && name.contains(machine))
    };
    let found = fs::read_dir(folder).map_err(io)?.flatten();
    let found = found
        .map(|entry| entry.path())
        .find(|path| path.file_name().and_then(OsStr::to_str).is_some_and(fits));
    found.ok_or_else(|| failed(format!("{} has no wheel for {interpreter}, {machine:?}", folder.display())))
}

/// An error unless Rust's own library for a target is installed.
fn has_target(target: &str) -> Result<()> {
    let library = said(Path::new("rustc"), &["--print", "target-libdir", "--target", target])?;
    match Path::new(&library).is_dir() {
        true => Ok(()),
        false => Err(failed(format!("Rust cannot build for {target}: `rustup target add {target}`"))),
    }
}

/// The search path with the folder of an interpreter in front.
fn path_with(python: &Path) -> Result<OsString> {
    let own = python.parent().map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path)))
        .map_err(|e| failed(e.to_string()))
}

/// Makes a virtual environment with these packages, and returns its interpreter.
fn environment(base: &str, folder: &Path, packages: &[impl AsRef<OsStr>]) -> Result<PathBuf> {
    succeed(Command::new(base).args(["-m", "venv", "--clear"]).arg(folder))?;
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    succeed(
        Command::new(&python)
            .args(["-m", "pip", "install", "-q", "--disable-pip-version-check"])
            .args(packages),
    )?;
    Ok(python)
}

fn timed(python: &Path) -> Result<f64> {
    let answer = said(python, &["-c", TIMED])?;
    answer.parse().map_err(|_| failed(format!("{}: `{answer}` is not a time", python.display())))
}

fn succeed(command: &mut Command) -> Result<()> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("{command:?} ended with {status}"))),
        Err(error) => Err(failed(format!("{command:?}: {error}"))),
    }
}

/// The output of a program.
fn said(program: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<String> {
    output(Command::new(program).args(arguments))
}

/// The output of a command.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|e| failed(format!("{command:?}: {e}")))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(failed(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))),
    }
}

fn io(error: std::io::Error) -> millstream::Error {
    failed(error.to_string())
}
