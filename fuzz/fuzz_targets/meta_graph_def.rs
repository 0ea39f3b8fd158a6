//! See `millstream_fuzz::targets::meta_graph_def`. Every other input is made by corrupting the graph in the
//! message.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use millstream_fuzz::targets;
use millstream_proto::{MetaGraphDef, decode, encode};
use millstream_testkit::mutate::{Random, mutate_graph};

fuzz_target!(|bytes: &[u8]| targets::meta_graph_def(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    if let Ok(mut meta) = decode::<MetaGraphDef>(&data[..size])
        && let Some(mut def) = meta.graph_def.take()
        && random.below(2) == 0
    {
        let donor = def.clone();
        mutate_graph(&mut def, &donor, &mut random);
        meta.graph_def = Some(def);
        let bytes = encode(&meta);
        if bytes.len() <= max_size {
            data[..bytes.len()].copy_from_slice(&bytes);
            return bytes.len();
        }
    }
    fuzzer_mutate(data, size, max_size)
});
