//! See `millstream_fuzz::targets::graph_def`. Most inputs are made by corrupting a graph instead of its
//! bytes, so that they get past the parser. With `FUZZ_SEEDS=DIR`, the seeds of all targets are first written
//! to DIR, one folder per target.
#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use millstream_fuzz::{seeds, targets};
use millstream_proto::{GraphDef, decode, encode};
use millstream_testkit::mutate::{Random, mix_graphs, mutate_graph};

fuzz_target!(init: seeds::write_if_asked(), |bytes: &[u8]| targets::graph_def(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    let Ok(mut def) = decode::<GraphDef>(&data[..size]) else { return fuzzer_mutate(data, size, max_size) };
    if random.below(8) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let donor = def.clone();
    mutate_graph(&mut def, &donor, &mut random);
    match put(&def, &mut data[..max_size]) {
        0 => size,
        n => n,
    }
});

fuzz_crossover!(|data1: &[u8], data2: &[u8], out: &mut [u8], seed: u32| {
    let (Ok(mut def), Ok(donor)) = (decode::<GraphDef>(data1), decode::<GraphDef>(data2)) else { return 0 };
    mix_graphs(&mut def, &donor, &mut Random(seed.into()));
    put(&def, out)
});

/// Writes a graph if it fits. Returns its length, or 0.
fn put(def: &GraphDef, to: &mut [u8]) -> usize {
    let bytes = encode(def);
    match to.get_mut(..bytes.len()) {
        Some(to) => to.copy_from_slice(&bytes),
        None => return 0,
    }
    bytes.len()
}
