//! See `millstream_fuzz::targets::graph_def_text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| millstream_fuzz::targets::graph_def_text(bytes));
