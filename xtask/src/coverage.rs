//! `cargo xtask coverage`: the share of lines that tests execute, in the crates that must not fail.
//!
//! The counters are stable (`-Cinstrument-coverage`); `xtask/instrument-coverage` adds them to the
//! workspace's crates alone, so that dependencies are not built again. The counts are read by
//! `llvm-profdata` and `llvm-cov`, a component of the compiler (`llvm-tools`) or a package of the system.
//! Lines are counted as llvm-cov counts them; tests inside a source file (from `#[cfg(test)]` on) are not
//! among them.

use clap::Args;
use millstream::Result;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to measure.
#[derive(Args)]
pub struct Options {
    /// Also list the lines that no test executes.
    #[arg(long)]
    uncovered: bool,
    /// Also write a page per source file to `coverage/html` in the target folder.
    #[arg(long)]
    html: bool,
    /// Count again from the last run's profiles, without running tests.
    #[arg(long)]
    no_run: bool,
    /// The least share of lines, in percent. A crate below it is an error.
    #[arg(long, default_value_t = 95.0)]
    least: f64,
    /// Only the tests of these packages, such as `millstream-state`.
    packages: Vec<String>,
}

/// The name of what is measured, and the path with which its files begin.
const SUBJECTS: [(&str, &str); 5] = [
    ("state", "crates/state/src/"),
    ("exec", "crates/exec/src/"),
    ("checkpoint", "crates/checkpoint/src/"),
    ("graph/verify", "crates/graph/src/verify.rs"),
    ("autodiff", "crates/autodiff/src/"),
];

/// The packages whose tests are counted: the measured crates, and those that drive them.
const PACKAGES: [&str; 9] = [
    "millstream-state",
    "millstream-store",
    "millstream-exec",
    "millstream-checkpoint",
    "millstream-graph",
    "millstream-autodiff",
    "millstream-runtime",
    "millstream-testkit",
    "millstream",
];

/// Of each line that has code, the number of times that it ran. By file, then by line.
type Counts = BTreeMap<String, BTreeMap<usize, u64>>;

/// Runs the tests, and prints the table.
pub fn run(options: &Options) -> Result<()> {
    let tools = Tools::find()?;
    let home = crate::target()?.join("coverage");
    if !options.no_run {
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).map_err(|e| crate::failed(format!("{}: {e}", home.display())))?;
        let packages: Vec<&str> = match options.packages.as_slice() {
            [] => PACKAGES.to_vec(),
            some => some.iter().map(String::as_str).collect(),
        };
        test(&packages, &home)?;
    }
    let (profile, programs) = (merge(&tools, &home)?, read_programs(&home)?);
    let counts = count(&tools, &profile, &programs)?;
    if options.html {
        let html = home.join("html");
        tools.cov(
            "show",
            &profile,
            &programs,
            &["--format=html", &format!("--output-dir={}", html.display())],
        )?;
        eprintln!("coverage: {}", html.join("index.html").display());
    }
    print(&counts, options)
}

/// The programs that read counters.
struct Tools {
    profdata: PathBuf,
    cov: PathBuf,
}

impl Tools {
    /// Those of the compiler in use, those of nightly, or those that the system has for the same LLVM. A
    /// profile is read by the tools of the compiler that made the program, or of one with the same LLVM.
    fn find() -> Result<Tools> {
        let of = |rustc: &[&str], args: &[&str]| {
            let output = Command::new(rustc[0]).args(&rustc[1..]).args(args).stderr(Stdio::null()).output();
            output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default()
        };
        for rustc in [&["rustc"][..], &["rustup", "run", "nightly", "rustc"]] {
            let libraries = of(rustc, &["--print", "target-libdir"]);
            let bin = Path::new(libraries.trim()).parent().map(|p| p.join("bin")).unwrap_or_default();
            let tools = Tools { profdata: bin.join("llvm-profdata"), cov: bin.join("llvm-cov") };
            if tools.cov.exists() && tools.profdata.exists() {
                return Ok(tools);
            }
        }
        let about = of(&["rustc"], &["-vV"]);
        let version = about.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or_default();
        let major = version.split('.').next().unwrap_or_default();
        let named = |tool: &str| PathBuf::from(format!("{tool}-{major}"));
        let tools = Tools { profdata: named("llvm-profdata"), cov: named("llvm-cov") };
        let runs = |tool: &Path| {
            let said =
                Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            said.is_ok_and(|status| status.success())
        };
        match runs(&tools.cov) && runs(&tools.profdata) {
            true => Ok(tools),
            false => Err(crate::failed(format!(
                "`cargo xtask coverage` needs llvm-cov and llvm-profdata of LLVM {major}; `rustup component add \
                 llvm-tools` installs them, or on Debian `apt-get install llvm-{major}`"
            ))),
        }
    }

    fn run(tool: &Path, args: &[String]) -> Result<String> {
        let name = tool.display();
        let output = Command::new(tool).args(args).current_dir(crate::root()).output();
        let output = output.map_err(|e| crate::failed(format!("{name}: {e}")))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => {
                Err(crate::failed(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim())))
            }
        }
    }

    fn cov(&self, what: &str, profile: &Path, programs: &[String], more: &[&str]) -> Result<String> {
        let mut args = vec![what.to_owned(), format!("--instr-profile={}", profile.display())];
        args.extend(more.iter().map(|m| m.to_string()));
        // The first program is named without `--object`.
        for (i, program) in programs.iter().enumerate() {
            args.push(if i == 0 { program.clone() } else { format!("--object={program}") });
        }
        args.extend(SUBJECTS.map(|(_, path)| crate::root().join(path).display().to_string()));
        Tools::run(&self.cov, &args)
    }
}

/// Builds and runs the tests. Their programs are named in `programs`, their counts are in `*.profraw`.
fn test(packages: &[&str], home: &Path) -> Result<()> {
    let wrapper = crate::root().join("xtask/instrument-coverage");
    let cargo = |more: &[&str]| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(crate::root()).env("RUSTC_WORKSPACE_WRAPPER", &wrapper);
        cargo.args(["test", "--lib", "--bins", "--tests"]).args(packages.iter().flat_map(|p| ["-p", p]));
        // `%m` tells programs apart, and `%p` those of a kind that run at a time.
        cargo.env("LLVM_PROFILE_FILE", home.join("%m-%p.profraw")).args(more);
        cargo
    };
    let list =
        cargo(&["--no-run", "--message-format=json-render-diagnostics"]).stderr(Stdio::inherit()).output();
    let list = list.map_err(|e| crate::failed(format!("cargo: {e}")))?;
    if !list.status.success() {
        return Err(crate::failed("the tests cannot be built"));
    }
    let text = String::from_utf8_lossy(&list.stdout);
    let quoted = |line: &str| {
        let (_, rest) = line.split_once("\"executable\":\"")?;
        rest.split('"').next().map(str::to_owned)
    };
    let programs: Vec<String> = text.lines().filter_map(quoted).collect();
    let at = home.join("programs");
    fs::write(&at, programs.join("\n")).map_err(|e| crate::failed(format!("{}: {e}", at.display())))?;
    match cargo(&["--no-fail-fast"]).status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(crate::failed(
            "tests failed; what they executed is counted by `cargo xtask coverage --no-run`",
        )),
    }
}

fn read_programs(home: &Path) -> Result<Vec<String>> {
    let at = home.join("programs");
    let text = fs::read_to_string(&at).map_err(|e| crate::failed(format!("{}: {e}", at.display())))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Adds up the counts of all runs.
fn merge(tools: &Tools, home: &Path) -> Result<PathBuf> {
    let (list, profile) = (home.join("profraw.txt"), home.join("all.profdata"));
    let entries = fs::read_dir(home).map_err(|e| crate::failed(format!("{}: {e}", home.display())))?;
    let paths = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "profraw"));
    let names: Vec<String> = paths.map(|p| p.display().to_string()).collect();
    fs::write(&list, names.join("\n")).map_err(|e| crate::failed(format!("{}: {e}", list.display())))?;
    // The profile of a program that was killed is cut short. It is left out.
    let args = ["merge", "--sparse", "--failure-mode=all"].map(String::from).into_iter();
    let args =
        args.chain([format!("--input-files={}", list.display()), format!("--output={}", profile.display())]);
    Tools::run(&tools.profdata, &args.collect::<Vec<_>>())?;
    Ok(profile)
}

/// Reads the counts of the subjects' lines, without those of tests.
fn count(tools: &Tools, profile: &Path, programs: &[String]) -> Result<Counts> {
    let text = tools.cov("export", profile, programs, &["--format=lcov", "--skip-functions"])?;
    let root = format!("{}/", crate::root().display());
    let mut counts = Counts::new();
    let (mut file, mut tests_at) = (String::new(), usize::MAX);
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            file = path.strip_prefix(&root).unwrap_or(path).to_owned();
            let source = fs::read_to_string(path).unwrap_or_default();
            let first = source.lines().position(|l| l.trim() == "#[cfg(test)]");
            tests_at = if file.ends_with("tests.rs") { 0 } else { first.map_or(usize::MAX, |i| i + 1) };
        } else if let Some((line, n)) = line.strip_prefix("DA:").and_then(|l| l.split_once(',')) {
            let (Ok(line), Ok(n)) = (line.parse::<usize>(), n.parse::<u64>()) else { continue };
            if line < tests_at {
                *counts.entry(file.clone()).or_default().entry(line).or_default() += n;
            }
        }
    }
    Ok(counts)
}

/// Prints the table, and fails if a subject falls short.
fn print(counts: &Counts, options: &Options) -> Result<()> {
    println!("{:<14}{:>8}{:>10}{:>9}", "crate", "lines", "executed", "share");
    let mut short = Vec::new();
    for (name, path) in SUBJECTS {
        let lines =
            || counts.iter().filter(|(f, _)| f.starts_with(path)).flat_map(|(_, lines)| lines.values());
        let (all, run) = (lines().count(), lines().filter(|n| **n != 0).count());
        let share = 100.0 * run as f64 / all.max(1) as f64;
        println!("{name:<14}{all:>8}{run:>10}{share:>8.1}%");
        if share < options.least {
            short.push(format!("{name} ({share:.1} %)"));
        }
    }
    if options.uncovered {
        for (file, lines) in counts {
            let ranges = ranges(lines);
            if !ranges.is_empty() {
                println!("{file}: {}", ranges.join(" "));
            }
        }
    }
    match short.is_empty() {
        true => Ok(()),
        false => Err(crate::failed(format!(
            "fewer than {} % of the lines are executed by tests: {}; `--uncovered` lists the others",
            options.least,
            short.join(", ")
        ))),
    }
}

/// The lines that did not run, as ranges of neighbours: `7 12-15`.
fn ranges(lines: &BTreeMap<usize, u64>) -> Vec<String> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    // Lines without code do not end a range.
    let mut open = false;
    for (&line, &n) in lines {
        match ranges.last_mut() {
            Some(last) if n == 0 && open => last.1 = line,
            _ if n == 0 => ranges.push((line, line)),
            _ => {}
        }
        open = n == 0;
    }
    let shown = |(a, b): (usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    ranges.into_iter().map(shown).collect()
}
