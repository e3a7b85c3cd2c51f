//! What other libraries might say: verdicts, never a panic; what is accepted converts back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pantile_protocol::{Section, check, convert, json, normalise};

fuzz_target!(|text: &str| {
    let Ok(document) = json::read(text) else { return };
    let _ = document.findings();
    let Some(sections) = document.sections() else { return };
    let sections: &[Section] = sections;
    let findings = check(sections);
    let _ = normalise(sections);
    if let Ok(imported) = convert::import(sections) {
        let _ = imported.distribution.to_string();
        if findings.is_empty() && imported.distribution.mesh().size() <= 64 {
            let _ = convert::export(&imported.distribution, &imported.extras);
        }
    }
});
