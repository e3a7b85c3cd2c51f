//! Fuzzes [`pantile_fuzz::recipe`].
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| pantile_fuzz::recipe(text));
