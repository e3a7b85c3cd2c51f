//! The index functions of the dist dialect against worked examples.
#![allow(clippy::single_range_in_vec_init, reason = "boxes of one axis are meant")]

use std::ops::Range;

use pantile_geometry::slices::{
    HaloSide, PartView, Parts, RowParts, Slice, SliceError, bounding_box, bounding_box_nd,
    default_bounds, default_partition, default_rows, gather_pieces, grid_halo_plan, halo_plan,
    inner_box, local_core, local_core_nd, local_target, local_target_nd, local_target_of_all_parts,
    overlap, parts_by_sign, repartition, repartition_nd, repartition_unit, requests_of_radius,
    segments, segments_nd, sharded_offsets, subview, subview_nd,
};

/// An offset and a size, as the examples are written.
type Pair = (usize, usize);
/// An offset, a size and a stride.
type Triple = (usize, usize, usize);

fn range((offset, size): Pair) -> Range<usize> {
    offset..offset + size
}

fn pair(range: &Range<usize>) -> Pair {
    (range.start, range.len())
}

fn slice((offset, size, stride): Triple) -> Slice {
    Slice::new(offset, size, stride).unwrap()
}

fn parts((offset, left, owned, right): (usize, usize, usize, usize)) -> Parts {
    Parts { offset, left, owned, right }
}

#[test]
fn v2_default_partition() {
    let check = |extent, members, offsets: &[usize], sizes: &[usize]| {
        let rows: Vec<_> =
            (0..members).map(|member| default_rows(extent, members, member).unwrap()).collect();
        assert_eq!(rows.iter().map(|rows| rows.start).collect::<Vec<_>>(), offsets);
        assert_eq!(rows.iter().map(Range::len).collect::<Vec<_>>(), sizes);
        assert_eq!(default_bounds(extent, members).unwrap(), [offsets, &[extent]].concat());
    };
    check(8, 4, &[0, 2, 4, 6], &[2; 4]);
    check(8, 3, &[0, 2, 5], &[2, 3, 3]);
    check(33, 4, &[0, 8, 16, 24], &[8, 8, 8, 9]);
    check(10, 4, &[0, 2, 4, 7], &[2, 2, 3, 3]);
    check(32, 8, &[0, 4, 8, 12, 16, 20, 24, 28], &[4; 8]);
    check(33, 8, &[0, 4, 8, 12, 16, 20, 24, 28], &[4, 4, 4, 4, 4, 4, 4, 5]);
    check(5, 3, &[0, 1, 3], &[1, 2, 2]);
    check(1, 4, &[0; 4], &[0, 0, 0, 1]);
    check(0, 3, &[0; 3], &[0; 3]);
    check(100, 7, &[0, 14, 28, 42, 56, 70, 85], &[14, 14, 14, 14, 14, 15, 15]);
    assert_eq!(default_partition(&[1, 7], 2, 0).unwrap(), [0..0, 0..7]);
    assert_eq!(default_partition(&[], 2, 0).unwrap(), []);
    let outside = SliceError::MemberOutOfRange { member: 2, members: 2 };
    assert_eq!(default_rows(4, 2, 2), Err(outside));
    assert!(default_rows(4, 0, 0).is_err());
    assert!(default_bounds(4, 0).is_err());
    assert!(matches!(default_rows(usize::MAX, 2, 0), Err(SliceError::TooLarge { .. })));
}

#[test]
fn v3_local_target() {
    let cases: [(Triple, [Pair; 4]); 7] = [
        ((0, 16, 1), [(0, 4), (4, 4), (8, 4), (12, 4)]),
        ((3, 10, 1), [(0, 1), (1, 4), (5, 4), (9, 1)]),
        ((1, 5, 3), [(0, 1), (1, 2), (3, 1), (4, 1)]),
        ((7, 3, 3), [(0, 0), (0, 1), (1, 1), (2, 1)]),
        ((15, 1, 1), [(0, 0), (0, 0), (0, 0), (0, 1)]),
        ((0, 1, 1), [(0, 1), (1, 0), (1, 0), (1, 0)]),
        ((4, 0, 1), [(0, 0), (0, 0), (0, 0), (0, 0)]),
    ];
    for (numbers, expected) in cases {
        for (member, expected) in expected.iter().enumerate() {
            let owned = default_rows(16, 4, member).unwrap();
            let target = local_target(&owned, &slice(numbers)).unwrap();
            assert_eq!(pair(&target), *expected, "{numbers:?} member {member}");
        }
    }
}

#[test]
fn v3b_local_target_of_two_axes() {
    let check = |slices: [Triple; 2], expected: [[Pair; 2]; 3]| {
        for (member, expected) in expected.iter().enumerate() {
            let owned = default_partition(&[10, 6], 3, member).unwrap();
            let target = local_target_nd(&owned, &slices.map(slice)).unwrap();
            assert_eq!(target, expected.map(range), "member {member}");
        }
    };
    check([(1, 8, 1), (1, 4, 1)], [[(0, 2), (0, 4)], [(2, 3), (0, 4)], [(5, 3), (0, 4)]]);
    check([(0, 5, 2), (0, 3, 2)], [[(0, 2), (0, 3)], [(2, 1), (0, 3)], [(3, 2), (0, 3)]]);
}

#[test]
fn v4_local_target_with_halos() {
    let check = |stored, numbers: Triple, all: Pair, owned_only: Pair| {
        let stored = parts(stored);
        let got = local_target_of_all_parts(&stored, &slice(numbers)).unwrap();
        assert_eq!(pair(&got), all);
        let got = local_target(&stored.ranges().unwrap()[1], &slice(numbers)).unwrap();
        assert_eq!(pair(&got), owned_only);
    };
    check((3, 1, 4, 1), (3, 10, 1), (0, 6), (1, 4));
    check((3, 1, 4, 1), (0, 8, 2), (2, 3), (2, 2));
    check((0, 0, 4, 2), (3, 10, 1), (0, 3), (0, 1));
}

fn check_box(view: Triple, target: Pair, previous: Option<Pair>, expected: Pair) {
    let previous = previous.map(range);
    let got = bounding_box(&slice(view), &range(target), previous.as_ref()).unwrap();
    assert_eq!(pair(&got), expected, "{view:?} {target:?} {previous:?}");
}

#[test]
fn v5_and_v6_bounding_boxes() {
    check_box((0, 8, 1), (4, 4), None, (4, 4));
    check_box((1, 7, 1), (4, 4), None, (5, 3));
    check_box((1, 7, 1), (0, 0), None, (1, 0));
    check_box((1, 7, 1), (2, 2), None, (3, 2));
    check_box((1, 3, 1), (0, 4), None, (1, 3));
    check_box((1, 7, 1), (4, 4), Some((4, 4)), (4, 4));
    check_box((1, 3, 1), (0, 4), Some((0, 5)), (0, 5));
    check_box((1, 7, 1), (2, 2), Some((1, 0)), (3, 2));
    check_box((7, 8, 1), (0, 1), Some((0, 5)), (0, 8));
    check_box((0, 8, 2), (4, 4), None, (8, 7));
    check_box((1, 5, 3), (2, 2), None, (7, 4));
    check_box((2, 4, 4), (0, 1), None, (2, 1));
    check_box((2, 4, 4), (0, 0), Some((5, 3)), (5, 3));
    check_box((0, 10, 1), (3, 4), Some((6, 2)), (3, 5));
    check_box((3, 10, 1), (1, 4), Some((0, 3)), (0, 8));
    check_box((0, 6, 1), (4, 5), None, (4, 2));
    // Nothing is read past the end of a view, so a box stays what it was.
    check_box((0, 3, 1), (5, 2), Some((8, 2)), (8, 2));
    let both = bounding_box_nd(&[slice((1, 7, 1)), slice((0, 8, 2))], &[4..8, 4..8], None);
    assert_eq!(both.unwrap(), [5..8, 8..15]);
}

#[test]
fn inner_boxes_are_intersections() {
    let check = |view, target, previous: Option<Pair>, expected: Pair| {
        let got = inner_box(&slice(view), &range(target), previous.map(range).as_ref()).unwrap();
        assert_eq!(pair(&got), expected);
    };
    check((1, 7, 1), (4, 4), None, (5, 3));
    check((1, 7, 1), (4, 4), Some((4, 3)), (5, 2));
    check((1, 7, 1), (4, 4), Some((0, 3)), (5, 0));
    check((1, 7, 1), (0, 0), Some((0, 3)), (0, 3));
    check((1, 7, 1), (4, 4), Some((6, 0)), (6, 0));
}

#[test]
fn v7_repartition() {
    let check = |owned, request, left, view: Pair, right| {
        let got = repartition(&range(owned), &range(request)).unwrap();
        let got = (got.left, pair(&got.view), got.right);
        assert_eq!(got, (left, view, right), "{owned:?} {request:?}");
    };
    check((4, 4), (4, 4), 0, (0, 4), 0);
    check((4, 4), (3, 6), 1, (0, 4), 1);
    check((4, 4), (0, 4), 4, (0, 0), 0);
    check((4, 4), (8, 3), 0, (4, 0), 3);
    check((4, 4), (5, 2), 0, (1, 2), 0);
    check((4, 4), (0, 16), 4, (0, 4), 8);
    check((4, 0), (2, 5), 2, (0, 0), 3);
    check((4, 0), (1, 3), 3, (0, 0), 0);
    check((34, 34), (32, 38), 2, (0, 34), 2);
    check((170, 171), (168, 175), 2, (0, 171), 2);
    // The view of a request far to the right is empty at the end, not beyond it.
    check((4, 4), (20, 3), 0, (4, 0), 3);
    assert_eq!(repartition_unit(&(7..8)), (0, 0));
    assert_eq!(repartition_unit(&(0..0)), (0, 1));
    assert_eq!(repartition_unit(&(1..1)), (1, 0));
    #[expect(clippy::reversed_empty_ranges, reason = "reversed on purpose")]
    let reversed = repartition(&(4..2), &(0..1));
    assert!(matches!(reversed, Err(SliceError::Reversed { .. })));
}

#[test]
fn repartition_crops_trailing_axes() {
    let got = repartition_nd(&[1..4, 1..4, 1..4], &[1..3, 1..3, 1..3]).unwrap();
    assert_eq!(got.part_shapes(), [vec![0, 2, 2], vec![2, 2, 2], vec![0, 2, 2]]);
    assert_eq!(got.trailing, [0..2, 0..2]);
    let cropped = repartition_nd(&[4..8, 0..10], &[3..9, 2..5]).unwrap();
    assert_eq!(cropped.part_shapes(), [vec![1, 3], vec![4, 3], vec![1, 3]]);
    assert_eq!((cropped.rows.view, &cropped.trailing[0]), (0..4, &(2..5)));
    let outside = SliceError::NotInside { range: 2..11, outer: 0..10 };
    assert_eq!(repartition_nd(&[4..8, 0..10], &[3..9, 2..11]), Err(outside));
    assert!(repartition_nd(&[], &[]).is_err());
    assert!(repartition_nd(&[0..1], &[]).is_err());
}

#[test]
fn v8_cores() {
    let check = |owned, target, numbers, previous: Option<Pair>, expected: Pair| {
        let previous = previous.map(range);
        let got =
            local_core(&range(owned), &range(target), &slice(numbers), previous.as_ref()).unwrap();
        assert_eq!(pair(&got), expected, "{owned:?} {target:?} {numbers:?}");
    };
    check((4, 4), (0, 8), (0, 8, 1), None, (4, 4));
    check((4, 4), (0, 8), (2, 8, 1), None, (2, 4));
    check((4, 4), (1, 3), (1, 5, 3), None, (0, 2));
    check((4, 4), (0, 8), (2, 8, 1), Some((3, 4)), (3, 3));
    check((12, 4), (0, 4), (0, 8, 1), None, (4, 0));
    check((6, 4), (4, 4), (2, 8, 1), Some((1, 2)), (1, 2));
    let outside = SliceError::NotInside { range: 3..9, outer: 0..8 };
    assert_eq!(local_core(&(4..8), &(0..8), &slice((0, 8, 1)), Some(&(3..9))), Err(outside));
    let both = local_core_nd(
        &[4..8, 0..6],
        &[0..8, 0..4],
        &[slice((2, 8, 1)), slice((1, 4, 1))],
        Some(&[3..7, 0..4]),
    );
    assert_eq!(both.unwrap(), [3..6, 0..4]);
}

/// Target, box, parts and last core of one member for `a[into] = f(a[views])`.
fn statement(
    owned: &Range<usize>,
    into: Triple,
    views: &[Triple],
) -> (Pair, Pair, [usize; 3], Vec<Pair>) {
    let target = local_target(owned, &slice(into)).unwrap();
    let (mut bounds, mut core, mut cores) = (None, None, Vec::new());
    for view in views {
        bounds = Some(bounding_box(&slice(*view), &target, bounds.as_ref()).unwrap());
        core = Some(local_core(owned, &target, &slice(*view), core.as_ref()).unwrap());
        cores.push(pair(core.as_ref().unwrap()));
    }
    let bounds = bounds.unwrap();
    let division = repartition(owned, &bounds).unwrap();
    let parts = [division.left, division.view.len(), division.right];
    (pair(&target), pair(&bounds), parts, cores)
}

#[test]
fn v9_core_of_a_star_stencil() {
    let views = [2, 0, 1, 3, 4].map(|offset| (offset, 508, 1));
    let check = |member, owned: Pair, target: Pair, bounds: Pair, parts: [usize; 3], core: Pair| {
        let rows = default_rows(512, 3, member).unwrap();
        assert_eq!(pair(&rows), owned);
        let got = statement(&rows, (2, 508, 1), &views);
        assert_eq!((got.0, got.1, got.2, *got.3.last().unwrap()), (target, bounds, parts, core));
    };
    check(0, (0, 170), (0, 168), (0, 172), [0, 170, 2], (0, 166));
    check(1, (170, 171), (168, 171), (168, 175), [2, 171, 2], (2, 167));
    check(2, (341, 171), (339, 169), (339, 173), [2, 171, 0], (2, 167));
}

#[test]
fn v10_chained_cores() {
    let views = [0, 1, 2, 3].map(|offset| (offset, 10, 1));
    let check = |members, member, target: Pair, bounds: Pair, parts: [usize; 3], core: Pair| {
        let rows = default_rows(16, members, member).unwrap();
        let got = statement(&rows, (3, 10, 1), &views);
        assert_eq!(got, (target, bounds, parts, vec![core; 4]));
    };
    check(2, 0, (0, 5), (0, 8), [0, 8, 0], (0, 5));
    check(2, 1, (5, 5), (5, 8), [3, 5, 0], (3, 2));
    check(4, 1, (1, 4), (1, 7), [3, 4, 0], (3, 1));
    check(4, 2, (5, 4), (5, 7), [3, 4, 0], (3, 1));
}

#[test]
fn v11_and_v12_subviews() {
    let check = |stored, numbers, target: Option<Pair>, offset, expected: [Pair; 3]| {
        let target = target.map(range);
        let got = subview(&parts(stored), &slice(numbers), target.as_ref()).unwrap();
        assert_eq!(got.offset, offset, "{stored:?} {numbers:?} {target:?}");
        let views = got.parts.map(|part| (part.offset, part.count));
        assert_eq!(views, expected, "{stored:?} {numbers:?} {target:?}");
    };
    let half = (2, 8, 1);
    check((6, 0, 4, 0), half, Some((4, 4)), 4, [(0, 0), (0, 4), (0, 0)]);
    check((6, 0, 4, 0), half, Some((6, 2)), 6, [(0, 0), (2, 2), (0, 0)]);
    check((5, 1, 4, 0), half, Some((4, 4)), 4, [(1, 0), (0, 4), (0, 0)]);
    check((5, 1, 4, 0), half, Some((6, 2)), 6, [(1, 0), (2, 2), (0, 0)]);
    check((2, 1, 4, 1), half, Some((4, 4)), 4, [(1, 0), (3, 1), (0, 1)]);
    check((2, 1, 4, 1), half, Some((6, 2)), 6, [(1, 0), (4, 0), (1, 0)]);
    check((3, 0, 4, 1), half, Some((4, 4)), 4, [(0, 0), (3, 1), (0, 1)]);
    check((3, 0, 4, 1), half, Some((5, 4)), 5, [(0, 0), (4, 0), (0, 1)]);
    check((0, 0, 4, 0), (1, 5, 3), None, 0, [(0, 0), (1, 1), (0, 0)]);
    check((4, 0, 4, 0), (1, 5, 3), None, 1, [(0, 0), (0, 2), (0, 0)]);
    check((12, 0, 4, 0), (1, 5, 3), None, 4, [(0, 0), (1, 1), (0, 0)]);
    check((2, 2, 4, 3), (0, 8, 2), Some((2, 2)), 2, [(2, 0), (0, 2), (0, 0)]);
    check((3, 1, 4, 2), (2, 12, 1), Some((1, 7)), 1, [(0, 1), (0, 4), (0, 2)]);
    check((5, 0, 3, 0), (0, 3, 5), None, 1, [(0, 0), (0, 1), (0, 0)]);
    let columns = [slice((2, 12, 1)), slice((1, 3, 2))];
    let got = subview_nd(&parts((3, 1, 4, 2)), &[0..6], &columns, Some(&[1..8, 1..3])).unwrap();
    assert_eq!(got.offset, [1, 1]);
    assert_eq!(got.rows.map(|part| (part.offset, part.count)), [(0, 1), (0, 4), (0, 2)]);
    assert_eq!(got.trailing, [PartView { offset: 3, count: 2 }]);
    assert!(subview_nd(&parts((3, 1, 4, 2)), &[], &columns, None).is_err());
}

#[test]
fn v13_segments() {
    let check = |left: RowParts, right: RowParts, core: Option<Pair>, expected: &[Pair]| {
        let got = segments(&left, &right, core.map(range).as_ref()).unwrap();
        let rows: Vec<Pair> = got.iter().map(|s| (s.rows.start, s.rows.end)).collect();
        assert_eq!(rows, expected, "{left:?} {right:?} {core:?}");
    };
    let of = |parts: [usize; 3]| RowParts::Parts(parts);
    check(of([0, 4, 0]), of([0, 4, 0]), None, &[(0, 4)]);
    check(of([1, 4, 1]), of([0, 4, 2]), None, &[(0, 1), (1, 4), (4, 5), (5, 6)]);
    check(of([2, 3, 0]), RowParts::Broadcast, None, &[(0, 2), (2, 5)]);
    let star = &[(2, 169), (0, 2), (169, 171)];
    check(of([2, 167, 2]), of([0, 169, 2]), Some((2, 167)), star);
    check(of([0, 5, 0]), of([3, 2, 0]), None, &[(0, 3), (3, 5)]);
    // An empty core changes nothing, wherever it lies.
    check(of([0, 4, 0]), of([0, 4, 0]), Some((2, 0)), &[(0, 4)]);
    check(RowParts::Broadcast, RowParts::Broadcast, None, &[]);
    check(of([0, 0, 0]), of([0, 0, 0]), None, &[]);
    // A core across a part border is run in pieces, first.
    check(of([2, 4, 0]), RowParts::Broadcast, Some((1, 3)), &[(1, 2), (2, 4), (0, 1), (4, 6)]);
    let unequal = segments(&of([0, 4, 0]), &of([0, 4, 1]), None);
    assert_eq!(unequal, Err(SliceError::UnequalRows { left: 4, right: 5 }));
    let outside = segments(&of([0, 4, 0]), &RowParts::Broadcast, Some(&(2..5)));
    assert_eq!(outside, Err(SliceError::NotInside { range: 2..5, outer: 0..4 }));
    let boxes = segments_nd(&[of([1, 2, 0]), of([0, 2, 1])], &[RowParts::Broadcast; 2], None);
    assert_eq!(boxes.unwrap(), [[0..1, 0..2], [0..1, 2..3], [1..3, 0..2], [1..3, 2..3]]);
    let cored = segments_nd(
        &[of([1, 2, 0]), of([0, 2, 1])],
        &[RowParts::Broadcast; 2],
        Some(&[1..3, 0..2]),
    );
    assert_eq!(cored.unwrap()[0], [1..3, 0..2]);
}

#[test]
fn v20_end_to_end() {
    let check = |member, parts: [usize; 3], views: [[Pair; 3]; 2], core: Pair| {
        let rows = default_rows(10, 3, member).unwrap();
        let (target, bounds, got, cores) = statement(&rows, (1, 8, 1), &[(0, 8, 1), (2, 8, 1)]);
        assert_eq!((got, cores[1]), (parts, core));
        let [left, owned, right] = got;
        let stored = Parts { offset: bounds.0, left, owned, right };
        for (offset, expected) in [0, 2].into_iter().zip(views) {
            let view = subview(&stored, &slice((offset, 8, 1)), Some(&range(target))).unwrap();
            assert_eq!(view.parts.map(|part| (part.offset, part.count)), expected);
        }
    };
    check(0, [0, 3, 1], [[(0, 0), (0, 2), (0, 0)], [(0, 0), (2, 1), (0, 1)]], (0, 1));
    check(1, [1, 3, 1], [[(0, 1), (0, 2), (0, 0)], [(1, 0), (1, 2), (0, 1)]], (1, 1));
}

fn deliveries(owned: &[Range<usize>], boxes: &[Pair]) -> String {
    let boxes: Vec<_> = boxes.iter().copied().map(range).collect();
    let plan = halo_plan(owned, &boxes).unwrap();
    let text = plan.iter().map(|delivery| {
        let side = if delivery.side == HaloSide::Left { "L" } else { "R" };
        let (first, last) = (delivery.rows.start, delivery.rows.end - 1);
        let rows = if first == last { first.to_string() } else { format!("{first}-{last}") };
        format!("{}>{}:{rows} {side}", delivery.source, delivery.target)
    });
    text.collect::<Vec<_>>().join(", ")
}

#[test]
fn v19_halo_plans() {
    let owned = |extent| -> Vec<_> {
        (0..4).map(|member| default_rows(extent, 4, member).unwrap()).collect()
    };
    assert_eq!(
        deliveries(&owned(16), &[(0, 5), (3, 6), (7, 6), (11, 5)]),
        "0>1:3 L, 1>0:4 R, 1>2:7 L, 2>1:8 R, 2>3:11 L, 3>2:12 R"
    );
    assert_eq!(
        deliveries(&owned(16), &[(0, 6), (2, 8), (6, 8), (10, 6)]),
        "0>1:2-3 L, 1>0:4-5 R, 1>2:6-7 L, 2>1:8-9 R, 2>3:10-11 L, 3>2:12-13 R"
    );
    assert_eq!(
        deliveries(&owned(8), &[(0, 5), (0, 7), (1, 7), (3, 5)]),
        "0>1:0-1 L, 0>2:1 L, 1>0:2-3 R, 1>2:2-3 L, 1>3:3 L, 2>0:4 R, 2>1:4-5 R, 2>3:4-5 L, \
         3>1:6 R, 3>2:6-7 R"
    );
    assert_eq!(
        deliveries(&owned(5), &[(0, 2), (0, 3), (1, 3), (2, 3)]),
        "0>1:0 L, 1>0:1 R, 1>2:1 L, 2>1:2 R, 2>3:2 L, 3>2:3 R"
    );
    assert!(halo_plan(&owned(4), &[]).is_err());
}

#[test]
fn v21_gathering() {
    let check = |shape: &[usize], members, counts: &[usize], displacements: &[usize]| {
        let pieces = gather_pieces(shape, members).unwrap();
        assert_eq!(pieces.iter().map(|piece| piece.count).collect::<Vec<_>>(), counts);
        let got: Vec<_> = pieces.iter().map(|piece| piece.displacement).collect();
        assert_eq!(got, displacements);
    };
    check(&[11, 10], 4, &[20, 30, 30, 30], &[0, 20, 50, 80]);
    check(&[4, 4], 3, &[4, 4, 8], &[0, 4, 8]);
    check(&[110], 4, &[27, 27, 28, 28], &[0, 27, 54, 82]);
    check(&[3, 2], 5, &[0, 0, 2, 2, 2], &[0, 0, 0, 2, 4]);
    assert!(gather_pieces(&[4], 0).is_err());
    assert!(gather_pieces(&[0, usize::MAX, 2], 2).is_err());
    // The strided view a[4:12:2, 1:11:3] of 11x10.
    let rows = (0..4).map(|member| default_rows(11, 4, member).unwrap());
    let targets: Vec<Pair> =
        rows.map(|rows| pair(&local_target(&rows, &slice((4, 4, 2))).unwrap())).collect();
    assert_eq!(targets, [(0, 0), (0, 1), (1, 1), (2, 2)]);
}

#[test]
fn v22_sharded_offsets_of_a_slice() {
    let bounds = default_bounds(1024, 4).unwrap();
    let check = |numbers: Triple, expected: [usize; 5]| {
        assert_eq!(sharded_offsets(&bounds, &slice(numbers)).unwrap(), expected);
    };
    check((1, 4, 256), [0, 1, 2, 3, 4]);
    check((0, 3, 3), [0, 3, 3, 3, 3]);
    check((511, 3, 1), [0, 0, 1, 3, 3]);
    check((1000, 3, 1), [0, 0, 0, 0, 3]);
    check((255, 3, 257), [0, 1, 1, 2, 3]);
    check((100, 600, 1), [0, 156, 412, 600, 600]);
    assert!(sharded_offsets(&[0], &slice((0, 1, 1))).is_err());
    assert!(sharded_offsets(&[0, 5, 3], &slice((0, 1, 1))).is_err());
}

fn cut(shape: &[usize], grid: &[usize]) -> Vec<Vec<Range<usize>>> {
    let axis = |(extent, members): (&usize, &usize)| {
        (0..*members).map(|member| default_rows(*extent, *members, member).unwrap()).collect()
    };
    shape.iter().zip(grid).map(axis).collect()
}

fn region_text(region: &[Range<usize>]) -> String {
    let join = |numbers: Vec<usize>, by: &str| {
        numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(by)
    };
    let offset = join(region.iter().map(|range| range.start).collect(), ",");
    format!("({offset}){}", join(region.iter().map(Range::len).collect(), "x"))
}

#[test]
fn v23_parts_by_sign() {
    let owned = cut(&[10, 9], &[2, 3]);
    let requests = requests_of_radius(&owned, &[1, 1]).unwrap();
    let check = |member: usize, bounds: &str, expected: &str, senders: &[usize]| {
        assert_eq!(region_text(&requests[member]), bounds);
        let own = [owned[0][member / 3].clone(), owned[1][member % 3].clone()];
        let parts = parts_by_sign(&own, &requests[member]).unwrap();
        assert_eq!(parts.len(), 9);
        let halos = parts.iter().filter(|part| part.sign != [0, 0]);
        let shown: Vec<String> = halos
            .filter(|part| part.region.iter().all(|range| !range.is_empty()))
            .map(|part| format!("{},{}:{}", part.sign[0], part.sign[1], region_text(&part.region)))
            .collect();
        assert_eq!(shown.join(" "), expected);
        let plan = grid_halo_plan(&owned, &requests).unwrap();
        let got: Vec<_> = plan.iter().filter(|d| d.target == member).map(|d| d.source).collect();
        assert_eq!(got, senders);
    };
    check(0, "(0,0)6x4", "0,1:(0,3)5x1 1,0:(5,0)1x3 1,1:(5,3)1x1", &[1, 3, 4]);
    check(
        1,
        "(0,2)6x5",
        "0,-1:(0,2)5x1 0,1:(0,6)5x1 1,-1:(5,2)1x1 1,0:(5,3)1x3 1,1:(5,6)1x1",
        &[0, 2, 3, 4, 5],
    );
    let received = |member: usize| -> usize {
        requests[member].iter().map(Range::len).product::<usize>() - 15
    };
    assert_eq!((0..6).map(received).collect::<Vec<_>>(), [9, 15, 9, 9, 15, 9]);
}

#[test]
fn v24_uneven_grid() {
    let owned = cut(&[7, 8], &[2, 3]);
    let requests = requests_of_radius(&owned, &[1, 2]).unwrap();
    let plan = grid_halo_plan(&owned, &requests).unwrap();
    let check = |member: usize, bounds: &str, expected: &str| {
        assert_eq!(region_text(&requests[member]), bounds);
        let received = plan.iter().filter(|delivery| delivery.target == member);
        let text: Vec<String> =
            received.map(|d| format!("{} {}", d.source, region_text(&d.region))).collect();
        assert_eq!(text.join(", "), expected);
    };
    check(0, "(0,0)4x4", "1 (0,2)3x2, 3 (3,0)1x2, 4 (3,2)1x2");
    check(1, "(0,0)4x7", "0 (0,0)3x2, 2 (0,5)3x2, 3 (3,0)1x2, 4 (3,2)1x3, 5 (3,5)1x2");
    check(3, "(2,0)5x4", "0 (2,0)1x2, 1 (2,2)1x2, 4 (3,2)4x2");
    check(4, "(2,0)5x7", "0 (2,0)1x2, 1 (2,2)1x3, 2 (2,5)1x2, 3 (3,0)4x2, 5 (3,5)4x2");
}

#[test]
fn v25_cube() {
    let owned = cut(&[4, 4, 4], &[2, 2, 2]);
    let requests = requests_of_radius(&owned, &[1, 1, 1]).unwrap();
    let plan = grid_halo_plan(&owned, &requests).unwrap();
    for (member, request) in requests.iter().enumerate() {
        assert!(request.iter().all(|range| range.len() == 3));
        let sizes: Vec<usize> = plan
            .iter()
            .filter(|delivery| delivery.target == member)
            .map(|delivery| delivery.region.iter().map(Range::len).product())
            .collect();
        let count = |size: usize| sizes.iter().filter(|other| **other == size).count();
        assert_eq!((sizes.len(), count(4), count(2), count(1)), (7, 3, 3, 1));
    }
    for delivery in plan.iter().filter(|delivery| delivery.target == 0) {
        let source = delivery.source;
        let coordinates = [source / 4, source / 2 % 2, source % 2];
        let sign: Vec<usize> =
            delivery.sign.iter().map(|sign| usize::try_from(*sign).unwrap()).collect();
        assert_eq!(sign, coordinates);
    }
}

#[test]
fn absurd_numbers_are_refused() {
    assert_eq!(Slice::new(0, 1, 0), Err(SliceError::ZeroStride));
    for (offset, size, stride) in
        [(usize::MAX, 1, 1), (0, usize::MAX, 1), (0, 1 << 40, 1 << 40), (0, 1, usize::MAX)]
    {
        let got = Slice::new(offset, size, stride);
        assert!(matches!(got, Err(SliceError::TooLarge { .. })), "{offset} {size} {stride}");
    }
    let all = slice((0, 1, 1 << 48));
    assert_eq!(overlap(&(0..1 << 48), &all).unwrap().count, 1);
    assert!(overlap(&(0..usize::MAX), &all).is_err());
    assert!(parts((usize::MAX, 1, 1, 1)).ranges().is_err());
    assert!(bounding_box(&all, &(1 << 47..1 << 48), None).is_err());
    assert!(parts_by_sign(&vec![0..1; 9], &vec![0..1; 9]).is_err());
    assert!(grid_halo_plan(&[vec![]], &[vec![0..1]]).is_err());
    assert!(default_bounds(4, usize::MAX).is_err());
    assert!(requests_of_radius(&vec![vec![0..1; 100]; 9], &[1; 9]).is_err());
    assert!(gather_pieces(&[], usize::MAX).is_err());
    let message = Slice::new(0, 1, 0).unwrap_err().to_string();
    assert_eq!(message, "got stride 0, expected at least 1");
}

/// Bounds of nothing, and boxes of another number of axes, are named.
#[test]
fn lengths_must_agree() {
    let slice = Slice::new(0, 1, 1).unwrap();
    let error = sharded_offsets(&[], &slice).unwrap_err();
    assert_eq!(error, SliceError::WrongLength { got: 0, expected: 2 });
    assert!(repartition_nd(&[], &[]).is_err());
}
