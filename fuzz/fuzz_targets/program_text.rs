//! Fuzzes [`pantile_fuzz::program_text`].
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| pantile_fuzz::program_text(text));
