//! Costs: bytes and messages per class of link, time, peak memory.

use std::collections::{BTreeMap, BTreeSet};

use pantile_geometry::Distribution;
use pantile_plan::{Estimate, LinkClass, Machine, Plan, Traffic};
use pantile_testkit::{cases, generate};

fn parse(text: &str) -> Distribution {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Four ranks, two per process, on one node or on two.
#[test]
fn links_by_placement() {
    let plan = Plan::between(&parse("8 on r=4: block(r)"), &parse("8 on r=4: whole"));
    let plan = plan.expect("no gaps");
    let traffic = |bytes, messages| Traffic { bytes, messages };
    let one_node = plan.estimate(&Machine::default().with_ranks(2, 4), 8);
    assert_eq!(one_node.links, [traffic(64, 4), traffic(128, 8), traffic(0, 0)]);
    let two_nodes = plan.estimate(&Machine::default().with_ranks(1, 2), 8);
    assert_eq!(two_nodes.links, [traffic(0, 0), traffic(64, 4), traffic(128, 8)]);
    assert!(two_nodes.seconds > one_node.seconds, "the network is slower");
    // Two elements before, eight after, two sent to each of three, six received.
    assert_eq!(one_node.peak_bytes, 8 * (2 + 8 + 6 + 6));
    assert_eq!((one_node.kept_bytes, one_node.moved_bytes()), (64, 192));
}

/// The time of one message is its latency and its bytes; rounds add up.
#[test]
fn time_of_a_message() {
    let plan = Plan::between(&parse("1000 on rank 0: whole"), &parse("1000 on rank 1: whole"));
    let plan = plan.expect("no gaps");
    let machine = Machine::default().with_ranks(1, 1);
    let link = machine.links[LinkClass::Network as usize];
    let seconds = plan.estimate(&machine, 8).seconds;
    assert!((seconds - (link.latency + 8000.0 / link.bandwidth)).abs() < 1e-12);
    let halves = plan.within(8 * 500, 8).expect("it fits").estimate(&machine, 8);
    assert!((halves.seconds - (2.0 * link.latency + 8000.0 / link.bandwidth)).abs() < 1e-12);
}

/// Against a direct count of the transfers; and looking at every rank alone gives the same as
/// looking at the whole plan.
#[test]
fn estimates_are_counts_of_the_transfers() {
    cases("cost", 4_000, |rng| {
        let case = generate::legal_pair(rng);
        let made = |spec| crate::common::distribution(spec).expect("a distribution");
        let (source, target) = (made(&case.source), made(&case.target));
        let machine = Machine::default().with_ranks(1 + rng.below(3), 1 + rng.below(6));
        let plan = Plan::between(&source, &target).expect("legal");
        let estimate = plan.estimate(&machine, 4);
        let mut bytes: BTreeMap<LinkClass, u128> = BTreeMap::new();
        let mut pairs: BTreeMap<LinkClass, BTreeSet<(usize, usize)>> = BTreeMap::new();
        for transfer in plan.transfers().filter(|transfer| transfer.travels()) {
            let class = machine.class(transfer.from, transfer.to);
            *bytes.entry(class).or_default() += 4 * transfer.region.cells().len() as u128;
            pairs.entry(class).or_default().insert((transfer.from, transfer.to));
        }
        for (class, traffic) in LinkClass::ALL.into_iter().zip(estimate.links) {
            assert_eq!(traffic.bytes, bytes.get(&class).copied().unwrap_or(0));
            assert_eq!(traffic.messages, pairs.get(&class).map_or(0, BTreeSet::len) as u128);
        }
        let ends = (&source, &target);
        let alone = Estimate::between(ends, &machine, 4, 1_000).expect("legal");
        assert_eq!((alone.links, alone.kept_bytes), (estimate.links, estimate.kept_bytes));
        assert!((alone.seconds - estimate.seconds).abs() <= 1e-12, "{source}\n{target}");
    });
}
