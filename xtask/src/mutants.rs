//! `cargo xtask mutants`: changes the code of the crates that must not fail, one line at a time, and counts
//! the changes that no test notices. It runs cargo-mutants, with the settings in `.cargo/mutants.toml`.
//!
//! All changes take days, so a run takes a sample, drawn from a seed. Changes that need not be noticed are
//! listed with reasons in `xtask/mutants.txt`, one a line: the change as cargo-mutants names it, without line
//! numbers, `#`, the reason.

use clap::Args;
use millstream::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What to change.
#[derive(Args)]
pub struct Options {
    /// The number of changes that are tried in each crate. 0 tries all, which takes days.
    #[arg(long, default_value_t = 10)]
    sample: usize,
    /// The seed of the sample.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most changes that may go unnoticed, in percent of those that compile.
    #[arg(long, default_value_t = 10.0)]
    most: f64,
    /// Only list the sample.
    #[arg(long)]
    list: bool,
    /// Only these: state, exec, checkpoint, graph/verify, autodiff.
    crates: Vec<String>,
}

/// The crates: a name, the files, and the arguments of `cargo test` that run the tests which should notice.
/// The executor's own tests are models of its threads; sessions drive the rest of it. Bad graphs come to the
/// verifier by import.
const SUBJECTS: [(&str, &str, &[&str]); 5] = [
    ("state", "crates/state/src/**", &["millstream-state"]),
    ("exec", "crates/exec/src/**", &["millstream-exec", "millstream-runtime"]),
    ("checkpoint", "crates/checkpoint/src/**", &["millstream-checkpoint"]),
    ("graph/verify", "crates/graph/src/verify.rs", &["millstream-graph", "millstream-interop"]),
    ("autodiff", "crates/autodiff/src/**", &["millstream-autodiff"]),
];

/// Tries the changes, and prints the table.
pub fn run(options: &Options) -> Result<()> {
    check_tool()?;
    if let Some(unknown) = options.crates.iter().find(|c| SUBJECTS.iter().all(|(name, ..)| name != c)) {
        let names = SUBJECTS.map(|(name, ..)| name).join(", ");
        return Err(crate::failed(format!("`{unknown}` is not among the crates that are changed: {names}")));
    }
    let excused = excused()?;
    let mut short = Vec::new();
    for (name, files, tests) in SUBJECTS {
        if !options.crates.is_empty() && !options.crates.iter().any(|c| c == name) {
            continue;
        }
        let all = list(files)?;
        let sample = draw(&all, options);
        if options.list {
            sample.iter().for_each(|m| println!("{m}"));
            continue;
        }
        let home = test(name, files, tests, &sample)?;
        let (caught, missed) = (outcome(&home, &["caught", "timeout"])?, outcome(&home, &["missed"])?);
        let survivors: Vec<&String> =
            missed.iter().filter(|m| !excused.contains_key(&unnumbered(m))).collect();
        let n = caught.len() + survivors.len();
        let share = 100.0 * survivors.len() as f64 / n.max(1) as f64;
        println!(
            "{name}: of {} changes {} were tried; {n} compile and count, of which {} went unnoticed ({share:.1} %)",
            all.len(),
            sample.len(),
            survivors.len()
        );
        survivors.iter().for_each(|m| println!("  {m}"));
        if options.most < share {
            short.push(name);
        }
    }
    match short.is_empty() {
        true => Ok(()),
        false => Err(crate::failed(format!(
            "more than {} % of the changes went unnoticed in {}; test them, or give the reason in xtask/mutants.txt",
            options.most,
            short.join(", ")
        ))),
    }
}

fn cargo_mutants() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg("mutants").current_dir(crate::root()).stdin(Stdio::null());
    cargo
}

fn check_tool() -> Result<()> {
    match cargo_mutants().arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(crate::failed(
            "`cargo xtask mutants` needs cargo-mutants; `cargo install --locked cargo-mutants` installs it",
        )),
    }
}

/// The names of all changes to these files.
fn list(files: &str) -> Result<Vec<String>> {
    let output = cargo_mutants().args(["--list", "--workspace", "--file", files]).output();
    let output = output.map_err(|e| crate::failed(format!("cargo mutants: {e}")))?;
    if !output.status.success() {
        return Err(crate::failed(format!("cargo mutants: {}", String::from_utf8_lossy(&output.stderr))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// A sample without repetition, in the order of the source. The same seed draws the same sample.
fn draw<'a>(all: &'a [String], options: &Options) -> Vec<&'a String> {
    let wanted = if options.sample == 0 { all.len() } else { options.sample.min(all.len()) };
    let mut state = options.seed;
    let mut at = BTreeSet::new();
    while at.len() < wanted {
        // A linear congruential generator (Knuth's MMIX), of which the high bits are used.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        at.insert((state >> 33) as usize % all.len());
    }
    at.into_iter().map(|i| &all[i]).collect()
}

/// Tries the changes one after another. Returns the folder with the outcomes.
fn test(name: &str, files: &str, tests: &[&str], sample: &[&String]) -> Result<PathBuf> {
    let home = crate::target()?.join("mutants").join(name.replace('/', "-"));
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).map_err(|e| crate::failed(format!("{}: {e}", home.display())))?;
    let mut cargo = cargo_mutants();
    cargo.args(["--workspace", "--file", files, "--output"]).arg(&home);
    for mutant in sample {
        cargo.args(["--re", &format!("^{}$", escape(mutant))]);
    }
    tests.iter().for_each(|package| {
        cargo.args(["--test-package", package]);
    });
    // It fails if a change goes unnoticed, with 2, or takes too long, with 3.
    match cargo.status().map(|s| s.code()) {
        Ok(Some(0 | 2 | 3)) => Ok(home.join("mutants.out")),
        Ok(_) => Err(crate::failed("cargo mutants failed; its last lines tell why")),
        Err(error) => Err(crate::failed(format!("cargo mutants: {error}"))),
    }
}

/// The changes with one of these outcomes.
fn outcome(home: &std::path::Path, names: &[&str]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for name in names {
        let at = home.join(format!("{name}.txt"));
        let text = fs::read_to_string(&at).map_err(|e| crate::failed(format!("{}: {e}", at.display())))?;
        all.extend(text.lines().map(str::to_owned));
    }
    Ok(all)
}

/// The changes that need not be noticed, with the reasons.
fn excused() -> Result<BTreeMap<String, String>> {
    let at = crate::root().join("xtask/mutants.txt");
    let text = fs::read_to_string(&at).map_err(|e| crate::failed(format!("{}: {e}", at.display())))?;
    let mut excused = BTreeMap::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let Some((mutant, reason)) = line.split_once(" # ") else {
            return Err(crate::failed(format!("{}: `{line}` gives no reason (` # why`)", at.display())));
        };
        excused.insert(mutant.trim().to_owned(), reason.to_owned());
    }
    Ok(excused)
}

/// The name of a change without its line and column, which other changes move.
fn unnumbered(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    match (parts.next(), parts.nth(2)) {
        (Some(file), Some(what)) => format!("{file}:{what}"),
        _ => mutant.to_owned(),
    }
}

/// A text as a regular expression that matches it.
fn escape(text: &str) -> String {
    let special = |c: char| !c.is_alphanumeric() && !c.is_whitespace() && c != '_' && c != '/' && c != ':';
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}
