//! Any text is a plan or a fault; a plan survives printing and checking.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pantile_plan::Plan;

fuzz_target!(|text: &str| {
    let Ok(plan) = text.parse::<Plan>() else { return };
    let printed = plan.to_string();
    assert_eq!(printed.parse::<Plan>().expect("what is printed parses"), plan);
    let json = plan.to_json().to_string();
    assert_eq!(Plan::from_json(&json).expect("what is written reads"), plan);
    let small = |plan: &Plan| {
        plan.steps().iter().all(|step| {
            step.source.size() <= 4096
                && step.source.mesh().size() <= 64
                && step.target.mesh().size() <= 64
        })
    };
    if small(&plan) {
        let _ = plan.check();
    }
});
