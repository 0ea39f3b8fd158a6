//! Mutated graphs by the thousand: none panics, none hangs, none leaves nodes behind. The fuzz target (`fuzz/`) does the same for
//! longer and with coverage.

#![expect(clippy::print_stdout, reason = "a test may say what it did")]

use millstream_graph::Graph;
use millstream_interop::{ImportOptions, export_graph_def, import_graph_def, read_graph};
use millstream_proto::{AttrValue, GraphDef, decode, encode};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs};

const N_INPUTS: u64 = 20_000;

/// No input may take longer; a loaded machine is slow, so much longer than any does.
const LONGEST: Duration = Duration::from_secs(5);

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/import_graph_def");
    let mut paths: Vec<_> = fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|p| fs::read(p).unwrap()).collect()
}

/// Bytes changed, cut, doubled: most are no message any more.
fn mutate_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at.max(1)),
            3 => {
                let end = (at + random.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => drop(bytes.drain(at..(at + random.below(16)).min(bytes.len()))),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

/// Still a graph, but a wrong one: nodes, inputs, ops and attributes dropped, doubled, exchanged, sizes made huge.
fn mutate_graph(def: &mut GraphDef, donor: &GraphDef, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let functions = def.library.as_mut().map(|l| &mut l.function);
        let nodes = match functions {
            Some(functions) if !functions.is_empty() && random.below(2) == 0 => {
                let f = random.below(functions.len());
                if random.below(8) == 0 {
                    let other = functions[random.below(functions.len())].clone();
                    functions[f].node_def = other.node_def;
                }
                &mut functions[f].node_def
            }
            _ => &mut def.node,
        };
        if nodes.is_empty() {
            continue;
        }
        let (i, j) = (random.below(nodes.len()), random.below(nodes.len()));
        let other = nodes[j].clone();
        let node = &mut nodes[i];
        match random.below(10) {
            0 => drop(nodes.remove(i)),
            1 => node.input.push(other.name),
            2 => drop(node.input.pop()),
            3 => node.input.clone_from(&other.input),
            4 => node.op = other.op,
            5 => {
                let k = random.below(node.input.len());
                if let Some(input) = node.input.get_mut(k) {
                    *input = match random.below(3) {
                        0 => format!("{}:{}", other.name, random.below(4)),
                        1 => format!("^{}", other.name),
                        _ => other.name,
                    };
                }
            }
            6 => {
                let from = donor.node.get(random.below(donor.node.len())).unwrap_or(&other).clone();
                node.attr.extend(from.attr);
            }
            7 => {
                let k = random.below(node.attr.len());
                if let Some(key) = node.attr.keys().nth(k).cloned() {
                    node.attr.remove(&key);
                }
            }
            8 => {
                let k = random.below(node.attr.len());
                if let Some(value) = node.attr.values_mut().nth(k) {
                    distort(value, random);
                }
            }
            _ => {
                let k = random.below(donor.node.len());
                if let Some(from) = donor.node.get(k) {
                    node.op.clone_from(&from.op);
                    node.attr.clone_from(&from.attr);
                }
            }
        }
    }
}

fn distort(value: &mut AttrValue, random: &mut Random) {
    use millstream_proto::attr_value::Value;
    let extreme = [0, -1, 1, i64::MAX, i64::MIN, 1 << 40, 1 << 62, 7][random.below(8)];
    match &mut value.value {
        Some(Value::I(v)) => *v = extreme,
        Some(Value::Type(v)) => *v = random.below(130) as i32,
        Some(Value::Shape(s)) => {
            for d in &mut s.dim {
                d.size = extreme;
            }
            s.unknown_rank ^= random.below(3) == 0;
        }
        Some(Value::Tensor(t)) => match random.below(4) {
            0 => t.dtype = random.below(130) as i32,
            1 => t.tensor_content.truncate(random.below(t.tensor_content.len())),
            2 => t.int_val.iter_mut().for_each(|v| *v = extreme as i32),
            _ => {
                let dims = t.tensor_shape.get_or_insert_default();
                dims.dim
                    .push(millstream_proto::tensor_shape_proto::Dim { size: extreme, name: String::new() });
            }
        },
        Some(Value::List(l)) => {
            l.i.iter_mut().for_each(|v| *v = extreme);
            l.r#type.pop();
            l.func.pop();
        }
        Some(Value::S(s)) => s.truncate(random.below(s.len())),
        Some(Value::B(b)) => *b = !*b,
        other => *other = Some(Value::I(extreme)),
    }
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
    let mut n_imported = 0;
    for i in 0..n {
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
            Ok(imported) if took < LONGEST => n_imported += u64::from(imported),
            _ => {
                let path = env::temp_dir().join(format!("fuzz_smoke_{seed}_{i}.pb"));
                fs::write(&path, &bytes).unwrap();
                panic!("input {i} of seed {seed} panicked or took {took:?}; it is in {}", path.display());
            }
        }
    }
    println!("{n_imported} of {n} were still graphs");
}
