//! See `millstream_fuzz::targets::saved_model`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| millstream_fuzz::targets::saved_model(bytes));
