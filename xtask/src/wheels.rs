//! `cargo xtask wheels`: builds the Python package's wheels, and checks their size and import time.
//!
//! One wheel serves CPython 3.9 and newer (abi3); each free-threaded CPython needs its own. maturin builds
//! them in a virtual environment of its own. Each wheel is then installed into another environment, where a
//! loop is run and the import is timed.

use crate::{failed, root};
use clap::Args;
use millstream::Result;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The largest size of a wheel, in MB.
const MOST_MB: f64 = 15.0;

/// The longest time of `import millstream` beyond NumPy's own import, in milliseconds.
const MOST_MS: f64 = 60.0;

/// The free-threaded interpreters, each of which gets a wheel if it is installed.
const FREE_THREADED: [&str; 3] = ["python3.13t", "python3.14t", "python3.15t"];

/// Imports NumPy, then the package, and prints the time of the second import, in milliseconds.
const TIMED: &str =
    "import time, numpy; t = time.perf_counter(); import millstream; print((time.perf_counter() - t) * 1e3)";

/// Runs a loop.
const TRIED: &str = "import millstream as tf; i = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0]); assert tf.Session().run(i) == 10";

/// The interpreters to build for.
#[derive(Args)]
pub struct Options {
    /// Interpreters to build for. The default is `python3` and every free-threaded one that is installed.
    /// Interpreters with the lock share one wheel.
    #[arg(short, long)]
    interpreter: Vec<String>,
    /// The number of times that the import is timed.
    #[arg(long, default_value_t = 15)]
    reps: usize,
}

/// Builds, installs, tests and measures the wheels.
pub fn run(options: &Options) -> Result<()> {
    let folder = root().join("target/wheels");
    fs::create_dir_all(&folder).map_err(io)?;
    let tools = environment("python3", &folder.join("tools"), &["maturin>=1.9,<2"])?;
    let mut slow_or_large = Vec::new();
    for interpreter in interpreters(options)? {
        let wheel = build(&tools, &interpreter, &folder)?;
        let mb = fs::metadata(&wheel).map_err(io)?.len() as f64 / 1e6;
        let python = environment(&interpreter, &folder.join("trial"), &[wheel.as_os_str()])?;
        said(&python, &["-c", TRIED])?;
        let mut times = (0..options.reps.max(1)).map(|_| timed(&python)).collect::<Result<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{}", wheel.display());
        println!(
            "  {mb:.1} MB (asked: at most {MOST_MB}); imported in {median:.0} ms, at worst {worst:.0}, beyond NumPy (asked: at most {MOST_MS})"
        );
        if MOST_MB < mb || MOST_MS < median {
            slow_or_large.push(wheel.display().to_string());
        }
    }
    match slow_or_large.is_empty() {
        true => Ok(()),
        false => Err(failed(format!("larger or slower than asked: {}", slow_or_large.join(", ")))),
    }
}

/// One interpreter with the lock, for the wheel that all such interpreters share, and all free-threaded ones.
fn interpreters(options: &Options) -> Result<Vec<String>> {
    let is_free = |python: &str| -> Result<bool> {
        let asks = "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)";
        said(Path::new(python), &["-c", asks]).map(|answer| answer == "1")
    };
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

/// Builds the wheel for an interpreter.
fn build(tools: &Path, interpreter: &str, folder: &Path) -> Result<PathBuf> {
    let fresh = folder.join("fresh");
    let _ = fs::remove_dir_all(&fresh);
    let mut command = Command::new(tools);
    command.current_dir(root()).args([
        "-m",
        "maturin",
        "build",
        "--release",
        "--locked",
        "--interpreter",
        interpreter,
    ]);
    succeed(command.arg("--out").arg(&fresh))?;
    let made = fs::read_dir(&fresh).map_err(io)?.next().ok_or_else(|| failed("maturin made no wheel"))?;
    let made = made.map_err(io)?;
    let wheel = folder.join(made.file_name());
    fs::rename(made.path(), &wheel).map_err(io)?;
    Ok(wheel)
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

/// The output of an interpreter.
fn said(python: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new(python).args(arguments).output();
    let output = output.map_err(|e| failed(format!("{}: {e}", python.display())))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => {
            Err(failed(format!("{}: {}", python.display(), String::from_utf8_lossy(&output.stderr).trim())))
        }
    }
}

fn io(error: std::io::Error) -> millstream::Error {
    failed(error.to_string())
}
