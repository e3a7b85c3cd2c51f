//! Every primitive is the difference of two distributions: pinned examples.

use pantile_geometry::Distribution;
use pantile_plan::{Plan, Schedule};

fn parse(text: &str) -> Distribution {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Moved elements and messages of a movement; also its schedules and its adjoint.
fn check(name: &str, source: &str, target: &str, expected: (usize, usize)) {
    let (source, target) = (parse(source), parse(target));
    let plan = Plan::between(&source, &target).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!((plan.moved(), plan.messages()), expected, "{name}: {:?}", plan.matrix());
    for rank in 0..8 {
        let schedule = Schedule::between(&source, &target, rank).expect("as the plan");
        assert_eq!(schedule, plan.for_rank(rank), "{name} on rank {rank}");
    }
    let (from, to) = (target.dual().expect("sum"), source.dual().expect("sum"));
    let adjoint = plan.adjoint().expect("sum");
    assert_eq!(adjoint, Plan::between(&from, &to).expect("as the plan"), "{name}");
    assert_eq!(adjoint.adjoint().expect("sum"), plan, "{name}");
}

#[test]
fn the_ten_primitives() {
    let (blocks, copies) = ("8 on r=4: block(r)", "8 on r=4: whole");
    let (terms, halos) = ("8 on r=4: whole; sum(r)", "8 on r=4: block(r) halo 1");
    let (root, haloed) = ("8 on rank 0: whole", "8 on r=4: block(r) halo 1; sum(0)");
    check("scatter", root, blocks, (6, 3));
    check("gather", blocks, root, (6, 3));
    check("broadcast", root, copies, (24, 3));
    check("sum-reduce", terms, root, (24, 3));
    check("all-gather", blocks, copies, (24, 12));
    check("reduce-scatter", terms, blocks, (24, 12));
    check("all-sum-reduce", terms, copies, (96, 12));
    check("halo exchange", blocks, halos, (6, 6));
    check("halo accumulate", haloed, blocks, (6, 6));
    check(
        "rows to columns",
        "4x4 on r=4: block(r), whole",
        "4x4 on r=4: whole, block(r)",
        (12, 12),
    );
    check("copies to terms", copies, terms, (0, 0));
    check("copies to blocks", copies, blocks, (0, 0));
}
