//! Runs the inputs in `corpus`, seeds and findings alike, through their targets, without libFuzzer: none
//! panics or hangs.

use millstream_fuzz::targets;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The time limit of an input. It is far above what any input needs, since the machine may be loaded.
const LONGEST: Duration = Duration::from_secs(20);

#[track_caller]
fn check(target: &str, run: fn(&[u8])) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let start = Instant::now();
        let ran = std::panic::catch_unwind(|| run(&bytes));
        assert!(ran.is_ok() && start.elapsed() < LONGEST, "{} took {:?}", path.display(), start.elapsed());
    }
}

macro_rules! targets {
    ($($name:ident),*) => { $(
        #[test]
        fn $name() {
            check(stringify!($name), targets::$name);
        }
    )* };
}
targets!(
    graph_def,
    meta_graph_def,
    graph_def_text,
    graph_text,
    npy,
    feed,
    checkpoint,
    records,
    example,
    saved_model,
    event_file,
    checkpoint_merge,
    csv_json,
    store_element
);
