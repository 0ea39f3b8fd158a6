//! See `millstream_fuzz::targets::event_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| millstream_fuzz::targets::event_file(bytes));
