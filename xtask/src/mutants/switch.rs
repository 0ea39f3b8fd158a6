//! One build for all changes: a copy of the tree in which each change is the branch of an `if` that the
//! environment switches on. `a < b` becomes
//!
//! ```text
//! (if ::millstream_tensor::mutant(7) { a <= b } else { a < b })
//! ```
//!
//! and a function that returns 0 instead begins with `if ::millstream_tensor::mutant(7) { return 0; }`.
//! A change that does not compile is found by the compiler's messages, and left out.

use super::{Change, at};
use millstream::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A program of tests, or one module of it, and the folder that it runs in.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// What the names of its tests begin with, if they are not all of the program's.
    pub(super) module: Option<String>,
    pub(super) folder: PathBuf,
}

/// The packages whose unit tests and, by name, other tests are run: programs, and modules of the programs
/// `all`. Sessions drive most of the executor, and bad graphs come to the verifier by import. Tests that take
/// minutes are not among them.
const PACKAGES: [&str; 8] = [
    "millstream-state",
    "millstream-exec",
    "millstream-checkpoint",
    "millstream-graph",
    "millstream-autodiff",
    "millstream-interop",
    "millstream-runtime",
    "millstream-testkit",
];
const TESTS: &str = "all model queues barriers cancellation holders readers apart elsewhere ranks crashes \
    golden hostile messages stalls waiting";
const MODULES: &str = "loops text names loop_tree bad_graphs golden arrays composite plain second coordinator \
    explaining functions looking partial_runs queues sessions sharing compiled_loops golden_graphs \
    golden_gradients groups late_reads listings machine_code ops_in_loops probes regions splits straight \
    interrupted_reads";

/// The function that tells whether a change is switched on, and which of them the tests reach.
const MUTANT: &str = r#"
#[doc(hidden)]
#[allow(clippy::all, missing_docs)]
pub fn mutant(n: usize) -> bool {
    use std::{fs::File, io::Write, sync::{LazyLock, Mutex, atomic::{AtomicBool, Ordering}}};
    static ON: LazyLock<usize> =
        LazyLock::new(|| std::env::var("MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(usize::MAX));
    static REACHED: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
        let path = std::env::var_os("MUTANTS_REACHED")?;
        File::options().create(true).append(true).open(path).ok().map(Mutex::new)
    });
    static SEEN: [AtomicBool; 10_000] = [const { AtomicBool::new(false) }; 10_000];
    if let Some(file) = &*REACHED && !SEEN[n].swap(true, Ordering::Relaxed) {
        let _ = file.lock().map(|mut file| writeln!(file, "{n}"));
    }
    *ON == n
}
"#;

/// Builds the tests of a copy of the tree with the changes. Returns the programs, and which changes compile.
pub(super) fn build(home: &Path, sample: &[Change]) -> Result<(Vec<Program>, BTreeSet<usize>)> {
    let (tree, known) = (home.join("tree"), home.join("uncompilable.txt"));
    // What did not compile last time is not tried again, unless it has moved.
    let mut bad: BTreeSet<String> =
        fs::read_to_string(&known).unwrap_or_default().lines().map(str::to_owned).collect();
    let mut packages: Vec<String> = sample.iter().map(|change| change.package.clone()).collect();
    packages.dedup();
    let mut alone = true;
    loop {
        let changed = write(&tree, sample, &bad)?;
        // The changed crates come first, alone: most of what does not compile is found within seconds.
        let errors = match compile(&tree, alone.then_some(&packages))? {
            Ok(_) if alone => {
                alone = false;
                continue;
            }
            Ok(programs) => {
                let tried = changed.values().flat_map(|file| file.edits.iter().map(|e| e.change)).collect();
                return Ok((programs, tried));
            }
            Err(errors) => errors,
        };
        let mut guilty: BTreeSet<&str> = BTreeSet::new();
        for (file, at) in &errors.at {
            let at_fault = changed.get(file).and_then(|changed| changed.blamed(*at));
            guilty.extend(at_fault.map(|i| &*sample[i].name));
        }
        if guilty.is_empty() {
            return Err(crate::failed(format!("{} does not compile: {}", tree.display(), errors.text)));
        }
        eprintln!("mutants: {} changes do not compile", guilty.len());
        bad.extend(guilty.into_iter().map(str::to_owned));
        let lines: Vec<&str> = bad.iter().map(|b| &**b).collect();
        fs::write(&known, lines.join("\n")).map_err(at(&known))?;
    }
}

/// Two insertions into a file: before and after what a change replaces.
struct Edit {
    change: usize,
    at: Range<usize>,
    before: String,
    after: &'static str,
}

/// A file with its changes.
struct Changed {
    edits: Vec<Edit>,
    text: String,
    /// Where each insertion begins in `text`, and where what it encloses ends. In the order of `edits`.
    ranges: Vec<Range<usize>>,
}

impl Changed {
    fn new(text: &str, mut edits: Vec<Edit>) -> Changed {
        // Of two that begin at one place, the longer encloses the other.
        edits.sort_by_key(|e| (e.at.start, std::cmp::Reverse(e.at.end)));
        let mut changed = Changed { ranges: vec![0..0; edits.len()], text: String::new(), edits };
        let mut open: Vec<usize> = Vec::new();
        let (mut next, mut done) = (0, 0);
        loop {
            let starts = changed.edits.get(next).map(|e| e.at.start);
            let ends = open.last().map(|&i| changed.edits[i].at.end);
            let Some(at) = starts.into_iter().chain(ends).min() else { break };
            changed.text += &text[done..at];
            done = at;
            if ends == Some(at) {
                let i = open.pop().unwrap_or_default();
                changed.text += changed.edits[i].after;
                changed.ranges[i].end = changed.text.len();
            } else {
                changed.ranges[next].start = changed.text.len();
                changed.text += &changed.edits[next].before;
                open.push(next);
                next += 1;
            }
        }
        changed.text += &text[done..];
        changed
    }

    /// The change in whose code the byte at `at` is, or the next one: a match is to blame for its arms.
    fn blamed(&self, at: usize) -> Option<usize> {
        let ranges = || self.ranges.iter().zip(&self.edits);
        let around = ranges().filter(|(range, _)| range.contains(&at)).min_by_key(|(range, _)| range.len());
        let next = ranges().filter(|(range, _)| at < range.start).min_by_key(|(range, _)| range.start);
        around.or(next).map(|(_, edit)| edit.change)
    }
}

/// Brings the copy up to date. Files that do not change keep their times, so that Cargo builds little again.
fn write(tree: &Path, sample: &[Change], bad: &BTreeSet<String>) -> Result<BTreeMap<String, Changed>> {
    let mut of_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, change) in sample.iter().enumerate().filter(|(_, change)| !bad.contains(&change.name)) {
        of_file.entry(&change.file).or_default().push(i);
    }
    let mut changed = BTreeMap::new();
    for file in files()? {
        let (from, to) = (crate::root().join(&file), tree.join(&file));
        // A file that was deleted, or a link to a folder.
        if !from.is_file() {
            continue;
        }
        let mut bytes = fs::read(&from).map_err(at(&from))?;
        if let Some(changes) = of_file.get(&*file) {
            let text = String::from_utf8_lossy(&bytes);
            let file_changed = Changed::new(&text, edits(&text, sample, changes)?);
            bytes = file_changed.text.clone().into_bytes();
            changed.insert(file, file_changed);
        } else if file == "crates/tensor/src/lib.rs" {
            bytes.extend(MUTANT.bytes());
        }
        if fs::read(&to).ok().as_ref() != Some(&bytes) {
            to.parent().map_or(Ok(()), fs::create_dir_all).map_err(at(&to))?;
            fs::write(&to, bytes).map_err(at(&to))?;
        }
    }
    Ok(changed)
}

/// The files of the tree that git does not ignore.
fn files() -> Result<Vec<String>> {
    let mut git = std::process::Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(crate::root());
    let output = git.output().map_err(|e| crate::failed(format!("git ls-files: {e}")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.split('\0').filter(|f| !f.is_empty()).map(str::to_owned).collect())
}

/// The expressions of operators, and the arms of matches, by where they begin.
#[derive(Default)]
struct Places {
    /// From the operator to the expression that it belongs to.
    operators: BTreeMap<usize, Range<usize>>,
    /// From the arm to its pattern, and to its guard if it has one.
    arms: BTreeMap<usize, (Range<usize>, Option<Range<usize>>)>,
}

impl<'ast> Visit<'ast> for Places {
    fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
        // `if let` binds names for what follows the `&&`.
        fn binds(e: &syn::Expr) -> bool {
            match e {
                syn::Expr::Let(_) => true,
                syn::Expr::Binary(e) => binds(&e.left) || binds(&e.right),
                _ => false,
            }
        }
        if !binds(&e.left) && !binds(&e.right) {
            self.operators.insert(e.op.span().byte_range().start, e.span().byte_range());
        }
        visit::visit_expr_binary(self, e);
    }

    fn visit_expr_unary(&mut self, e: &'ast syn::ExprUnary) {
        self.operators.insert(e.op.span().byte_range().start, e.span().byte_range());
        visit::visit_expr_unary(self, e);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let (pat, guard) = match &arm.pat {
            syn::Pat::Guard(guarded) => (&*guarded.pat, Some(guarded.guard.span().byte_range())),
            pat => (pat, None),
        };
        self.arms.insert(arm.span().byte_range().start, (pat.span().byte_range(), guard));
        visit::visit_arm(self, arm);
    }
}

/// The edits of a file for these changes of the sample. A change without a place is left out.
fn edits(text: &str, sample: &[Change], changes: &[usize]) -> Result<Vec<Edit>> {
    let mut places = Places::default();
    let parsed = syn::parse_file(text);
    places.visit_file(&parsed.map_err(|e| crate::failed(format!("{}: {e}", sample[changes[0]].file)))?);
    let edit = |&i: &usize| edit(text, &places, &sample[i], i);
    Ok(changes.iter().filter_map(edit).collect())
}

fn edit(text: &str, places: &Places, change: &Change, i: usize) -> Option<Edit> {
    let (span, new) = (offset(text, change.span.start)?..offset(text, change.span.end)?, &change.replacement);
    let on = format!("::millstream_tensor::mutant({i})");
    let edit = |at, before, after| Edit { change: i, at, before, after };
    Some(match &*change.genre {
        "FnValue" => edit(span, format!("if {on} {{ return {new}; }} "), ""),
        "MatchArm" => match places.arms.get(&span.start)? {
            (_, Some(guard)) => edit(guard.clone(), format!("!{on} && ("), ")"),
            (pattern, None) => edit(pattern.end..pattern.end, format!(" if !{on}"), ""),
        },
        "BinaryOperator" | "UnaryOperator" | "MatchArmGuard" => {
            let whole = match &*change.genre {
                "MatchArmGuard" => span.clone(),
                _ => places.operators.get(&span.start)?.clone(),
            };
            let (left, right) = (text.get(whole.start..span.start)?, text.get(span.end..whole.end)?);
            edit(whole, format!("(if {on} {{ {left}{new}{right} }} else {{ "), " })")
        }
        _ => return None,
    })
}

/// The byte at a line and a column of characters, which start at 1.
fn offset(text: &str, (line, column): (usize, usize)) -> Option<usize> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let rest = text.get(start..)?;
    Some(start + rest.char_indices().nth(column.checked_sub(1)?).map_or(rest.len(), |(at, _)| at))
}

/// What the compiler complains of: places in files, and its words.
struct Errors {
    at: Vec<(String, usize)>,
    text: String,
}

/// Compiles some packages, or the tests, in the target folder of the tree, which holds the crates of others.
fn compile(tree: &Path, packages: Option<&Vec<String>>) -> Result<std::result::Result<Vec<Program>, Errors>> {
    let mut cargo = super::cargo();
    cargo.current_dir(tree).env("CARGO_TARGET_DIR", crate::target()?);
    match packages {
        Some(packages) => {
            cargo.args(["build", "--lib"]).args(packages.iter().flat_map(|p| ["-p", p]));
        }
        None => {
            cargo.args(["test", "--no-run", "--lib"]).args(PACKAGES.iter().flat_map(|p| ["-p", p]));
            cargo.args(TESTS.split_whitespace().flat_map(|test| ["--test", test]));
        }
    }
    cargo.arg("--message-format=json");
    let output = cargo.stderr(Stdio::inherit()).output();
    let output = output.map_err(|e| crate::failed(format!("cargo: {e}")))?;
    let (mut programs, mut errors) = (Vec::new(), Errors { at: Vec::new(), text: String::new() });
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(json) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        if let (Some(path), Some(manifest)) = (json["executable"].as_str(), json["manifest_path"].as_str()) {
            let folder = Path::new(manifest).parent().unwrap_or(tree).to_owned();
            let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{package}/{}", json["target"]["name"].as_str().unwrap_or_default());
            let program = Program { name, path: path.into(), module: None, folder };
            match json["target"]["name"] == "all" {
                true => programs.extend(modules(&program)?),
                false => programs.push(program),
            }
        }
        let message = &json["message"];
        if message["level"] == "error" {
            errors.text += message["rendered"].as_str().unwrap_or_default();
            for span in message["spans"].as_array().into_iter().flatten().filter(|s| s["is_primary"] == true)
            {
                let (file, at) = (span["file_name"].as_str(), span["byte_start"].as_u64());
                errors.at.extend(file.zip(at).map(|(file, at)| (local(file, tree), at as usize)));
            }
        }
    }
    Ok(if output.status.success() { Ok(programs) } else { Err(errors) })
}

/// The modules of a program whose tests are run, each as a program: one change needs few of them.
fn modules(program: &Program) -> Result<Vec<Program>> {
    let listed = std::process::Command::new(&program.path).args(["--list", "--format", "terse"]).output();
    let listed = String::from_utf8_lossy(&listed.map_err(at(&program.path))?.stdout).into_owned();
    let names = listed.lines().filter_map(|line| Some(line.split_once("::")?.0));
    let named: BTreeSet<&str> = names.filter(|name| MODULES.split_whitespace().any(|m| m == *name)).collect();
    let of = |name: &str| Program {
        name: format!("{}/{name}", program.name),
        path: program.path.clone(),
        module: Some(format!("{name}::")),
        folder: program.folder.clone(),
    };
    Ok(named.into_iter().map(of).collect())
}

/// A path of the compiler's, from the root of the tree on: `crates/exec/tests/model/../../src/poll.rs`.
fn local(file: &str, tree: &Path) -> String {
    let file = Path::new(file).strip_prefix(tree).unwrap_or(Path::new(file));
    let mut parts: Vec<_> = Vec::new();
    for part in file.iter() {
        match part == ".." {
            true => drop(parts.pop()),
            false => parts.push(part.to_string_lossy()),
        }
    }
    parts.join("/")
}
