//! Fuzzes [`pantile_fuzz::protocol_json`].
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| pantile_fuzz::protocol_json(text));
