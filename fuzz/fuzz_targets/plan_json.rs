//! Any text is JSON or a fault, a plan or a fault; both survive writing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pantile_plan::{Plan, json};

fuzz_target!(|text: &str| {
    let Ok(value) = json::parse(text) else { return };
    assert_eq!(json::parse(&value.to_string()).expect("what is written reads"), value);
    assert_eq!(json::parse(&value.to_indented()).expect("what is written reads"), value);
    let Ok(plan) = Plan::from_json(text) else { return };
    assert_eq!(Plan::from_json(&plan.to_json().to_string()).expect("a plan"), plan);
});
