//! See `millstream_fuzz::targets::checkpoint_merge`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| millstream_fuzz::targets::checkpoint_merge(bytes));
