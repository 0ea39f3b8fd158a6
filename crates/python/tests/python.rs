//! Runs the Python tests: creates a virtual environment in the target directory (once; NumPy, protobuf,
//! absl, attrs, hypothesis, pytest and mypy are installed by pip), puts the extension built by cargo beside
//! the package, and runs pytest in this directory, in two processes if there are two cores.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::{env, fs, io};

/// The packages of the environment, beside those of the variable EXTRAS. It is recreated if they change, or
/// PYTHON or PIP_CONSTRAINT does.
const PACKAGES: &[&str] =
    &["absl-py", "attrs", "hypothesis>=6", "mypy>=1.18,<2.5", "numpy", "protobuf>=4.21", "pytest>=8"];

#[test]
fn python_tests_pass() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let python = environment(&scratch);
    add_mpi(&python);
    let site = scratch.join("site");
    place_package(&site.join("millstream"));
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    // Not pytest-xdist: its processes have a thread that listens to it, and with a thread that might end a
    // wait, no wait is a stall.
    let parts = std::thread::available_parallelism().map_or(1, |n| n.get().min(2));
    let run = |part: usize| {
        Command::new(&python)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations", "10"])
            .args(["--part", &format!("{part}/{parts}")])
            .arg(&tests)
            .env("PYTHONPATH", &site)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", python.display()))
    };
    let runs: Vec<Child> = (0..parts).map(run).collect();
    let passed: Vec<bool> =
        runs.into_iter().map(|mut run| run.wait().is_ok_and(|status| status.success())).collect();
    assert!(passed.iter().all(|passed| *passed), "the Python tests fail: see above");
}

/// Returns the interpreter of the virtual environment.
fn environment(scratch: &Path) -> PathBuf {
    let folder = scratch.join("venv");
    let python = if cfg!(windows) { folder.join("Scripts/python.exe") } else { folder.join("bin/python") };
    let made = folder.join("millstream-packages.txt");
    let base = env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let constraint = env::var("PIP_CONSTRAINT").unwrap_or_default();
    let extras = env::var("EXTRAS").unwrap_or_default();
    let packages: Vec<&str> = PACKAGES.iter().copied().chain(extras.split_whitespace()).collect();
    let wanted = format!("{base}\n{constraint}\n{}", packages.join("\n"));
    if fs::read_to_string(&made).is_ok_and(|had| had == wanted) {
        return python;
    }
    fs::create_dir_all(scratch).unwrap_or_else(|e| panic!("{}: {e}", scratch.display()));
    must(
        Command::new(&base).args(["-m", "venv", "--clear"]).arg(&folder),
        "the Python tests need Python 3.9 or newer with its `venv` module: install `python3` and `python3-venv` (Debian), or name an interpreter \
         with the variable PYTHON",
    );
    must(
        Command::new(&python)
            .args(["-m", "pip", "install", "-q", "--disable-pip-version-check"])
            .args(&packages),
        "the Python tests need absl-py, attrs, hypothesis, mypy, NumPy, protobuf and pytest, which pip could not install into a virtual environment",
    );
    fs::write(&made, wanted).unwrap_or_else(|e| panic!("{}: {e}", made.display()));
    python
}

/// Installs mpi4py where there is an MPI launcher, once. The tests that need it are skipped without it, so it
/// is not an error if pip cannot, as without a network.
#[expect(clippy::print_stderr, reason = "tells why tests are skipped")]
fn add_mpi(python: &Path) {
    let runs = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    if !runs(Command::new("mpirun").arg("--version"))
        || runs(Command::new(python).args(["-c", "import mpi4py"]))
    {
        return;
    }
    let quick =
        ["--disable-pip-version-check", "--retries", "1", "--timeout", "10", "--only-binary", ":all:"];
    if !runs(Command::new(python).args(["-m", "pip", "install", "-q", "mpi4py"]).args(quick)) {
        eprintln!("pip could not install mpi4py: the tests of several processes are skipped");
    }
}

fn must(command: &mut Command, help: &str) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?} ended with {status}\nhelp: {help}"),
        Err(error) => panic!("{command:?}: {error}\nhelp: {help}"),
    }
}

/// Returns a copy of the package with the extension.
fn place_package(to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("py/millstream");
    let _ = fs::remove_dir_all(to);
    copy(&from, to).unwrap_or_else(|e| panic!("{} to {}: {e}", from.display(), to.display()));
    let here = env::current_exe().unwrap_or_else(|e| panic!("this test's own file: {e}"));
    let deps = here.parent().unwrap_or(Path::new("."));
    let name = format!("{DLL_PREFIX}_engine{DLL_SUFFIX}");
    let built = [deps.join(&name), deps.join("..").join(&name)];
    let built = built.iter().find(|p| p.exists()).unwrap_or_else(|| {
        panic!("cargo has built no {name} in {}; `cargo build -p millstream-python` does", deps.display())
    });
    let extension = if cfg!(windows) { "_engine.pyd" } else { "_engine.so" };
    fs::copy(built, to.join(extension)).unwrap_or_else(|e| panic!("{}: {e}", built.display()));
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            if !path.ends_with("__pycache__") {
                copy(&path, &target)?;
            }
        } else if !path.extension().is_some_and(|e| e == "so" || e == "pyd" || e == "pyc") {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}
