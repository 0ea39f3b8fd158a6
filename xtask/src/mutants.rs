//! `cargo xtask mutants`: changes the code of the crates that must not fail, in one place at a time, and
//! counts the changes that no test notices. cargo-mutants lists the changes, with the settings in
//! `.cargo/mutants.toml`; [`switch`] compiles all of them into one copy of the tree; [`trial`] runs tests.
//!
//! There are thousands of changes, so a run takes a sample, drawn from a seed. Changes that need not be
//! noticed are listed with reasons in `xtask/mutants.txt`, one a line: the change as cargo-mutants names it,
//! without line numbers, `#`, the reason.

mod switch;
mod trial;

use clap::Args;
use millstream::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

/// What to change.
#[derive(Args)]
pub struct Options {
    /// The number of changes that are tried in each crate. 0 tries all, which takes hours.
    #[arg(long, default_value_t = 40)]
    sample: usize,
    /// The seed of the sample.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most changes that may go unnoticed, in percent of those that are tried.
    #[arg(long, default_value_t = 10.0)]
    most: f64,
    /// Only list the sample.
    #[arg(long)]
    list: bool,
    /// Only these: state, exec, checkpoint, graph/verify, autodiff.
    crates: Vec<String>,
}

/// The crates: a name, and the files.
const SUBJECTS: [(&str, &str); 5] = [
    ("state", "crates/state/src/**"),
    ("exec", "crates/exec/src/**"),
    ("checkpoint", "crates/checkpoint/src/**"),
    ("graph/verify", "crates/graph/src/verify.rs"),
    ("autodiff", "crates/autodiff/src/**"),
];

/// A change of the sample.
struct Change {
    /// `FILE:LINE:COLUMN: replace .. with ..`
    name: String,
    package: String,
    file: String,
    /// What cargo-mutants calls the kind of the change, such as `BinaryOperator`.
    genre: String,
    /// Where the replacement goes: lines and columns, which start at 1.
    span: Range<(usize, usize)>,
    replacement: String,
}

/// Tries the changes, and prints the table.
pub fn run(options: &Options) -> Result<()> {
    check_tool()?;
    if let Some(unknown) = options.crates.iter().find(|c| SUBJECTS.iter().all(|(name, ..)| name != c)) {
        let names = SUBJECTS.map(|(name, ..)| name).join(", ");
        return Err(crate::failed(format!("`{unknown}` is not among the crates that are changed: {names}")));
    }
    let excused = excused()?;
    let wanted = |name: &str| options.crates.is_empty() || options.crates.iter().any(|c| c == name);
    let (mut sample, mut parts) = (Vec::new(), Vec::new());
    for (name, files) in SUBJECTS.into_iter().filter(|(name, _)| wanted(name)) {
        let all = list(files)?;
        let (from, n) = (sample.len(), all.len());
        sample.extend(draw(all, options));
        parts.push((name, n, from..sample.len()));
    }
    if options.list {
        sample.iter().for_each(|change| println!("{}", change.name));
        return Ok(());
    }
    let home = crate::target()?.join("mutants");
    fs::create_dir_all(&home).map_err(at(&home))?;
    let (programs, tried) = switch::build(&home, &sample)?;
    let noticed = trial::run(&home, &programs, &sample, &tried)?;
    let mut short = Vec::new();
    for (name, all, part) in parts {
        let counts = |i: &usize| tried.contains(i) && !excused.contains_key(&unnumbered(&sample[*i].name));
        let n = part.clone().filter(counts).count();
        let survivors: Vec<usize> = part.clone().filter(counts).filter(|i| !noticed.contains(i)).collect();
        let share = 100.0 * survivors.len() as f64 / n.max(1) as f64;
        println!(
            "{name}: of {all} changes {} were drawn; {n} compile and count, of which {} went unnoticed \
             ({share:.1} %)",
            part.len(),
            survivors.len()
        );
        survivors.iter().for_each(|&i| println!("  {}", sample[i].name));
        if options.most < share {
            short.push(name);
        }
    }
    match short.is_empty() {
        true => Ok(()),
        false => Err(crate::failed(format!(
            "more than {} % of the changes went unnoticed in {}; test them, or give the reason in \
             xtask/mutants.txt",
            options.most,
            short.join(", ")
        ))),
    }
}

fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(crate::root()).stdin(Stdio::null());
    cargo
}

fn check_tool() -> Result<()> {
    match cargo().args(["mutants", "--version"]).output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(crate::failed(
            "`cargo xtask mutants` needs cargo-mutants; `cargo install --locked cargo-mutants` installs it",
        )),
    }
}

/// All changes to these files.
fn list(files: &str) -> Result<Vec<Change>> {
    let output = cargo().args(["mutants", "--list", "--json", "--workspace", "--file", files]).output();
    let output = output.map_err(|e| crate::failed(format!("cargo mutants: {e}")))?;
    let listed: Option<Vec<serde_json::Value>> = serde_json::from_slice(&output.stdout).ok();
    let changes = listed.and_then(|all| all.iter().map(change).collect());
    let said = || crate::failed(format!("cargo mutants: {}", String::from_utf8_lossy(&output.stderr)));
    changes.ok_or_else(said)
}

/// A change as cargo-mutants describes it.
fn change(json: &serde_json::Value) -> Option<Change> {
    let text = |name: &str| json[name].as_str().map(str::to_owned);
    let at = |end: &str| {
        let number = |name: &str| json["span"][end][name].as_u64().map(|n| n as usize);
        Some((number("line")?, number("column")?))
    };
    Some(Change {
        name: text("name")?,
        package: text("package")?,
        file: text("file")?,
        genre: text("genre")?,
        span: at("start")?..at("end")?,
        replacement: text("replacement")?,
    })
}

/// A sample without repetition, in the order of the source. The same seed draws the same sample.
fn draw(all: Vec<Change>, options: &Options) -> Vec<Change> {
    let wanted = if options.sample == 0 { all.len() } else { options.sample.min(all.len()) };
    let mut state = options.seed;
    let mut at = BTreeSet::new();
    while at.len() < wanted {
        // A linear congruential generator (Knuth's MMIX), of which the high bits are used.
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        at.insert((state >> 33) as usize % all.len());
    }
    all.into_iter().enumerate().filter(|(i, _)| at.contains(i)).map(|(_, change)| change).collect()
}

/// The changes that need not be noticed, with the reasons.
fn excused() -> Result<BTreeMap<String, String>> {
    let list = crate::root().join("xtask/mutants.txt");
    let mut excused = BTreeMap::new();
    for line in
        fs::read_to_string(&list).map_err(at(&list))?.lines().filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let Some((mutant, reason)) = line.split_once(" # ") else {
            return Err(crate::failed(format!("{}: `{line}` gives no reason (` # why`)", list.display())));
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

/// An error that says at which path it happened.
fn at(path: &Path) -> impl Fn(std::io::Error) -> millstream::Error {
    move |e| crate::failed(format!("{}: {e}", path.display()))
}
