//! See `millstream_fuzz::targets::store_element`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| millstream_fuzz::targets::store_element(bytes));
