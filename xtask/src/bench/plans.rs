//! The time that plans of the golden graphs take, and how their loops run.

use super::cases::session;
use super::report::Bench;
use millstream::engine::graph::outline::{Ends, Outline};
use millstream::engine::interop::{ImportOptions, read_graph};
use millstream::engine::runtime::{FetchList, Target};
use millstream::prelude::*;
use millstream::{LoopWay, Tier};
use std::collections::BTreeMap;
use std::time::Instant;

/// How the loops of some graphs run.
#[derive(Default)]
struct Loops {
    compiled: usize,
    all: usize,
    /// How often each reason keeps a loop from being compiled, by op type and reason.
    reasons: BTreeMap<(String, &'static str), usize>,
}

/// Plans a run of all that each golden graph gives, without machine code and with it. A plan's time includes
/// the program, its verification and the report on it; that of machine code, writing it as text.
pub(super) fn plans(b: &Bench) -> Result<()> {
    let (mut planned, mut compiled) = (Vec::new(), Vec::new());
    let mut loops = Loops::default();
    let root = crate::root().join("tests/golden/graphs");
    let io = |e: std::io::Error| Error::internal(format!("plan: {e}"));
    let mut folders: Vec<_> =
        std::fs::read_dir(&root).map_err(io)?.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders {
        let Ok(bytes) = std::fs::read(folder.join("graph.pb")) else { continue };
        let g = Graph::new();
        if read_graph(&bytes).and_then(|file| file.import(&g, &ImportOptions::default())).is_err() {
            continue;
        }
        let ends = g.read(|g| Ok::<_, Error>(Ends::of(g, &Outline::of(g)?)))?;
        let values = ends.outputs.iter().map(|port| Target::Value(*port));
        let fetches: Vec<Target> =
            values.chain(ends.operations.iter().map(|op| Target::Operation(*op))).collect();
        let s = session(&g, b)?;
        let list = || FetchList(fetches.clone());
        let explain = || s.explain(list(), []);
        let Ok(explanation) = explain() else { continue };
        loops.count(&g, &explanation);
        let time = |work: &dyn Fn() -> bool| {
            let times = (0..b.reps.max(1)).map(|_| {
                let start = Instant::now();
                work().then(|| start.elapsed().as_secs_f64() * 1e3)
            });
            times.flatten().fold(f64::INFINITY, f64::min)
        };
        planned.push(time(&|| explain().is_ok()));
        compiled.push(time(&|| s.disassembly(list(), []).is_ok()));
    }
    b.emit("plan", "golden graphs", planned.len(), planned, "ms", &[]);
    b.emit("plan", "golden graphs, with machine code", compiled.len(), compiled, "ms", &[]);
    b.note(&format!("{} of {} loops are compiled", loops.compiled, loops.all));
    let mut reasons: Vec<_> = loops.reasons.into_iter().collect();
    reasons.sort_by_key(|(why, n)| (usize::MAX - n, why.clone()));
    for ((op, why), n) in reasons.iter().take(12) {
        b.note(&format!("{n:4}  {op} {why}"));
    }
    Ok(())
}

impl Loops {
    fn count(&mut self, g: &Graph, explanation: &millstream::Explanation) {
        if explanation.tier != Tier::Compiled {
            return;
        }
        for it in explanation.places.iter().filter_map(|place| place.of_loop.as_ref()) {
            self.all += 1;
            match &it.way {
                LoopWay::Code | LoopWay::Within | LoopWay::InRun { .. } => self.compiled += 1,
                LoopWay::Tokens => *self.reasons.entry(("a loop".to_owned(), "is watched")).or_default() += 1,
                LoopWay::Because { node, why } => {
                    let op =
                        g.operation(node).map_or_else(|_| "a node".to_owned(), |op| op.op_type().to_owned());
                    *self.reasons.entry((op, why)).or_default() += 1;
                }
            }
        }
    }
}
