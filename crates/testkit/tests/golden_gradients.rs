//! Every golden gradient: of graphs that TensorFlow 1.15 wrote, with its contexts and without, our gradients are what it computed.

use millstream_testkit::gradients::GoldenGradients;
use millstream_testkit::graphs::{folders, round_trip};
use millstream_testkit::report::Report;
use millstream_testkit::tiers::{DATAFLOW, Setting, TIERS};
use std::path::{Path, PathBuf};

/// Cases that fail today, with the reason.
const KNOWN: &[(&str, &str)] = &[];

/// One iteration at a time.
const ONE_ITERATION: Setting = Setting { threads: 1, parallel_iterations: Some(1), ..DATAFLOW };

fn check(folder: &Path) -> Result<(), String> {
    let case = GoldenGradients::load(folder)?;
    for with_contexts in [true, false] {
        if !with_contexts && !case.plain {
            continue;
        }
        let how = if with_contexts { "with contexts" } else { "without contexts" };
        let graph = case.import(with_contexts)?;
        let outputs = case.add(&graph).map_err(|e| format!("{how}: {e}"))?;
        for setting in TIERS.iter().chain([&ONE_ITERATION]) {
            case.check(&graph, &outputs, setting).map_err(|e| format!("{how}: {e}"))?;
        }
        round_trip(&graph).map_err(|e| format!("{how}: {e}"))?;
    }
    Ok(())
}

#[test]
fn golden_gradients() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/gradients");
    let mut report = Report::new();
    for folder in folders(&root).unwrap() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let reason = KNOWN.iter().find(|(case, _)| *case == name).map(|(_, reason)| *reason);
        report.run(&name, reason, || check(&folder));
    }
    assert!(report.passed() > 0, "no golden gradients under {}", root.display());
    report.finish("golden gradients");
}
