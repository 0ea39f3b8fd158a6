//! Bytes of any kind as a graph file: no panic, no hang, memory within the limit.
//!
//! `cargo +nightly fuzz run import_graph_def`; what it finds becomes a file in `corpus/import_graph_def`, which
//! `crates/interop/tests/fuzz_smoke.rs` also starts from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millstream_graph::Graph;
use millstream_interop::{ImportOptions, export_graph_def, import_graph_def, read_graph};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_graph(bytes) else { return };
    let Ok(def) = file.graph_def() else { return };
    let graph = Graph::with_ops(millstream_ops::registry());
    let options = ImportOptions { memory_limit: 16 << 20, max_nodes: 20_000, ..ImportOptions::default() };
    match import_graph_def(&graph, def, &options) {
        Ok(_) => drop(export_graph_def(&graph)),
        Err(_) => assert!(graph.is_empty()),
    }
});
