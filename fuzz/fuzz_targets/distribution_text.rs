//! Fuzzes [`pantile_fuzz::distribution_text`].
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| pantile_fuzz::distribution_text(text));
