//! Fuzzes [`pantile_fuzz::layer_halo`].
#![no_main]

libfuzzer_sys::fuzz_target!(|numbers: [u8; 12]| pantile_fuzz::layer_halo(numbers));
