//! `cargo xtask check`: the gate. Steps run in order of how soon they fail; the first failure ends it. Those
//! that check without running run side by side, as each keeps one core busy.

use clap::Args;
use millstream::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

/// The steps to run.
#[derive(Args)]
pub struct Options {
    /// Only these steps: tidy, fmt, gen, clippy, features, docs, test.
    steps: Vec<String>,
}

/// One step of the gate.
type Step = fn() -> Result<()>;

/// The most lines in a file that does not give a reason (`//! Long because ..`).
const MAX_LINES: usize = 1000;

/// The width of code and comments: `max_width` in rustfmt.toml. rustfmt leaves comments as they are.
const MAX_WIDTH: usize = 110;

/// The folders that hold the project's sources.
const DIRS: [&str; 4] = ["crates", "xtask", "examples", "fuzz"];

/// Runs the steps.
pub fn run(options: &Options) -> Result<()> {
    let stages: [&[(&str, Step)]; 5] = [
        &[("tidy", tidy)],
        &[("fmt", || crate::fmt::run(&crate::fmt::Options { check: true }))],
        &[("gen", || crate::generate::run(&crate::generate::Options { check: true }))],
        &[
            ("features", features),
            ("clippy", || cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
            ("docs", || cargo(&["doc", "--workspace", "--no-deps"])),
        ],
        &[("test", || cargo(&["test", "--workspace"]))],
    ];
    let known = |step: &String| stages.iter().any(|stage| stage.iter().any(|(name, _)| name == step));
    if let Some(unknown) = options.steps.iter().find(|step| !known(step)) {
        return Err(crate::failed(format!("there is no step `{unknown}`")));
    }
    let wanted = |name: &str| options.steps.is_empty() || options.steps.iter().any(|step| step == name);
    for stage in stages {
        thread::scope(|scope| {
            let steps: Vec<_> = stage
                .iter()
                .filter(|(name, _)| wanted(name))
                .map(|&(name, step)| scope.spawn(move || timed(name, step)))
                .collect();
            // Each step that failed has said so; the first error is the result.
            let results: Vec<Result<()>> = steps.into_iter().map(joined).collect();
            results.into_iter().collect::<Result<()>>()
        })?;
    }
    Ok(())
}

/// Runs one step, and tells how long it took.
fn timed(name: &str, step: Step) -> Result<()> {
    eprintln!("check: {name}");
    let begin = Instant::now();
    let result = step();
    let seconds = begin.elapsed().as_secs();
    match &result {
        Ok(()) => eprintln!("check: {name} took {seconds} s"),
        Err(_) => eprintln!("check: {name} failed after {seconds} s"),
    }
    result
}

/// What a step's thread answered.
fn joined(step: thread::ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    step.join().unwrap_or_else(|_| Err(crate::failed("a step panicked")))
}

fn cargo(args: &[&str]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(crate::root());
    if args[0] == "doc" {
        command.env("RUSTDOCFLAGS", "-D warnings");
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(crate::failed(format!("`cargo {}` failed", args.join(" ")))),
        Err(error) => Err(crate::failed(format!("cargo: {error}"))),
    }
}

/// The features of `millstream` that are checked together, beside the default, which all other steps have.
const FEATURES: [&str; 5] = ["", "jit,store", "tf-files", "arrays,avx512,input", "spectra,summary"];

/// Checks combinations of features, and runs a loop without any. The step has a target folder of its own, so
/// that it does not wait for other steps.
fn features() -> Result<()> {
    let home = crate::target()?.join("features");
    let home = home.to_string_lossy();
    let crates = ["-p", "millstream", "-p", "millstream-ops", "--target-dir", &home, "--no-default-features"];
    for features in FEATURES {
        cargo(&[&["clippy"], &crates[..], &["--features", features, "--", "-D", "warnings"]].concat())?;
    }
    let tests = ["--test", "features", "--example", "counter"];
    cargo(&[&["test", "-p", "millstream"], &crates[4..], &tests].concat())
}

/// Checks what no other tool looks at, and reports every finding.
fn tidy() -> Result<()> {
    let root = crate::root();
    let mut findings = Vec::new();
    for dir in DIRS {
        visit(&root.join(dir), &mut |path| look(&root, path, &mut findings));
    }
    findings.extend(compiled_twice()?);
    match findings.is_empty() {
        true => Ok(()),
        false => Err(crate::failed(format!("not tidy:\n  {}", findings.join("\n  ")))),
    }
}

/// The crates that `cargo xtask` compiles with other features than `cargo test --workspace` does, and so once
/// more, with all that depends on them.
fn compiled_twice() -> Result<Vec<String>> {
    let own = features_of(&["--package", "xtask", "--edges", "normal,build"])?;
    let tests = features_of(&["--workspace", "--edges", "normal,build,dev"])?;
    let cure = "has other features in the workspace: give it those in xtask/Cargo.toml";
    Ok(own.difference(&tests).map(|this| format!("{this} {cure}")).collect())
}

/// The crates that `cargo tree` lists, with their features.
fn features_of(of: &[&str]) -> Result<BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["tree", "--prefix", "none", "--format", "{p} [{f}]"]).args(of).current_dir(crate::root());
    match command.output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            Ok(text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect())
        }
        Ok(output) => {
            Err(crate::failed(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim())))
        }
        Err(error) => Err(crate::failed(format!("cargo tree: {error}"))),
    }
}

/// The project's files with this extension, in order.
pub fn files_with_extension(extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for dir in DIRS {
        visit(&crate::root().join(dir), &mut |path| {
            if path.extension().is_some_and(|e| e == extension) {
                files.push(path.to_owned());
            }
        });
    }
    files
}

fn visit(dir: &Path, see: &mut impl FnMut(&Path)) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true if path.ends_with("target") => {}
            true => visit(&path, see),
            false => see(&path),
        }
    }
}

fn look(root: &Path, path: &Path, findings: &mut Vec<String>) {
    let shown = path.strip_prefix(root).unwrap_or(path).display();
    let Ok(text) = std::fs::read_to_string(path) else { return };
    if path.extension().is_some_and(|e| e == "rs") {
        let first = text.lines().next().unwrap_or_default();
        if !first.starts_with("//!") {
            findings.push(format!("{shown}: does not open with `//!`"));
        }
        // Put together from two parts, so that this line is not a finding itself.
        let ignored = concat!("#[", "ignore");
        if text.contains(ignored) {
            findings.push(format!("{shown}: a test is ignored; assert what happens today with a FIXME"));
        }
        for n in too_wide(&text) {
            findings.push(format!("{shown}:{n}: the comment is wider than {MAX_WIDTH} columns"));
        }
        let n_lines = text.lines().count();
        let excused = first.contains("Generated") || text.lines().any(|l| l.starts_with("//! Long because "));
        if opens_files(&shown.to_string(), &text) {
            findings.push(format!(
                "{shown}: opens files by itself; ask `KernelCx::files`, or `Files::everything`"
            ));
        }
        if MAX_LINES < n_lines && !excused {
            findings.push(format!("{shown}: {n_lines} lines; split it, or say `//! Long because ..`"));
        }
    }
    findings.extend(crate::op_names::look(&shown.to_string(), &text));
    if path.ends_with("Cargo.toml") {
        for field in ["license.workspace = true", "[lints]\nworkspace = true", "description = "] {
            if !text.contains(field) {
                findings.push(format!("{shown}: lacks `{}`", field.replace('\n', " ")));
            }
        }
        findings.extend(left_out(path, &text).map(|name| {
            format!("{shown}: `tests/{name}.rs` is in no program: name it in `tests/all.rs` or here")
        }));
        if !text.contains("publish = false") {
            findings.extend(unpublishable(path, &text).map(|lacks| format!("{shown}: lacks {lacks}")));
        }
    }
}

/// The files of tests that a crate whose tests are one program, `all`, never compiles, given its manifest.
fn left_out<'a>(manifest: &Path, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let folder = manifest.with_file_name("tests");
    let all = std::fs::read_to_string(folder.join("all.rs")).unwrap_or_default();
    let there = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = there.filter_map(|e| Some(e.file_name().to_str()?.strip_suffix(".rs")?.to_owned()));
    let in_all =
        move |name: &str| all.lines().any(|line| line.strip_prefix("mod ") == Some(&format!("{name};")));
    let alone = |name: &str| text.contains(&format!("[[test]]\nname = \"{name}\"\n"));
    let explicit = text.contains("autotests = false");
    names.filter(move |name| explicit && !in_all(name) && !alone(name))
}

/// What a crate lacks for a registry, given its manifest.
fn unpublishable<'a>(manifest: &'a Path, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let fields = ["authors", "repository", "readme", "keywords", "categories", "exclude"];
    let absent = move |field: &&str| !text.lines().any(|line| line.starts_with(*field));
    let licences = ["LICENSE-MIT", "LICENSE-APACHE"];
    // Links to the files at the root: a package holds what they point to.
    let unlicensed = move |file: &&str| !manifest.with_file_name(file).is_file();
    let lacks = fields.into_iter().filter(absent).chain(licences.into_iter().filter(unlicensed));
    lacks.map(|lack| format!("`{lack}`, which a package needs"))
}

/// The crates whose code a graph can reach. Of these, only `files` opens files, so that a session's access
/// holds for all of them.
const ASK_FOR_FILES: [&str; 7] = [
    "crates/autodiff/src/",
    "crates/checkpoint/src/",
    "crates/exec/src/",
    "crates/graph/src/",
    "crates/interop/src/",
    "crates/ops/src/",
    "crates/state/src/",
];

/// The one file of theirs that reads files by itself: those in which the system tells its memory.
const READS_THE_SYSTEM: &str = "crates/state/src/machine.rs";

/// Whether the code of a file, without its tests, docs and comments, opens files past the file layer.
fn opens_files(shown: &str, text: &str) -> bool {
    let asks = ASK_FOR_FILES.iter().any(|start| shown.starts_with(start))
        && !shown.ends_with("tests.rs")
        && shown != READS_THE_SYSTEM;
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let opens = |line: &str| {
        let line = line.trim_start();
        !line.starts_with("//")
            && ["std::fs", "fs::File", "File::open", "OpenOptions"].iter().any(|w| line.contains(w))
    };
    asks && code.lines().any(opens)
}

/// The numbers of the lines whose comment is too wide. Code and pictures between fences, rows of tables,
/// lines that cannot be broken (a link), comments in the strings of a generator, and the structs of messages,
/// whose comments come from the `.proto` files, are exempt.
fn too_wide(text: &str) -> Vec<usize> {
    if text.starts_with("//! The messages of `proto`") {
        return Vec::new();
    }
    let mut fenced = false;
    let mut wide = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let comment = match line.trim_start().strip_prefix("//") {
            Some(comment) => comment.trim_start_matches(['/', '!']).trim(),
            None => {
                fenced = false;
                // A comment behind code. Without quotes, the slashes cannot be in a string.
                let behind = line.split_once(" // ").filter(|_| !line.contains('"'));
                behind.map_or("", |(_, comment)| comment)
            }
        };
        fenced ^= comment.starts_with("```");
        let generated = line.ends_with("\\n\\");
        let exempt = fenced || generated || comment.starts_with('|') || !comment.contains(' ');
        if !exempt && MAX_WIDTH < line.chars().count() {
            wide.push(i + 1);
        }
    }
    wide
}
