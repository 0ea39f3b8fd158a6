//! Thousands of corrupted graphs: none panics, hangs, or leaves nodes behind. The fuzz target (`fuzz/`) does
//! the same for longer and with coverage.

#![expect(clippy::print_stdout, reason = "a test may say what it did")]

use millstream_graph::Graph;
use millstream_interop::{ImportOptions, export_graph_def, import_graph_def, read_graph};
use millstream_proto::{GraphDef, decode, encode};
use millstream_testkit::mutate::{Random, mutate_bytes, mutate_graph};
use millstream_testkit::workers::on_all_cores;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs};

const N_INPUTS: u64 = 20_000;

/// The time limit of an input. It is far above what any input needs, since the machine may be loaded.
const LONGEST: Duration = Duration::from_secs(5);

fn corpus() -> Vec<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/graph_def");
    let mut paths: Vec<_> = fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    // Inputs that the fuzzer kept are named by a hash and need not be graphs.
    paths.retain(|p| p.extension().is_some_and(|e| e == "pb"));
    paths.sort();
    paths.into_iter().map(|p| fs::read(p).unwrap()).collect()
}

fn import(bytes: &[u8]) -> bool {
    let Ok(file) = read_graph(bytes) else { return false };
    let Ok(def) = file.graph_def() else { return false };
    let graph = Graph::with_ops(millstream_ops::registry());
    let options = ImportOptions { memory_limit: 16 << 20, max_nodes: 20_000, ..ImportOptions::default() };
    match import_graph_def(&graph, def, &options) {
        Ok(_) => {
            export_graph_def(&graph).unwrap();
            true
        }
        Err(_) => {
            assert!(graph.is_empty());
            false
        }
    }
}

#[test]
fn mutated_graphs_are_imported_or_refused() {
    let seed: u64 = env::var("FUZZ_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let n: u64 = env::var("FUZZ_INPUTS").ok().and_then(|s| s.parse().ok()).unwrap_or(N_INPUTS);
    println!("FUZZ_SEED={seed} FUZZ_INPUTS={n}");
    let corpus = corpus();
    let inputs: Vec<u64> = (0..n).collect();
    let imported = on_all_cores(&inputs, |&i| {
        let mut random = Random(seed.wrapping_mul(0x1_0000_0001).wrapping_add(i));
        let mut bytes = corpus[random.below(corpus.len())].clone();
        if random.below(4) == 0 {
            mutate_bytes(&mut bytes, &mut random);
        } else {
            let donor: GraphDef = decode(&corpus[random.below(corpus.len())]).unwrap();
            let mut def: GraphDef = decode(&bytes).unwrap();
            mutate_graph(&mut def, &donor, &mut random);
            bytes = encode(&def);
        }
        let start = Instant::now();
        let outcome = std::panic::catch_unwind(|| import(&bytes));
        let took = start.elapsed();
        match outcome {
            Ok(imported) if took < LONGEST => imported,
            _ => {
                let path = env::temp_dir().join(format!("mutated_{seed}_{i}.pb"));
                fs::write(&path, &bytes).unwrap();
                panic!("input {i} of seed {seed} panicked or took {took:?}; it is in {}", path.display());
            }
        }
    });
    let n_imported = imported.into_iter().filter(|imported| *imported).count();
    println!("{n_imported} of {n} were still graphs");
}
