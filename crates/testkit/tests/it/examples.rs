//! Examples worked out by hand: what the laws do not see (owners, anchors, lifts, classes).

use pantile_testkit::model::{
    AxisSpec, CutSpec, Fault, Holder, Kind, Map, Operator, Spec, ViewSpec, between, dual, faults,
    halo,
};

const N: usize = 8;
const P: usize = 4;

fn root() -> Spec {
    Spec::copies(&[N], &[])
}

fn blocks() -> Spec {
    Spec::line(N, P, CutSpec::Balanced)
}

fn copies() -> Spec {
    Spec::copies(&[N], &[P])
}

fn terms() -> Spec {
    copies().as_terms()
}

/// One axis over one mesh axis with these held intervals.
fn window(length: usize, held: &[(i64, i64)]) -> Spec {
    let mut axis = AxisSpec::plain(length, &[0], CutSpec::Balanced);
    axis.held = Some(held.to_vec());
    axis.periodic = held.iter().any(|&(start, end)| start < 0 || end > length as i64);
    Spec::axes(vec![axis], &[held.len()])
}

fn haloed(length: usize, ranks: usize, width: i64, periodic: bool) -> Spec {
    let mut axis = AxisSpec::plain(length, &[0], CutSpec::Balanced);
    axis.periodic = periodic;
    axis.held = Some(halo(&axis, ranks, width, width));
    Spec::axes(vec![axis], &[ranks])
}

fn check_counts(source: &Spec, target: &Spec, pairs: usize, moves: usize) {
    let movement = between(source, target).expect("legal");
    assert_eq!((movement.pairs(), movement.moves()), (pairs, moves));
}

/// Pairs of one element as (source rank, target rank).
fn check_ranks(source: &Spec, target: &Spec, index: &[usize], expected: &[(usize, usize)]) {
    let movement = between(source, target).expect("legal");
    let pairs = &movement.elements[index];
    let ranks: Vec<_> = pairs.iter().map(|(from, to)| (from.rank, to.rank)).collect();
    assert_eq!(ranks, expected);
}

/// Pairs of one element of a one-dimensional array as ((rank, lift), (rank, lift)).
type Lifted = ((usize, i64), (usize, i64));

fn check_lifts(source: &Spec, target: &Spec, index: usize, expected: &[Lifted]) {
    let movement = between(source, target).expect("legal");
    let short = |holder: &Holder| (holder.rank, holder.lifts[0]);
    let pairs: Vec<_> =
        movement.elements[&vec![index]].iter().map(|(a, b)| (short(a), short(b))).collect();
    assert_eq!(pairs, expected);
}

#[test]
fn the_primitives_move_what_their_names_say() {
    check_counts(&root(), &blocks(), N, N - N / P); // scatter
    check_counts(&blocks(), &root(), N, N - N / P); // gather
    check_counts(&root(), &copies(), N * P, N * (P - 1)); // broadcast
    check_counts(&terms(), &root(), N * P, N * (P - 1)); // sum-reduce
    check_counts(&blocks(), &copies(), N * P, N * (P - 1)); // all-gather
    check_counts(&terms(), &blocks(), N * P, N * (P - 1)); // reduce-scatter
    check_counts(&terms(), &copies(), N * P * P, N * P * (P - 1)); // all-sum-reduce
    check_counts(&copies(), &blocks(), N, 0);
    check_counts(&copies(), &terms(), N, 0);
    check_counts(&blocks(), &terms(), N, 0);
}

#[test]
fn a_transpose_keeps_the_diagonal() {
    let cut = |axis: usize| {
        let over =
            |i| if i == axis { (vec![0], CutSpec::Balanced) } else { (vec![], CutSpec::Whole) };
        let axes = (0..2).map(|i| AxisSpec::plain(4, &over(i).0, over(i).1)).collect();
        Spec::axes(axes, &[4])
    };
    check_counts(&cut(0), &cut(1), 16, 12);
    check_ranks(&cut(0), &cut(1), &[1, 2], &[(1, 2)]);
}

#[test]
fn halos_are_exchanged_and_accumulated() {
    check_counts(&blocks(), &haloed(N, P, 1, false), N + 6, 6);
    check_counts(&dual(&haloed(N, P, 1, false)).unwrap(), &blocks(), N + 6, 6);
    check_counts(&blocks(), &haloed(N, P, 1, true), N + 8, 8);
    // Exchanged once, nothing is left to do.
    check_counts(&haloed(N, P, 1, false), &haloed(N, P, 1, false), N + 6, 0);
    // A wider halo takes only what is new, from its owner.
    check_ranks(&haloed(N, P, 1, false), &haloed(N, P, 2, false), &[3], &[(1, 0), (1, 1), (2, 2)]);
}

#[test]
fn a_periodic_axis_on_one_rank_exchanges_with_itself() {
    let pairs = [((0, 0), (0, -1)), ((0, 0), (0, 0))];
    check_lifts(&Spec::line(3, 1, CutSpec::Balanced), &haloed(3, 1, 1, true), 2, &pairs);
}

#[test]
fn the_owner_serves_those_who_lack_the_element() {
    // Element 2 of four over two ranks belongs to rank 1, and both hold it.
    check_ranks(&window(4, &[(0, 4), (2, 4)]), &root_of(4, 7), &[2], &[(1, 7)]);
    // Rank 1 does not hold element 3: the lowest that does is asked.
    check_ranks(&window(4, &[(0, 4), (2, 3)]), &root_of(4, 7), &[3], &[(0, 7)]);
    // Cyclic cuts, labels and uncut mesh axes own nothing.
    check_ranks(&copies().on(&[3, 1, 2, 0]), &root_of(N, 7), &[5], &[(3, 7)]);
    let labels = CutSpec::Indexed { labels: vec![vec![0], vec![1, 0], vec![1]], universe: None };
    check_ranks(&Spec::line(2, 3, labels), &root_of(2, 7), &[1], &[(1, 7)]);
}

fn root_of(length: usize, rank: usize) -> Spec {
    Spec::copies(&[length], &[]).on(&[rank])
}

#[test]
fn copies_become_terms_at_the_lowest_common_place() {
    let (a, b) = (
        window(1, &[(0, 0), (0, 1), (0, 1), (0, 0)]),
        window(1, &[(0, 0), (0, 0), (0, 1), (0, 1)]),
    );
    check_ranks(&a, &b.as_terms(), &[0], &[(2, 2)]);
    // On another mesh the lowest place is the lowest world rank, not the first position.
    let (a, b) = (copies().on(&[9, 5, 6, 7]), terms().on(&[7, 6, 9, 8]));
    check_ranks(&a, &b, &[0], &[(6, 6)]);
    // On the same mesh it is the first position.
    check_ranks(&copies().on(&[9, 5, 6, 7]), &terms().on(&[9, 5, 6, 7]), &[0], &[(9, 9)]);
    // Without a common place: owner to owner.
    check_ranks(&copies().on(&[9, 5, 6, 7]), &terms().on(&[3, 2, 1, 0]), &[0], &[(9, 3)]);
}

#[test]
fn terms_go_to_their_own_place_or_to_the_owner() {
    let source = copies().as_terms();
    let target = window(N, &[(0, 0), (0, 8), (0, 8), (0, 0)]).as_terms();
    // Nobody who owns element 0 holds it: rank 1 is the lowest that does.
    check_ranks(&source, &target, &[0], &[(0, 1), (1, 1), (2, 2), (3, 1)]);
    // Element 5 belongs to rank 2.
    check_ranks(&source, &target, &[5], &[(0, 2), (1, 1), (2, 2), (3, 2)]);
}

#[test]
fn of_several_lifts_the_equal_one_is_taken() {
    // Rank 0 holds element 0 at lifts 0 and 1 on both sides.
    let wide = window(2, &[(0, 3), (1, 2)]);
    check_lifts(&wide, &wide, 0, &[((0, 0), (0, 0)), ((0, 1), (0, 1))]);
    // The source has lifts -2, -1 and 0: a target lift 1 takes from 0, a target lift -2 from -2.
    let from = window(1, &[(-2, 1)]);
    let to = window(1, &[(1, 2)]);
    check_lifts(&from, &to, 0, &[((0, 0), (0, 1))]);
    let to = window(1, &[(-2, -1)]);
    check_lifts(&from, &to, 0, &[((0, -2), (0, -2))]);
    // Copies to Terms: the anchor is the first common lift, here -1.
    let (from, to) = (window(1, &[(-2, 0)]), window(1, &[(-1, 3)]).as_terms());
    check_lifts(&from, &to, 0, &[((0, -1), (0, -1))]);
    // No common lift: each side's first.
    let (from, to) = (window(1, &[(-3, -1)]), window(1, &[(1, 3)]).as_terms());
    check_lifts(&from, &to, 0, &[((0, -2), (0, 1))]);
}

#[test]
fn every_mesh_axis_moves_alone() {
    // Terms over x, blocks over y -> copies over x, blocks over y: all-reduce in columns only.
    let axis = AxisSpec::plain(2, &[1], CutSpec::Balanced);
    let target = Spec::axes(vec![axis], &[2, 2]);
    let source = target.clone().as_terms();
    check_ranks(&source, &target, &[1], &[(1, 1), (1, 3), (3, 1), (3, 3)]);
    // Copies over x and Terms over y -> Terms over x and Copies over y. Along x the pair is at
    // the lowest place, along y everyone gives to everyone.
    let kinds = |x, y| Spec { mesh_kinds: vec![x, y], ..Spec::copies(&[], &[2, 2]) };
    let (source, target) = (kinds(Kind::Copies, Kind::Terms), kinds(Kind::Terms, Kind::Copies));
    check_ranks(&source, &target, &[], &[(0, 0), (0, 1), (1, 0), (1, 1)]);
}

#[test]
fn a_halo_exchange_axis_by_axis_sends_along_one_mesh_axis_at_a_time() {
    let step = |widths: [i64; 2]| {
        let axis = |i: usize| {
            let mut axis = AxisSpec::plain(4, &[i], CutSpec::Balanced);
            axis.held = Some(halo(&axis, 2, widths[i], widths[i]));
            axis
        };
        Spec::axes(vec![axis(0), axis(1)], &[2, 2])
    };
    let (blocks, rows, both) = (step([0, 0]), step([1, 0]), step([1, 1]));
    let travels = |source, target| -> Vec<(usize, usize)> {
        let movement = between(source, target).expect("legal");
        let ranks = movement.elements.values().flatten().map(|(from, to)| (from.rank, to.rank));
        ranks.filter(|(from, to)| from != to).collect()
    };
    // Ranks 0 1 / 2 3: along axis 0 the column stays, along axis 1 the row.
    assert!(travels(&blocks, &rows).iter().all(|(from, to)| from % 2 == to % 2));
    assert!(travels(&rows, &both).iter().all(|(from, to)| from / 2 == to / 2));
    // The second step carries the corner that the first one brought: 3 elements for each rank.
    assert_eq!((travels(&blocks, &rows).len(), travels(&rows, &both).len()), (8, 12));
    check_ranks(&rows, &both, &[1, 1], &[(0, 0), (0, 1), (2, 2), (2, 3)]);
}

#[test]
fn one_class_with_both_kinds_follows_its_anchor() {
    // Another team makes all directions one class. Source: (s, c) is rank 2 s + c. Target: (d, t)
    // is 0, 1, 2, 4 in row-major order.
    let source = Spec { mesh_kinds: vec![Kind::Terms, Kind::Copies], ..Spec::copies(&[], &[2, 2]) };
    let target = Spec { mesh_kinds: vec![Kind::Copies, Kind::Terms], ..Spec::copies(&[], &[2, 2]) };
    let target = target.on(&[0, 1, 2, 4]);
    // The anchor is rank 0 = (s0, c0) = (t0, d0). k(0) = c of rank 0 = 0; (t0, d=1) is rank 2,
    // which is (s=1, c=0): k(1) = 0. m(0) = 0; (s=1, c0) is rank 2 = (d=1, t=0): m(1) = 0.
    check_ranks(&source, &target, &[], &[(0, 0), (0, 2), (2, 0), (2, 2)]);
}

#[test]
fn axes_of_length_one_change_nothing() {
    let line = blocks();
    let spelled = Spec::axes(vec![AxisSpec::plain(N, &[1], CutSpec::Balanced)], &[1, P, 1]);
    assert_eq!(between(&line, &copies()), between(&spelled, &copies()));
    // Cut over an axis of length 1 only is uncut.
    let one = Spec::axes(vec![AxisSpec::plain(N, &[0], CutSpec::Balanced)], &[1, P]);
    assert_eq!(between(&one, &line), between(&copies(), &line));
}

#[test]
fn gaps_are_decided_by_the_kind_of_their_direction() {
    let gapped = window(2, &[(0, 1), (1, 1)]);
    let whole = Spec::line(2, 2, CutSpec::Balanced);
    assert_eq!(faults(&gapped, &whole), [Fault::SourceGap { index: vec![1] }]);
    assert_eq!(faults(&gapped.clone().as_terms(), &whole), []);
    assert_eq!(faults(&whole, &gapped), []);
    assert_eq!(faults(&whole, &gapped.clone().as_terms()), [Fault::TargetGap { index: vec![1] }]);
    assert_eq!(faults(&gapped, &gapped), []);
    assert_eq!(faults(&gapped, &gapped.clone().as_terms()), []);
}

#[test]
fn different_operators_never_meet() {
    let max = Spec { operator: Operator::Max, ..terms() };
    assert_eq!(faults(&terms(), &max), [Fault::Operators]);
    assert_eq!(faults(&terms(), &Spec { operator: Operator::Max, ..copies() }), []);
    assert_eq!(faults(&Spec { operator: Operator::Max, ..blocks().as_terms() }, &terms()), []);
}

#[test]
fn labels_meet_only_their_equals() {
    let axis = |universe: Option<Vec<i64>>, view| {
        let known = universe.clone().unwrap_or_else(|| (0..3).collect());
        let cut = CutSpec::Indexed { labels: vec![known], universe };
        let axis = AxisSpec { view, ..AxisSpec::plain(3, &[0], cut) };
        Spec::axes(vec![axis], &[1])
    };
    let (plain, sparse) = (axis(None, None), axis(Some(vec![-4, 0, 9]), None));
    assert_eq!(faults(&plain, &sparse), [Fault::Labels { axis: 0 }]);
    assert_eq!(faults(&sparse, &sparse), []);
    assert_eq!(faults(&plain, &axis(Some(vec![0, 1, 2]), None)), []);
    let backwards = Some(ViewSpec { offset: 2, step: -1, length: 3 });
    assert_eq!(faults(&plain, &axis(None, backwards)), []);
    assert_eq!(
        faults(&sparse, &axis(Some(vec![-4, 0, 9]), backwards)),
        [Fault::Labels { axis: 0 }]
    );
    assert_eq!(faults(&sparse, &Spec::line(3, 1, CutSpec::Ceil)), []);
}

#[test]
fn a_slice_moves_nothing_and_its_copy_moves_what_it_must() {
    let axis = AxisSpec::plain(6, &[0], CutSpec::Balanced);
    let view = Some(ViewSpec { offset: 5, step: -1, length: 6 });
    let reversed = Spec::axes(vec![AxisSpec { view, ..axis }], &[3]);
    check_counts(&reversed, &Spec::line(6, 3, CutSpec::Balanced), 6, 4);
    check_counts(&reversed, &reversed, 6, 0);
}

#[test]
fn boxes_request_any_window() {
    let boxes = vec![vec![(0, 5)], vec![(3, 3)], vec![(2, 8)], vec![(0, 1)]];
    let request = Spec { map: Map::Boxes { boxes, kind: Kind::Copies }, ..copies() };
    // Held: 5 + 0 + 6 + 1; rank 0 has elements 0, 1 and rank 2 has 4, 5 already.
    check_counts(&blocks(), &request, 12, 12 - 4);
    check_counts(&dual(&request).unwrap(), &blocks(), 12, 12 - 4);
}
