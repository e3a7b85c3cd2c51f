//! Fuzzes [`pantile_fuzz::headers`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pantile_fuzz::headers(bytes));
