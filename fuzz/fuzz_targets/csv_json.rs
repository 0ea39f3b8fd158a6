//! See `millstream_fuzz::targets::csv_json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| millstream_fuzz::targets::csv_json(bytes));
