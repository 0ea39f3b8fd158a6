//! Other engines on the same loads: `bench --peers DIR`. Each runs `xtask/peers/peers.py` in a virtual
//! environment of its own, case by case, so that all are measured in the same minutes.

use super::report::{Bench, digits};
use crate::{failed, root};
use millstream::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

const ENGINES: [&str; 3] = ["tensorflow", "jax", "torch"];

/// The cases that the script knows.
const CASES: [&str; 7] = ["w1", "w2", "w3", "w4", "w5", "w9", "w10"];

/// The interpreters of the engines that are there.
pub(super) struct Peers(Vec<(&'static str, PathBuf)>);

impl Peers {
    pub(super) fn find(folder: &Path) -> Result<Peers> {
        let python = |engine: &&'static str| (*engine, folder.join(engine).join("bin/python"));
        let found: Vec<_> = ENGINES.iter().map(python).filter(|(_, python)| python.exists()).collect();
        if found.is_empty() {
            return Err(failed(format!("{} holds no environment of an engine", folder.display())).with_help(
                "for instance: python3 -m venv DIR/jax && DIR/jax/bin/pip install jax; the names are tensorflow, jax, torch",
            ));
        }
        Ok(Peers(found))
    }
}

/// A case and its variant, our figure, and those of the peers.
struct Line {
    what: String,
    unit: String,
    own: f64,
    peers: Vec<(&'static str, f64)>,
}

/// The figures of all, in the order in which they were measured.
#[derive(Default)]
pub(super) struct Table(Vec<Line>);

impl Table {
    /// Measures a case on the peers, beside what was just measured here.
    pub(super) fn add(&mut self, bench: &Bench, case: &str, peers: &Peers) -> Result<()> {
        if !CASES.contains(&case) {
            return Ok(());
        }
        let rows = bench.rows.borrow();
        let mut lines: Vec<Line> = rows
            .iter()
            .filter(|row| row.case == case)
            .map(|row| Line {
                what: format!("`{case}` {}", row.variant),
                unit: row.unit.clone(),
                own: row.value,
                peers: Vec::new(),
            })
            .collect();
        drop(rows);
        for (engine, python) in &peers.0 {
            for (variant, value) in measure(bench, engine, python, case)? {
                bench.note(&format!("{engine}: {variant} {}", digits(value)));
                let what = format!("`{case}` {variant}");
                if let Some(line) = lines.iter_mut().find(|line| line.what == what) {
                    line.peers.push((engine, value));
                }
            }
        }
        self.0.extend(lines.into_iter().filter(|line| !line.peers.is_empty()));
        Ok(())
    }

    /// Prints the table. The ratio is over 1 where Millstream is faster.
    pub(super) fn print(&self) {
        println!("\n| load | Millstream | best peer | ratio | others |\n|---|---|---|---|---|");
        for Line { what, unit, own, peers } in &self.0 {
            let is_time = unit.starts_with("ns");
            let mut peers = peers.clone();
            peers.sort_by(|a, b| if is_time { a.1.total_cmp(&b.1) } else { b.1.total_cmp(&a.1) });
            let Some(((best, value), others)) = peers.split_first() else { continue };
            let ratio = if is_time { value / own } else { own / value };
            let others: Vec<String> =
                others.iter().map(|(name, v)| format!("{name} {}", short(*v))).collect();
            let (own, value, others) = (short(*own), short(*value), others.join(", "));
            println!("| {what} | {own} {unit} | {best} {value} | {ratio:.2} | {others} |");
        }
    }
}

/// The variants of a case and their figures on one engine.
fn measure(bench: &Bench, engine: &str, python: &Path, case: &str) -> Result<Vec<(String, f64)>> {
    let (reps, threads) = (bench.reps.to_string(), bench.threads.to_string());
    let mut command = Command::new(python);
    command.arg(root().join("xtask/peers/peers.py")).args([
        engine,
        case,
        "--reps",
        &reps,
        "--threads",
        &threads,
    ]);
    let output = command.output().map_err(|e| failed(format!("{}: {e}", python.display())))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("{engine} could not be measured in `{case}`:\n{said}")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let field = |line: &str, name: &str| -> Option<String> {
        let rest = line.split_once(&format!("\"{name}\": "))?.1;
        Some(match rest.strip_prefix('"') {
            Some(text) => text.split_once('"')?.0.to_owned(),
            None => rest.split([',', '}']).next()?.to_owned(),
        })
    };
    let figure = |line| Some((field(line, "variant")?, field(line, "value")?.parse().ok()?));
    Ok(text.lines().filter(|line| line.starts_with('{')).filter_map(figure).collect())
}

/// A number with three digits and a unit of thousands.
fn short(value: f64) -> String {
    let (scaled, suffix) = match value {
        v if v >= 1e9 => (v / 1e9, " G"),
        v if v >= 1e6 => (v / 1e6, " M"),
        v if v >= 1e4 => (v / 1e3, " k"),
        v => (v, ""),
    };
    let places = (2 - scaled.abs().max(1.0).log10().floor() as i32).max(0) as usize;
    format!("{scaled:.places$}{suffix}")
}
