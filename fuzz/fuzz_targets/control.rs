//! Fuzzes [`pantile_fuzz::control`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pantile_fuzz::control(bytes));
