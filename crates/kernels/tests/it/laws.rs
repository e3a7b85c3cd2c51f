//! What the loops do, against enumeration element by element.

use crate::common::{NestCase, alike, case_of, combinations, elements, naive, resized, sizes};
use pantile_geometry::Operator;
use pantile_kernels::{
    Combination, DType, Error, Layout, Nest, Scalar, identity, pack, start, supports,
};
use pantile_testkit::{Rng, cases};

fn two_sides(rng: &mut Rng) -> (NestCase, NestCase, Nest) {
    let sizes = sizes(rng);
    let other = resized(rng, &sizes);
    let (source, target) = (case_of(rng, &sizes), case_of(rng, &other));
    let nest = Nest::joint(&source.layout, &target.layout).unwrap();
    (source, target, nest)
}

/// Rows long enough to be streamed, at odd distances.
fn long_rows(rng: &mut Rng, rows: usize, length: usize) -> NestCase {
    use pantile_geometry::{IndexSet, Slab};
    let (from, pitch) = (rng.below(70), length + 70 + rng.below(70));
    let axes = [IndexSet::range(0, rows), IndexSet::range(from, from + length)];
    let axes = axes.iter().map(|set| set.indices().clone()).collect();
    let layout = Layout::of(&Slab { axes }, &[rows, pitch]).unwrap();
    let row = |row: usize| (row * pitch + from)..(row * pitch + from + length);
    NestCase { layout, offsets: (0..rows).flat_map(row).collect() }
}

fn bytes(rng: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| rng.bits().to_le_bytes()[3]).collect()
}

/// The cell at an offset.
fn cell(offset: usize, size: usize) -> std::ops::Range<usize> {
    offset * size..(offset + 1) * size
}

#[test]
fn layouts_enumerate_their_region() {
    cases("layouts", 2000, |rng| {
        let sizes = sizes(rng);
        let case = case_of(rng, &sizes);
        assert_eq!(case.layout.offsets().collect::<Vec<_>>(), case.offsets);
        assert_eq!(case.layout.len(), case.offsets.len());
        assert_eq!(case.layout.is_empty(), case.offsets.is_empty());
        assert_eq!(case.layout.span(), case.offsets.iter().max().map_or(0, |last| last + 1));
    });
}

#[test]
fn nests_tell_what_they_are() {
    let run = |offsets: &[usize]| offsets.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let first = |offsets: &[usize]| run(offsets).then(|| offsets.first().copied().unwrap_or(0));
    cases("properties", 2000, |rng| {
        let (source, target, nest) = two_sides(rng);
        assert_eq!(nest.len(), source.offsets.len());
        assert_eq!(nest.is_empty(), source.offsets.is_empty());
        assert_eq!(nest.source_span(), source.layout.span());
        assert_eq!(nest.target_span(), target.layout.span());
        assert_eq!(nest.is_identity(), source.offsets == target.offsets, "{nest:?}");
        assert_eq!(nest.source_contiguous(), first(&source.offsets), "{source:?}");
        assert_eq!(nest.target_contiguous(), first(&target.offsets), "{target:?}");
        let more = Layout::dense(0, source.offsets.len() + 1);
        assert!(matches!(Nest::joint(&source.layout, &more), Err(Error::Lengths { .. })));
    });
}

fn check_copy(rng: &mut Rng, sides: (&NestCase, &NestCase, &Nest), size: usize, streaming: bool) {
    let (source, target, nest) = sides;
    let skew = [rng.below(4), rng.below(70)];
    let from = bytes(rng, nest.source_span() * size + skew[0]);
    let mut into = bytes(rng, nest.target_span() * size + skew[1] + 9);
    let mut want = into.clone();
    for (from_at, into_at) in source.offsets.iter().zip(&target.offsets) {
        want[skew[1]..][cell(*into_at, size)]
            .copy_from_slice(&from[skew[0]..][cell(*from_at, size)]);
    }
    pack::copy_bytes(nest, size, &from[skew[0]..], &mut into[skew[1]..], streaming).unwrap();
    assert!(into == want, "{size} bytes, streaming {streaming}: {nest:?}");
}

#[test]
fn copies_move_every_element_and_nothing_else() {
    cases("copies", 4000, |rng| {
        let (source, target, nest) = two_sides(rng);
        for size in [1, 2, 4, 8, 16] {
            let streaming = rng.chance(1, 2);
            check_copy(rng, (&source, &target, &nest), size, streaming);
        }
    });
}

#[test]
fn long_rows_are_copied_with_and_without_streaming() {
    cases("long rows", 150, |rng| {
        let (rows, length) =
            (1 + rng.below(3), 1 + rng.below(*rng.clone().pick(&[300, 3000, 40_000])));
        let (source, target) = (long_rows(rng, rows, length), long_rows(rng, rows, length));
        let nest = Nest::joint(&source.layout, &target.layout).unwrap();
        let size = *rng.pick(&[1, 2, 4, 8, 16]);
        for streaming in [false, true] {
            check_copy(rng, (&source, &target, &nest), size, streaming);
        }
    });
}

fn check_combine(rng: &mut Rng, sides: (&NestCase, &NestCase, &Nest), how: Combination) {
    let (source, target, nest) = sides;
    let (dtype, size) = (how.dtype(), how.dtype().bytes());
    let from = elements(rng, dtype, nest.source_span());
    let mut into = elements(rng, dtype, nest.target_span() + 2);
    let mut want = into.clone();
    for (from_at, into_at) in source.offsets.iter().zip(&target.offsets) {
        let value =
            naive(dtype, how.operator(), &want[cell(*into_at, size)], &from[cell(*from_at, size)]);
        want[cell(*into_at, size)].copy_from_slice(&value);
    }
    pack::combine_bytes(nest, how, &from, &mut into).unwrap();
    assert!(alike(dtype, &into, &want), "{how:?} {nest:?}\n{into:?}\n{want:?}");
}

#[test]
fn combining_follows_the_operator() {
    cases("combining", 500, |rng| {
        let (source, target, nest) = two_sides(rng);
        for (dtype, operator) in combinations() {
            let how = Combination::new(dtype, operator).unwrap();
            check_combine(rng, (&source, &target, &nest), how);
        }
    });
}

#[test]
fn long_rows_are_combined() {
    cases("long combining", 40, |rng| {
        let (rows, length) = (1 + rng.below(2), 1 + rng.below(200));
        let (source, target) = (long_rows(rng, rows, length), long_rows(rng, rows, length));
        let nest = Nest::joint(&source.layout, &target.layout).unwrap();
        for (dtype, operator) in combinations() {
            let how = Combination::new(dtype, operator).unwrap();
            check_combine(rng, (&source, &target, &nest), how);
        }
    });
}

/// Two sources and their target, and how to combine them.
struct TwoSources<'a> {
    sources: [&'a NestCase; 2],
    target: &'a NestCase,
    how: Combination,
    streaming: bool,
}

fn check_two(rng: &mut Rng, two: &TwoSources<'_>) {
    let (dtype, size) = (two.how.dtype(), two.how.dtype().bytes());
    let nests = two.sources.map(|case| Nest::joint(&case.layout, &two.target.layout).unwrap());
    let from = two.sources.map(|case| elements(rng, dtype, case.layout.span()));
    let mut buffer = elements(rng, dtype, two.target.layout.span() + 66);
    let into = &mut buffer[rng.below(65)..];
    let mut want = into.to_vec();
    for (index, into_at) in two.target.offsets.iter().enumerate() {
        let [one, other] =
            [0, 1].map(|side| &from[side][cell(two.sources[side].offsets[index], size)]);
        let value = naive(dtype, two.how.operator(), one, other);
        want[cell(*into_at, size)].copy_from_slice(&value);
    }
    let sources = [&from[0][..], &from[1][..]];
    pack::combine_two_bytes([&nests[0], &nests[1]], two.how, sources, into, two.streaming).unwrap();
    assert!(alike(dtype, into, &want), "{:?} {nests:?}", two.how);
}

#[test]
fn two_sources_are_combined_into_a_third() {
    cases("two", 500, |rng| {
        let sizes = sizes(rng);
        let other = resized(rng, &sizes);
        let sources = [case_of(rng, &sizes), case_of(rng, &other)];
        let target = case_of(rng, &sizes);
        for (dtype, operator) in combinations() {
            let how = Combination::new(dtype, operator).unwrap();
            let streaming = rng.chance(1, 2);
            let sources = [&sources[0], &sources[1]];
            check_two(rng, &TwoSources { sources, target: &target, how, streaming });
        }
    });
}

#[test]
fn long_rows_of_two_sources_are_combined() {
    cases("long two", 20, |rng| {
        let (rows, length) = (1 + rng.below(2), 1 + rng.below(5000));
        let len = rows * length;
        let dense = NestCase { layout: Layout::dense(2, len), offsets: (2..2 + len).collect() };
        let strided = [long_rows(rng, rows, length), long_rows(rng, rows, length)];
        let target = if rng.chance(1, 2) { &strided[1] } else { &dense };
        let (dtype, operator) = *rng.pick(&combinations());
        let how = Combination::new(dtype, operator).unwrap();
        for streaming in [false, true] {
            check_two(rng, &TwoSources { sources: [&strided[0], &dense], target, how, streaming });
        }
    });
}

#[test]
fn targets_that_differ_are_written_one_after_the_other() {
    let list = pantile_geometry::IndexSet::from_list(vec![0, 2, 4, 6]);
    let slab = pantile_geometry::Slab { axes: vec![list.indices().clone()] };
    let apart = Layout::of(&slab, &[7]).unwrap();
    let dense = Layout::dense(0, 4);
    let nests = [&dense, &apart].map(|target| Nest::joint(&dense, target).unwrap());
    let sum = Combination::new(DType::U8, Operator::Sum).unwrap();
    let (one, other, mut target) = ([1, 2, 3, 4], [10, 20, 30, 40], [100; 7]);
    pack::combine_two_bytes([&nests[0], &nests[1]], sum, [&one, &other], &mut target, false)
        .unwrap();
    assert_eq!(target, [11, 2, 23, 4, 130, 100, 140]);
}

#[test]
fn filling_writes_the_layout_and_nothing_else() {
    cases("filling", 1500, |rng| {
        let sizes = sizes(rng);
        let case = case_of(rng, &sizes);
        let dtype = *rng.pick(&DType::ALL);
        let size = dtype.bytes();
        let value = Scalar::from_bytes(dtype, &elements(rng, dtype, 1)).unwrap();
        let mut into = bytes(rng, (case.layout.span() + 2) * size);
        let mut want = into.clone();
        case.offsets.iter().for_each(|at| want[cell(*at, size)].copy_from_slice(value.as_bytes()));
        pack::fill_bytes(&case.layout, &value, &mut into).unwrap();
        assert_eq!(into, want);
    });
}

#[test]
fn accumulations_start_without_a_trace() {
    let zeros = |rng: &mut Rng, dtype: DType| Scalar::from_bytes(dtype, &elements(rng, dtype, 1));
    cases("start", 300, |rng| {
        for (dtype, operator) in combinations() {
            let how = Combination::new(dtype, operator).unwrap();
            let value = zeros(rng, dtype).unwrap();
            // Complex products have no such start; see its documentation.
            if !matches!(dtype, DType::C64 | DType::C128) || operator == Operator::Sum {
                let first = start(dtype, operator).unwrap();
                let result = how.apply(&first, &value).unwrap();
                assert!(alike(dtype, result.as_bytes(), value.as_bytes()), "{how:?} {value:?}");
            }
            let other = zeros(rng, dtype).unwrap();
            let got = how.apply(&value, &other).unwrap();
            let want = naive(dtype, operator, value.as_bytes(), other.as_bytes());
            assert!(alike(dtype, got.as_bytes(), &want), "{how:?} {value:?} {other:?}");
        }
    });
}

#[test]
fn nothing_arrived_reads_as_the_identity() {
    fn check<T: pantile_kernels::Element>(values: [Option<T>; 6]) {
        for (operator, value) in Operator::ALL.into_iter().zip(values) {
            assert_eq!(supports(T::DTYPE, operator), value.is_some());
            let got = identity(T::DTYPE, operator);
            match value {
                Some(value) => assert_eq!(got, Ok(Scalar::of(value))),
                None => assert_eq!(got, Err(Error::Unsupported { operator, dtype: T::DTYPE })),
            }
        }
    }
    check([false, true, true, false, true, false].map(Some));
    check([0, 1, i8::MAX, i8::MIN, -1, 0].map(Some));
    check([0, 1, i16::MAX, i16::MIN, -1, 0].map(Some));
    check([0, 1, i32::MAX, i32::MIN, -1, 0].map(Some));
    check([0, 1, i64::MAX, i64::MIN, -1, 0].map(Some));
    check([0, 1, u8::MAX, 0, u8::MAX, 0].map(Some));
    check([0, 1, u16::MAX, 0, u16::MAX, 0].map(Some));
    check([0, 1, u32::MAX, 0, u32::MAX, 0].map(Some));
    check([0, 1, u64::MAX, 0, u64::MAX, 0].map(Some));
    let infinity = f32::INFINITY;
    check([Some(0f32), Some(1.0), Some(infinity), Some(-infinity), None, None]);
    let infinity = f64::INFINITY;
    check([Some(0f64), Some(1.0), Some(infinity), Some(-infinity), None, None]);
    let [zero, one] = [0f32, 1.0].map(|part| pantile_kernels::Complex::new(part, 0.0));
    check([Some(zero), Some(one), None, None, None, None]);
    let [zero, one] = [0f64, 1.0].map(|part| pantile_kernels::Complex::new(part, 0.0));
    check([Some(zero), Some(one), None, None, None, None]);
}
