//! Headers of array files: read or refused; what was read is written back and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pantile_protocol::{dnpy, literal, npy};

fuzz_target!(|bytes: &[u8]| {
    if let Ok((header, _)) = npy::Header::read(bytes) {
        let written = header.write().expect("a header that was read");
        let (again, _) = npy::Header::read(&written).expect("what is written reads");
        assert_eq!(again, header);
    }
    let _ = dnpy::read(bytes);
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(value) = literal::parse(text)
    {
        // Buffers have no spelling as a literal: writing may refuse.
        if let Ok(written) = literal::write(&value) {
            assert_eq!(literal::parse(&written).expect("what is written reads"), value);
        }
    }
});
