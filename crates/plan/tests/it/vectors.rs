//! Numbers worked out elsewhere: repartitions, halo plans, values.

use std::collections::BTreeMap;

use pantile_geometry::Distribution;
use pantile_plan::{Error, Plan, Schedule, Transfer};

fn parse(text: &str) -> Distribution {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn between(source: &str, target: &str) -> Plan {
    let (source, target) = (parse(source), parse(target));
    Plan::between(&source, &target).unwrap_or_else(|error| panic!("{source} -> {target}: {error}"))
}

/// `(from, to, (start, stop) in the sender's block, (start, stop) in the receiver's)` on axis 0.
type Piece = (usize, usize, (usize, usize), (usize, usize));

fn pieces(plan: &Plan) -> Vec<Piece> {
    let step = &plan.steps()[0];
    let local = |side: &Distribution, rank: usize, transfer: &Transfer| {
        let (low, high) = transfer.region.axes()[0].hull().expect("not empty");
        let rest = transfer.region.axes()[1..].iter().map(|set| set.hull().expect("not empty").0);
        let index: Vec<usize> = [low].into_iter().chain(rest).collect();
        let start = side.local(rank, &vec![0; index.len()], &index).expect("held")[0];
        (start, start + high - low)
    };
    let piece = |transfer: &Transfer| {
        let from = local(&step.source, transfer.from, transfer);
        (transfer.from, transfer.to, from, local(&step.target, transfer.to, transfer))
    };
    step.transfers().map(piece).collect()
}

#[test]
fn overlaps_of_balanced_blocks() {
    let on = |ranks: usize, length: usize| format!("{length} on r={ranks}: block(r)");
    let want: Vec<Piece> = vec![
        (0, 0, (0, 3), (0, 3)),
        (1, 0, (0, 1), (3, 4)),
        (1, 1, (1, 3), (0, 2)),
        (2, 1, (0, 1), (2, 3)),
        (2, 2, (1, 2), (0, 1)),
        (3, 2, (0, 2), (1, 3)),
    ];
    assert_eq!(pieces(&between(&on(4, 10), &on(3, 10))), want);
    let want: Vec<Piece> = vec![
        (0, 0, (0, 4), (0, 4)),
        (1, 0, (0, 2), (4, 6)),
        (1, 1, (2, 4), (0, 2)),
        (2, 1, (0, 3), (2, 5)),
        (3, 1, (0, 1), (5, 6)),
        (3, 2, (1, 3), (0, 2)),
        (4, 2, (0, 3), (2, 5)),
    ];
    assert_eq!(pieces(&between(&on(5, 17), &on(3, 17))), want);
}

#[test]
fn rows_to_a_two_by_two_grid() {
    let plan =
        between("7x5 on a=4, b=1: block(a), block(b)", "7x5 on a=2, b=2: block(a), block(b)");
    let volumes: Vec<(usize, usize, usize)> =
        plan.transfers().map(|t| (t.from, t.to, t.size())).collect();
    let want =
        [(0, 0, 6), (0, 1, 4), (1, 0, 6), (1, 1, 4), (2, 2, 6), (2, 3, 4), (3, 2, 3), (3, 3, 2)];
    assert_eq!(volumes, want);
    let rows: Vec<(usize, usize)> = pieces(&plan).into_iter().map(|piece| piece.3).collect();
    let into = [(0, 2), (0, 2), (2, 4), (2, 4), (0, 2), (0, 2), (2, 3), (2, 3)];
    assert_eq!(rows, into);
}

/// Values of whole tiles: source tiles filled with rank + 1.
fn moved(plan: &Plan) -> BTreeMap<usize, Vec<i64>> {
    let step = &plan.steps()[0];
    let mut tiles: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for rank in step.target.mesh().ranks() {
        let shape = step.target.local_shape(rank).expect("in the team");
        tiles.insert(rank, vec![0; shape.iter().product()]);
    }
    for transfer in step.transfers() {
        let shape = step.target.local_shape(transfer.to).expect("in the team");
        let slab = step.target.slab(transfer.to, &[], &transfer.region).expect("held");
        let tile = tiles.get_mut(&transfer.to).expect("in the team");
        for at in slab.offsets(&shape) {
            tile[at] += i64::try_from(transfer.from).expect("small") + 1;
        }
    }
    tiles
}

#[test]
fn repartition_values_and_adjoint() {
    let plan =
        between("7x5 on a=4, b=1: block(a), block(b)", "7x5 on a=2, b=2: block(a), block(b)");
    let got = moved(&plan);
    assert_eq!(got[&0], [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    assert_eq!(got[&3], [3, 3, 3, 3, 4, 4]);
    let back = moved(&plan.adjoint().expect("copies"));
    for rank in [0, 1] {
        assert_eq!(back[&rank], [1, 1, 1, 2, 2].repeat(2));
    }
    assert_eq!(back[&2], [3, 3, 3, 4, 4].repeat(2));
    assert_eq!(back[&3], [3, 3, 3, 4, 4]);
}

#[test]
fn reductions_and_broadcasts_of_tiles() {
    let top = parse("5x2 on a=2, b=1: block(a), whole");
    let wide = parse("5x2 on a=2, b=3: block(a), whole");
    let spread = Plan::between(&top, &wide).expect("no gaps");
    let got = moved(&spread);
    assert!((0..3).all(|rank| got[&rank] == [1; 6]) && (3..6).all(|rank| got[&rank] == [2; 4]));
    let back = moved(&spread.adjoint().expect("copies"));
    assert_eq!((back[&0].clone(), back[&1].clone()), (vec![6; 6], vec![15; 4]));
    for (kept, want) in [
        ("block(a), whole; sum(b)", [6, 6, 6, 15, 15, 15]),
        ("whole, block(b); sum(a)", [5, 7, 9, 5, 7, 9]),
        ("whole, whole; sum(a, b)", [21; 6]),
    ] {
        let terms = parse(&format!("6x6 on a=2, b=3: {kept}"));
        let copies = parse(&format!("6x6 on a=2, b=3: {}", kept.split(';').next().expect("axes")));
        let got = moved(&Plan::between(&terms, &copies).expect("no gaps"));
        for (rank, value) in want.into_iter().enumerate() {
            assert!(got[&rank].iter().all(|cell| *cell == value), "{kept}: {got:?}");
        }
    }
}

/// Arrows between different ranks as `from -> to: rows`.
fn arrows(plan: &Plan) -> String {
    let travelling = plan.transfers().filter(|transfer| transfer.travels());
    let arrow = |transfer: &Transfer| {
        let rows: Vec<usize> = transfer.region.axes()[0].iter().collect();
        let rows = match rows[..] {
            [only] => only.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        };
        format!("{}->{}:{rows}", transfer.from, transfer.to)
    };
    travelling.map(arrow).collect::<Vec<_>>().join(" ")
}

/// Remainder-last blocks with a halo of some radius, also wider than the neighbour's block.
#[test]
fn halo_plans_by_radius() {
    for (length, radius, want) in [
        (16, 1, "0->1:3 1->0:4 1->2:7 2->1:8 2->3:11 3->2:12"),
        (16, 2, "0->1:2-3 1->0:4-5 1->2:6-7 2->1:8-9 2->3:10-11 3->2:12-13"),
        (8, 3, "0->1:0-1 0->2:1 1->0:2-3 1->2:2-3 1->3:3 2->0:4 2->1:4-5 2->3:4-5 3->1:6 3->2:6-7"),
        (5, 1, "0->1:0 1->0:1 1->2:1 2->1:2 2->3:2 3->2:3"),
    ] {
        let blocks = format!("{length} on r=4: block(r, last)");
        let plan = between(&blocks, &format!("{blocks} halo {radius}"));
        assert_eq!(arrows(&plan), want, "{length} over 4, radius {radius}");
    }
}

/// Per receiver: sender, offset and shape of what it gets.
fn received(plan: &Plan, rank: usize) -> Vec<(usize, Vec<usize>, Vec<usize>)> {
    let to_rank = plan.transfers().filter(|t| t.to == rank && t.travels());
    let part = |transfer: &Transfer| {
        let hulls: Vec<(usize, usize)> =
            transfer.region.axes().iter().map(|set| set.hull().expect("not empty")).collect();
        let offset = hulls.iter().map(|(low, _)| *low).collect();
        (transfer.from, offset, hulls.iter().map(|(low, high)| high - low).collect())
    };
    to_rank.map(part).collect()
}

#[test]
fn halo_plans_on_grids() {
    let plan = between(
        "10x9 on a=2, b=3: block(a, last), block(b, last)",
        "10x9 on a=2, b=3: block(a, last) halo 1, block(b, last) halo 1",
    );
    let want =
        [(1, vec![0, 3], vec![5, 1]), (3, vec![5, 0], vec![1, 3]), (4, vec![5, 3], vec![1, 1])];
    assert_eq!(received(&plan, 0), want);
    let senders: Vec<usize> = received(&plan, 1).iter().map(|part| part.0).collect();
    assert_eq!(senders, [0, 2, 3, 4, 5]);
    let elements = |rank| -> usize {
        received(&plan, rank).iter().map(|part| part.2.iter().product::<usize>()).sum()
    };
    assert_eq!([0, 1, 2, 3, 4, 5].map(elements), [9, 15, 9, 9, 15, 9]);
    let plan = between(
        "7x8 on a=2, b=3: block(a, last), block(b, last)",
        "7x8 on a=2, b=3: block(a, last) halo 1, block(b, last) halo 2",
    );
    let want =
        [(1, vec![0, 2], vec![3, 2]), (3, vec![3, 0], vec![1, 2]), (4, vec![3, 2], vec![1, 2])];
    assert_eq!(received(&plan, 0), want);
    let want = [
        (0, vec![2, 0], vec![1, 2]),
        (1, vec![2, 2], vec![1, 3]),
        (2, vec![2, 5], vec![1, 2]),
        (3, vec![3, 0], vec![4, 2]),
        (5, vec![3, 5], vec![4, 2]),
    ];
    assert_eq!(received(&plan, 4), want);
    let cube = "4x4x4 on a=2, b=2, c=2: block(a), block(b), block(c)";
    let plan = between(cube, &cube.replace(')', ") halo 1"));
    for rank in 0..8 {
        let mut sizes: Vec<usize> =
            received(&plan, rank).iter().map(|part| part.2.iter().product()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [1, 2, 2, 2, 4, 4, 4], "rank {rank}");
    }
}

/// The 5x4 example: tiles filled with rank + 1, corner gradients travel two hops.
#[test]
fn halo_exchange_values_and_adjoint() {
    let source = "5x4 on a=2, b=2: block(a), block(b)";
    let target = "5x4 on a=2, b=2: block(a) halo 1, block(b) halo 1";
    let direct = between(source, target);
    let got = moved(&direct);
    assert_eq!(got[&0], [1, 1, 2, 1, 1, 2, 1, 1, 2, 3, 3, 4]);
    assert_eq!(got[&1], [1, 2, 2, 1, 2, 2, 1, 2, 2, 3, 4, 4]);
    assert_eq!(got[&2], [1, 1, 2, 3, 3, 4, 3, 3, 4]);
    assert_eq!(got[&3], [1, 2, 2, 3, 4, 4, 3, 4, 4]);
    let back = moved(&direct.adjoint().expect("copies"));
    assert_eq!(back[&0], [1, 3, 1, 3, 4, 10]);
    assert_eq!(back[&1], [3, 2, 3, 2, 10, 6]);
    assert_eq!(back[&2], [4, 10, 3, 7]);
    assert_eq!(back[&3], [10, 6, 7, 4]);
    let axes = Plan::axis_by_axis(&parse(source), &parse(target)).expect("legal").expect("a path");
    assert_eq!((axes.messages(), direct.messages()), (8, 12));
    let faces = Plan::faces_only(&parse(source), &parse(target)).expect("tiles have sides");
    assert_eq!((faces.messages(), faces.moved()), (8, direct.moved() - 4));
}

/// Terms to copies: p (p - 1) n directly, 2 (p - 1) n through blocks; the cheaper one is picked.
#[test]
fn all_reduce_by_both_paths() {
    let machine = pantile_plan::Machine::default();
    for (ranks, length) in [(2, 12), (3, 12), (4, 4096), (8, 1 << 20)] {
        let terms = parse(&format!("{length} on r={ranks}: whole; sum(r)"));
        let copies = parse(&format!("{length} on r={ranks}: whole"));
        let direct = Plan::between(&terms, &copies).expect("no gaps");
        let path = Plan::through_blocks(&terms, &copies).expect("no gaps").expect("an axis to cut");
        assert_eq!(direct.moved(), ranks * (ranks - 1) * length);
        assert_eq!(path.moved(), 2 * (ranks - 1) * length);
        let best = Plan::best(&terms, &copies, &machine, 8).expect("no gaps");
        let expected = if length < 100 { &direct } else { &path };
        assert_eq!(best.steps().len(), expected.steps().len(), "{ranks} ranks, {length} elements");
    }
}

#[test]
fn more_ranks_than_cells_and_empty_arrays() {
    let plan = between("3 on r=7: block(r)", "3 on r=7: block(r) halo 2");
    assert_eq!(arrows(&plan), "0->1:0 0->2:0 1->0:1 1->2:1 2->0:2 2->1:2");
    let plan = between("0x5 on r=3: block(r), whole", "0x5 on r=3: whole, block(r)");
    assert_eq!((plan.moved(), plan.transfers().count()), (0, 0));
    let plan = between("scalar on rank 2:", "scalar on r=4:");
    assert_eq!((plan.moved(), plan.messages()), (3, 3));
    let plan = between("5x3 on a=2: block(a), whole", "5x3 on a=12: block(a), whole");
    assert_eq!((plan.moved(), plan.messages()), (12, 4));
}

/// A periodic axis on one rank exchanges with itself.
#[test]
fn periodic_axes_wrap_around() {
    let plan = between("6 on r=1: block(r)", "6 on r=1: block(r) periodic halo 2");
    assert_eq!((plan.moved(), plan.transfers().count()), (0, 3));
    let plan = between("6 on r=3: block(r)", "6 on r=3: block(r) periodic halo 1");
    assert_eq!(arrows(&plan), "0->1:1 0->2:0 1->0:2 1->2:3 2->0:5 2->1:4");
    let plan = between("3 on r=3: block(r)", "3 on r=3: block(r) periodic halo 4");
    assert_eq!(plan.moved(), 18, "every rank holds every other element three times");
}

/// Meshes beyond any list are refused on every rank alike, or answered by formulas.
#[test]
fn absurd_meshes_are_refused_or_cheap() {
    let (terms, copies) = (parse("8 on r=3: whole; sum(r)"), parse("8 on r=1000000000000: whole"));
    for rank in [0, 2, 77] {
        let answer = Schedule::between(&terms, &copies, rank);
        assert!(matches!(answer, Err(Error::TooMany { .. })), "rank {rank}");
    }
    let million = parse("8 on r=1000000: whole");
    let schedule = Schedule::between(&terms, &million, 999_999).expect("three terms arrive");
    assert_eq!(schedule.hops[0].receives.len(), 3);
    let blocks = parse("8 on r=1000000000000: block(r)");
    let halos = parse("8 on r=1000000000000: block(r) halo 1");
    let plan = Plan::between(&blocks, &halos).expect("eight ranks hold something");
    assert_eq!(plan.moved(), 14);
    assert!("8 on r=1000000000000: block(r) halo -1".parse::<Distribution>().is_err());
    let copies_to_terms = Plan::between(&million, &parse("8 on r=1000000: whole; sum(r)"));
    assert_eq!(copies_to_terms.expect("one pair").moved(), 0);
}

/// A path of one distribution is none.
#[test]
fn paths_need_two_ends() {
    let blocks = parse("8 on r=2: block(r)");
    assert!(matches!(Plan::via(&[blocks]), Err(Error::ShortPath { got: 1 })));
    assert!(matches!(Plan::via(&[]), Err(Error::ShortPath { got: 0 })));
}

/// Both directions of an exchange share the rounds, and pieces of a message stay together.
#[test]
fn rounds_take_turns() {
    let plan = between("8 on r=2: block(r)", "8 on r=2: whole").within(32, 8).expect("it fits");
    let rounds = &plan.steps()[0].rounds;
    assert_eq!(rounds.len(), 2);
    for round in rounds {
        let sizes: Vec<usize> =
            round.transfers.iter().filter(|t| t.travels()).map(Transfer::size).collect();
        assert_eq!(sizes, [2, 2]);
    }
}
