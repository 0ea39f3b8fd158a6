//! Every golden graph, in every tier: the values that TensorFlow computed.

use millstream_graph::Graph;
use millstream_interop::export_graph_def;
use millstream_tensor::Error;
use millstream_testkit::graphs::{GoldenGraph, folders, round_trip};
use millstream_testkit::report::Report;
use millstream_testkit::tiers::{DATAFLOW, Setting, TIERS};
use std::path::{Path, PathBuf};

/// Cases that fail today, with the reason.
const KNOWN: &[(&str, &str)] = &[];

/// Every kernel may run on any thread.
const HANDED_OUT: Setting = Setting { threads: 4, hand_out_all: true, ..DATAFLOW };

/// One thread, one iteration at a time.
const ONE_ITERATION: Setting = Setting { threads: 1, parallel_iterations: Some(1), ..DATAFLOW };

fn run(root: &Path, known: &[(&str, &str)]) -> Report {
    let mut report = Report::new();
    for folder in folders(root).unwrap() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let reason = known.iter().find(|(case, _)| *case == name).map(|(_, reason)| *reason);
        report.run(&name, reason, || check(&folder));
    }
    report
}

fn check(folder: &Path) -> Result<(), String> {
    let case = GoldenGraph::load(folder)?;
    let graph = case.import()?;
    same_text(&graph)?;
    TIERS.iter().try_for_each(|setting| case.check(&graph, setting))?;
    // Other settings must give the same values, and so must the exported graph.
    for setting in [HANDED_OUT, ONE_ITERATION] {
        case.check(&graph, &setting)?;
    }
    let back = round_trip(&graph)?;
    case.check(&back, &DATAFLOW).map_err(|e| format!("after a round trip: {e}"))
}

/// Checks that the text form parses to a graph that prints the same and is the same GraphDef.
fn same_text(graph: &Graph) -> Result<(), String> {
    let text = graph.to_text();
    let say = |e: Error| format!("text form: {e}");
    let back = Graph::parse(&text, millstream_ops::registry()).map_err(say)?;
    if let Some((a, b)) = text.lines().zip(back.to_text().lines()).find(|(a, b)| a != b) {
        return Err(format!("text form: printed\n  {a}\nread back\n  {b}"));
    }
    match export_graph_def(graph).map_err(say)? == export_graph_def(&back).map_err(say)? {
        true => Ok(()),
        false => Err("another GraphDef after printing and parsing the text form".into()),
    }
}

#[test]
fn golden_graphs() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/graphs");
    let report = run(&root, KNOWN);
    assert!(report.passed() > 0, "no golden graphs under {}", root.display());
    report.finish("golden graphs");
}

/// Imported functional forms have the gradients that TensorFlow 2 computed, and so has the exported graph.
#[test]
fn gradients_of_functional_forms() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/graphs");
    let mut report = Report::new();
    for folder in folders(&root).unwrap() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("tf2_diff_") || name == "tf2_gradient_if" {
            report.run(&name, None, || {
                let case = GoldenGraph::load(&folder)?;
                let graph = case.import()?;
                let back = round_trip(&graph)?;
                TIERS.iter().try_for_each(|setting| case.check_gradients(&graph, setting))?;
                case.check_gradients(&back, &DATAFLOW).map_err(|e| format!("after a round trip: {e}"))
            });
        }
    }
    let passed = report.passed();
    report.finish("gradients of functional forms");
    assert!(8 < passed, "golden gradients are missing under {}", root.display());
}

/// Runs graphs of another folder by hand: `MILLSTREAM_GOLDEN=DIRECTORY cargo test -p millstream-testkit
/// --test all golden_graphs:: -- --nocapture`.
#[test]
fn graphs_elsewhere() {
    if let Ok(root) = std::env::var("MILLSTREAM_GOLDEN") {
        run(Path::new(&root), &[]).finish(&root);
    }
}
