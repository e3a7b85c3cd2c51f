//! Two distributions, a line each: the movement between them is right or refused, on every rank.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pantile_geometry::Distribution;
use pantile_plan::{Plan, Schedule, Totals, Transfer};

fuzz_target!(|text: &str| {
    let Some((one, other)) = text.split_once('\n') else { return };
    let (Ok(source), Ok(target)) = (one.parse::<Distribution>(), other.parse::<Distribution>())
    else {
        return;
    };
    if [&source, &target].iter().any(|side| side.size() > 256 || side.mesh().size() > 16) {
        for rank in [0, 7] {
            let _ = Schedule::between(&source, &target, rank);
        }
        return;
    }
    match Plan::between(&source, &target) {
        Ok(plan) => {
            assert!(plan.check().is_empty(), "{plan}\n{:?}", plan.check());
            let transfers: Vec<Transfer> = plan.transfers().cloned().collect();
            assert_eq!(Totals::between(&source, &target), Ok(Totals::of(&transfers)));
            for rank in source.mesh().ranks().chain(target.mesh().ranks()) {
                let alone = Schedule::between(&source, &target, rank).expect("as the plan");
                assert_eq!(alone, plan.for_rank(rank));
            }
            if let (Ok(from), Ok(to)) = (target.dual(), source.dual()) {
                let adjoint = plan.adjoint().expect("both have duals");
                assert_eq!(adjoint, Plan::between(&from, &to).expect("the adjoint"));
            }
            let _ = plan.within(64, 8).expect("elements of 8 bytes fit");
        }
        Err(error) => {
            assert_eq!(Schedule::between(&source, &target, 0), Err(error));
        }
    }
});
