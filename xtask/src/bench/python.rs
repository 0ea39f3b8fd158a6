//! The cases of the Python layer: `Session.run` next to the same call in Rust, and building a graph.
//! TensorFlow 1 is measured next to both if an interpreter with it is named. Python runs
//! `crates/python/benches/layer.py` with the package and an extension built in the same profile as this
//! program.

use super::cases::{check, session};
use super::report::{Bench, median};
use crate::{failed, root};
use millstream::prelude::*;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreters.
pub(super) struct Interpreters<'a> {
    /// One with NumPy and protobuf.
    pub(super) own: &'a str,
    /// One with TensorFlow 1, or with TensorFlow 2 for its `compat.v1`.
    pub(super) peer: Option<&'a str>,
}

/// `Session.run` of a graph of one node, with eight floats in and out, and the same as a prepared call.
pub(super) fn run(b: &Bench, with: &Interpreters<'_>) -> Result<()> {
    let n = b.size(100_000);
    let site = site()?;
    for variant in ["run", "call"] {
        if !b.wanted(variant) {
            continue;
        }
        let rust = || -> Result<Vec<f64>> {
            let times = if variant == "run" { rust_run(b, n)? } else { rust_call(b, n)? };
            Ok(times.into_iter().map(|t| t * 1e6 / n as f64).collect())
        };
        // Rust is measured before and after, which shows the noise of the machine.
        let before = median(&rust()?);
        let python = micros(&script(with.own, Some(&site), "millstream", variant, n, b.reps)?);
        let after = median(&rust()?);
        let peer = with.peer.map(|p| script(p, None, "tensorflow", variant, n / 10, b.reps)).transpose()?;
        let rust = before.min(after);
        let over = median(&python) - rust;
        let mut extra = vec![("rust_us", rust), ("over_rust_us", over)];
        let peer = peer.map(|times| median(&micros(&times)));
        extra.extend(peer.map(|p| ("tensorflow_us", p)));
        let tensorflow = peer.map_or(String::new(), |p| format!(", TensorFlow's {p:.3}"));
        let (name, python_us) = (format!("Session.{variant}"), median(&python));
        b.emit("python_run", &name, n, python, "us/call", &extra);
        b.note(&format!(
            "{python_us:.3} us, in Rust {before:.3} and {after:.3}: {over:.3} over it (asked: at most 3){tensorflow}"
        ));
    }
    Ok(())
}

/// Building a graph of 10,000 nodes: additions of tensors, and additions of Python numbers, where half of the
/// nodes are constants.
pub(super) fn build(b: &Bench, with: &Interpreters<'_>) -> Result<()> {
    let n = b.size(10_000);
    let site = site()?;
    for (variant, case) in [("tensors", "build_ops"), ("numbers", "build")] {
        if !b.wanted(variant) {
            continue;
        }
        let whole = |times: Vec<f64>| -> Vec<f64> { times.into_iter().map(|t| t * 1e3 * n as f64).collect() };
        let python = whole(script(with.own, Some(&site), "millstream", case, n, b.reps)?);
        let peer = with.peer.map(|p| script(p, None, "tensorflow", case, n, b.reps)).transpose()?;
        let peer = peer.map(|times| median(&whole(times)));
        let rust = median(&b.timed(|| rust_build(n, variant == "numbers"))?) * 1e3;
        let mut extra = vec![("rust_ms", rust)];
        extra.extend(peer.map(|p| ("tensorflow_ms", p)));
        let tensorflow = peer.map_or(String::new(), |p| format!(", TensorFlow's {p:.1} ms"));
        let ms = median(&python);
        b.emit("python_build", variant, n, python, "ms", &extra);
        b.note(&format!("{ms:.1} ms (asked: under 50), in Rust {rust:.1} ms{tensorflow}"));
    }
    Ok(())
}

fn micros(times: &[f64]) -> Vec<f64> {
    times.iter().map(|t| t * 1e6).collect()
}

fn one_node(g: &Graph) -> (Output<'_>, Output<'_>) {
    let x = g.placeholder_of("x", DType::F32, [8]);
    (x, g.op("Neg").input(x).output())
}

fn value() -> Result<Tensor> {
    Tensor::from_iter([8], (0..8).map(|v| v as f32))
}

fn negated(out: &Tensor) -> Result<()> {
    check(out.as_slice::<f32>()?.iter().enumerate().all(|(i, v)| *v == -(i as f32)), "python_run")
}

fn rust_run(b: &Bench, n: usize) -> Result<Vec<f64>> {
    let g = Graph::new();
    let (x, y) = one_node(&g);
    let (session, value) = (session(&g, b)?, value()?);
    b.timed(|| {
        for _ in 0..n {
            let out: Tensor = session.run(y, feed![x => value.clone()])?;
            negated(&out)?;
        }
        Ok(())
    })
}

fn rust_call(b: &Bench, n: usize) -> Result<Vec<f64>> {
    let g = Graph::new();
    let (x, y) = one_node(&g);
    let (call, value) = (session(&g, b)?.make_callable(y, [x])?, value()?);
    b.timed(|| {
        for _ in 0..n {
            let out: Tensor = call.call_as(std::slice::from_ref(&value))?;
            negated(&out)?;
        }
        Ok(())
    })
}

fn rust_build(n: usize, numbers: bool) -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder_of("x", DType::F32, [0usize; 0]);
    let mut y = x;
    for _ in 0..if numbers { n / 2 } else { n } {
        y = if numbers { y + 1.0 } else { y + x };
    }
    check(n / 2 < g.len(), "python_build")?;
    g.check()
}

/// The script's result: the seconds of each repetition, divided by `n`.
fn script(
    python: &str,
    site: Option<&Path>,
    module: &str,
    case: &str,
    n: usize,
    reps: usize,
) -> Result<Vec<f64>> {
    let file = root().join("crates/python/benches/layer.py");
    let mut command = Command::new(python);
    command.arg(file).args([module, case, &n.to_string(), &reps.to_string()]);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("TF_CPP_MIN_LOG_LEVEL", "3");
    match site {
        Some(site) => command.env("PYTHONPATH", site),
        None => command.env_remove("PYTHONPATH"),
    };
    let help = "`--python` names an interpreter with NumPy and protobuf, `--peer` one with TensorFlow";
    let output = command.output().map_err(|e| failed(format!("{python}: {e}")).with_help(help))?;
    let out = String::from_utf8_lossy(&output.stdout);
    let numbers = out.lines().rev().find_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'));
    let times = numbers
        .and_then(|list| list.split(',').map(|t| t.trim().parse::<f64>().ok()).collect::<Option<Vec<_>>>());
    match times.filter(|times| output.status.success() && !times.is_empty()) {
        Some(times) => Ok(times),
        None => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(failed(format!("{module} in {python} could not be measured:\n{said}")).with_help(help))
        }
    }
}

/// A folder with the package, and the extension built in the profile of this program.
fn site() -> Result<PathBuf> {
    let io = |e: std::io::Error| failed(format!("the Python package: {e}"));
    let here = std::env::current_exe().map_err(io)?;
    let folder = here.parent().unwrap_or(Path::new("."));
    let is_release = folder.ends_with("release");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(["build", "-q", "-p", "millstream-python"]);
    let status = command.args(is_release.then_some("--release")).status().map_err(io)?;
    if !status.success() {
        return Err(failed("the extension could not be built: `cargo build -p millstream-python` says why"));
    }
    let site = folder.join("bench-site");
    let package = site.join("millstream");
    let _ = fs::remove_dir_all(&package);
    copy(&root().join("crates/python/py/millstream"), &package).map_err(io)?;
    let built = folder.join(format!("{DLL_PREFIX}_engine{DLL_SUFFIX}"));
    let name = if cfg!(windows) { "_engine.pyd" } else { "_engine.so" };
    fs::copy(built, package.join(name)).map_err(io)?;
    Ok(site)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, name) = entry.map(|e| (e.path(), e.file_name()))?;
        if path.is_dir() && !path.ends_with("__pycache__") {
            copy(&path, &to.join(name))?;
        } else if path.is_file() && path.extension().is_none_or(|e| e != "so" && e != "pyd") {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
