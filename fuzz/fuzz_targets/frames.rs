//! Fuzzes [`pantile_fuzz::frames`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pantile_fuzz::frames(bytes));
