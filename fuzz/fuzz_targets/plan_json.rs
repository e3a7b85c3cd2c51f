//! Fuzzes [`pantile_fuzz::plan_json`].
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| pantile_fuzz::plan_json(text));
