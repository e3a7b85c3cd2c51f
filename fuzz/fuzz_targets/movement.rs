//! Fuzzes [`pantile_fuzz::movement`].
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| pantile_fuzz::movement(text));
