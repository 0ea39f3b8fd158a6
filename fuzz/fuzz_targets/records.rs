//! See `millstream_fuzz::targets::records`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| millstream_fuzz::targets::records(bytes));
