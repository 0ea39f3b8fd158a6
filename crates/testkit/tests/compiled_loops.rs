//! How many loops of the golden graphs run as code, and why the others do not.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream_graph::Graph;
use millstream_runtime::{Explanation, LoopWay};
use millstream_testkit::graphs::{GoldenGraph, folders};
use millstream_testkit::tiers::COMPILED;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How the loops of some graphs run.
#[derive(Default)]
struct Loops {
    all: usize,
    code: usize,
    in_run: usize,
    /// For each reason, by op type and words, the graphs whose loops it keeps from being code.
    reasons: BTreeMap<(String, &'static str), Vec<String>>,
}

impl Loops {
    fn count(&mut self, name: &str, g: &Graph, explanation: &Explanation) {
        for it in explanation.places.iter().filter_map(|place| place.of_loop.as_ref()) {
            self.all += 1;
            match &it.way {
                LoopWay::Code | LoopWay::Within => self.code += 1,
                LoopWay::InRun { .. } => self.in_run += 1,
                LoopWay::Tokens => panic!("{name}: the tier compiles loops"),
                LoopWay::Because { node, why } => {
                    let op = g.operation(node).map_or_else(|_| "?".to_owned(), |op| op.op_type().to_owned());
                    self.reasons.entry((op, why)).or_default().push(name.to_owned());
                }
            }
        }
    }

    fn print(&self, when: &str) {
        println!("{when}: {} of {} loops are code, {} may be", self.code, self.all, self.in_run);
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, names)| usize::MAX - names.len());
        for ((op, why), names) in reasons {
            let mut shown = names.clone();
            shown.dedup();
            println!("{:4}  {op} {why}: {}", names.len(), shown.join(" "));
        }
    }
}

#[test]
fn most_loops_of_golden_graphs_are_code() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/graphs");
    let (mut before, mut after) = (Loops::default(), Loops::default());
    for folder in folders(&root).unwrap() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let case = GoldenGraph::load(&folder).unwrap();
        let graph = case.import().unwrap();
        // What fails before it runs has no loops.
        let Ok([planned, ran]) = case.explanations(&graph, &COMPILED) else { continue };
        before.count(&name, &graph, &planned);
        after.count(&name, &graph, &ran);
    }
    before.print("before the first run");
    after.print("after it");
    assert_eq!(before.all, after.all);
    assert!(193 <= before.code && 232 <= after.code, "{} {}", before.code, after.code);
}
