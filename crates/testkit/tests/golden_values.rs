//! Every golden value of a single op, in every tier.

use millstream_testkit::report::Report;
use millstream_testkit::tiers::TIERS;
use millstream_testkit::values::Family;
use std::path::PathBuf;

/// Entries that fail today, with the reason.
const KNOWN: &[(&str, &str)] = &[
    ("control: NextIteration #3", "outside of a loop it is an error here"),
    ("nn: FusedBatchNorm #79", "given statistics are passed on here; TensorFlow leaves them uninitialized"),
    ("shape: SplitV #181", "a -1 for the only part is taken here, and refused by TensorFlow"),
    ("shape: SplitV #182", "a -1 for the only part is taken here, and refused by TensorFlow"),
    ("sort: TopKV2 #12", "NaN comes last here, and wherever its heap leaves it in TensorFlow"),
    ("sort: TopKV2 #14", "sorted all the same, where TensorFlow leaves its heap's order"),
    ("unary: Sign #146", "the last digit of a complex quotient"),
    ("unary: Log1p #178", "the phase of zero, which is NaN in TensorFlow"),
];

/// The reason why this entry is known to fail, if it is.
fn reason(name: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(case, _)| name == *case).map(|(_, reason)| *reason)
}

#[test]
fn golden_values() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/ops");
    let mut files: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "json"));
    files.sort();
    let mut report = Report::new();
    for file in files {
        let family = Family::load(&file).unwrap();
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        for (name, entry) in family.entries() {
            let name = format!("{stem}: {name}");
            report.run(&name, reason(&name), || TIERS.iter().try_for_each(|setting| entry.check(setting)));
        }
    }
    assert!(report.passed() > 0);
    report.finish("golden values");
}
