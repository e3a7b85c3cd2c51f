//! What programs and reductions refuse.

use pantile_geometry::Operator;
use pantile_kernels::lanes::{LoopProgram, OutputTarget, OutputTargets, Scratch, Source, map};
use pantile_kernels::reduce::{Folds, LaneFold, reduce};
use pantile_kernels::{DType, Error, ExactSum, Scalar, bytes_of, bytes_of_mut};
use pantile_lanes::{BinaryOp, LaneOp, LoopBody};

/// Twice its input.
fn twice(dtype: DType) -> LoopProgram {
    let mut body = LoopBody::new();
    let input = body.input(dtype).unwrap();
    let sum = body.push(LaneOp::Binary(BinaryOp::Add, input, input)).unwrap();
    body.output(sum);
    LoopProgram::compile(&body).unwrap()
}

fn check(got: Result<(), Error>, error: &Error, words: &str) {
    assert_eq!(got.as_ref(), Err(error));
    assert_eq!(error.to_string(), words);
}

/// Runs twice its input over a buffer of 12 numbers, from and to these places of it.
fn run(shape: &[usize], from: (isize, &[isize]), to: (isize, &[isize])) -> Result<(), Error> {
    let mut numbers: Vec<i32> = (0..12).collect();
    let before = numbers.clone();
    let mut buffers = [bytes_of_mut(&mut numbers)];
    let source = Source::Buffer { buffer: 0, offset: from.0, strides: from.1 };
    let target = OutputTarget { buffer: 0, offset: to.0, strides: to.1 };
    let mut targets = OutputTargets { buffers: &mut buffers, places: &[target] };
    let got = map(&twice(DType::I32), shape, &[source], &mut targets, &mut Scratch::new());
    if got.is_err() {
        assert_eq!(numbers, before, "nothing was written");
    }
    got
}

#[test]
fn places_beyond_the_memory() {
    let beyond = |lowest, highest| Error::Reach { lowest, highest, elements: 12 };
    let words = "places 0 to 12 are used, expected them in 0..12";
    check(run(&[13], (0, &[1]), (0, &[1])), &beyond(0, 12), words);
    let words = "places -1 to 3 are used, expected them in 0..12";
    check(run(&[5], (3, &[-1]), (3, &[-1])), &beyond(-1, 3), words);
    let words = "places 2 to 14 are used, expected them in 0..12";
    check(run(&[3, 5], (2, &[4, 1]), (2, &[4, 1])), &beyond(2, 14), words);
    let far = isize::MAX;
    assert!(matches!(run(&[3], (far, &[far]), (0, &[1])), Err(Error::Reach { .. })));
    assert!(matches!(
        run(&[3], (0, &[1]), (11, &[1])),
        Err(Error::Overlap { .. } | Error::Reach { .. })
    ));
    assert_eq!(run(&[0, 99], (77, &[1, 1]), (-5, &[1, 1])), Ok(()), "nothing reaches nowhere");
    assert_eq!(run(&[], (11, &[]), (11, &[])), Ok(()));
    // Three bytes are no element.
    let (bytes, mut scratch) = ([0; 7], Scratch::new());
    let source = Source::Memory { bytes: &bytes, offset: 1, strides: &[] };
    let mut into = [0; 4];
    let place = [OutputTarget { buffer: 0, offset: 0, strides: &[] }];
    let mut targets = OutputTargets { buffers: &mut [&mut into], places: &place };
    let got = map(&twice(DType::I32), &[], &[source], &mut targets, &mut scratch);
    let words = "places 1 to 1 are used, expected them in 0..1";
    check(got, &Error::Reach { lowest: 1, highest: 1, elements: 1 }, words);
}

#[test]
fn targets_that_share_elements() {
    let words = "target 0 may share elements with others, expected them apart";
    let shared = Error::Overlap { target: 0 };
    check(run(&[4], (1, &[1]), (0, &[1])), &shared, words);
    check(run(&[4], (0, &[2]), (0, &[1])), &shared, words);
    check(run(&[4], (3, &[-1]), (0, &[1])), &shared, words);
    check(run(&[4], (0, &[0]), (0, &[1])), &shared, words);
    check(run(&[4], (9, &[1]), (3, &[0])), &shared, words);
    check(run(&[2, 2], (0, &[6, 2]), (0, &[2, 6])), &shared, words);
    assert_eq!(run(&[4], (0, &[2]), (0, &[2])), Ok(()), "the same");
    assert_eq!(run(&[4], (1, &[2]), (0, &[2])), Ok(()), "every other one");
    assert_eq!(run(&[2, 2], (2, &[6, 3]), (0, &[3, 6])), Ok(()), "apart by their distance");
    assert_eq!(run(&[4], (4, &[1]), (0, &[1])), Ok(()), "one after the other");
    assert_eq!(run(&[1], (4, &[7]), (4, &[0])), Ok(()), "the same, of one");
}

#[test]
fn targets_inside_of_wider_sources() {
    let mut body = LoopBody::new();
    let input = body.input(DType::F64).unwrap();
    let narrow = body.push(LaneOp::Cast(input, DType::F32)).unwrap();
    body.output(narrow);
    let program = LoopProgram::compile(&body).unwrap();
    // Every other number, into the first or second half of one of them.
    let run = |half: isize| {
        let mut numbers = [1.5; 8];
        let mut buffers = [bytes_of_mut(&mut numbers)];
        let source = Source::Buffer { buffer: 0, offset: 0, strides: &[2] };
        let places = [OutputTarget { buffer: 0, offset: half, strides: &[4] }];
        let mut targets = OutputTargets { buffers: &mut buffers, places: &places };
        map(&program, &[4], &[source], &mut targets, &mut Scratch::new())
    };
    assert_eq!(
        (run(0), run(1)),
        (Err(Error::Overlap { target: 0 }), Err(Error::Overlap { target: 0 }))
    );
    assert_eq!((run(2), run(3)), (Ok(()), Ok(())));
}

#[test]
fn numbers_and_types_that_do_not_fit() {
    let mut into = [0i32; 4];
    let strides = [1isize];
    let bytes = bytes_of(&[1i32, 2, 3, 4]);
    let memory = Source::Memory { bytes, offset: 0, strides: &strides };
    let mut try_map = |sources: &[Source<'_>], places: &[OutputTarget<'_>]| {
        let mut buffers = [bytes_of_mut(&mut into)];
        let mut targets = OutputTargets { buffers: &mut buffers, places };
        map(&twice(DType::I32), &[4], sources, &mut targets, &mut Scratch::new())
    };
    let place = OutputTarget { buffer: 0, offset: 0, strides: &strides };
    let counts = |what, got, expected| Error::Counts { what, got, expected };
    let words = "got 0 sources, expected 1";
    check(try_map(&[], &[place]), &counts("sources", 0, 1), words);
    check(try_map(&[memory], &[]), &counts("targets", 0, 1), "got 0 targets, expected 1");
    let two = OutputTarget { strides: &[1, 1], ..place };
    check(try_map(&[memory], &[two]), &counts("strides", 2, 1), "got 2 strides, expected 1");
    let none = Source::Memory { bytes, offset: 0, strides: &[] };
    check(try_map(&[none], &[place]), &counts("strides", 0, 1), "got 0 strides, expected 1");
    let third = OutputTarget { buffer: 2, ..place };
    check(try_map(&[memory], &[third]), &counts("buffers", 1, 3), "got 1 buffers, expected 3");
    let index = Source::Index { start: 0, strides: &[1] };
    let types = Error::DTypes { got: DType::I64, expected: DType::I32 };
    check(try_map(&[index], &[place]), &types, "got a value of type i64, expected i32");
    let scalar = Source::Scalar(Scalar::of(1u8));
    let types = Error::DTypes { got: DType::U8, expected: DType::I32 };
    check(try_map(&[scalar], &[place]), &types, "got a value of type u8, expected i32");
    assert_eq!(try_map(&[memory], &[place]), Ok(()));
    assert_eq!(into, [2, 4, 6, 8]);
}

#[test]
fn nodes_of_other_bodies() {
    let (mut body, mut other) = (LoopBody::new(), LoopBody::new());
    body.input(DType::F64).unwrap();
    let mut late = other.input(DType::F64).unwrap();
    late = other.push(LaneOp::Binary(BinaryOp::Add, late, late)).unwrap();
    // Bodies see it in tests, but not when they are built for speed.
    let named = std::panic::catch_unwind(move || {
        body.output(late);
        body
    });
    if let Ok(body) = named {
        let error = Error::Elements(pantile_lanes::Error::UnknownNode { node: 1, nodes: 1 });
        check(
            LoopProgram::compile(&body).map(|_| ()),
            &error,
            "got node 1, expected one of the 1 before it",
        );
    }
}

#[test]
fn cells_that_do_not_fit() {
    let values = [1.0, 2.0, 3.0];
    let source = Source::Memory { bytes: bytes_of(&values), offset: 0, strides: &[1] };
    let try_fold = |fold: LaneFold, cells: &mut [u8], strides: &[isize], source: Source<'_>| {
        let mut folds = Folds { folds: &[fold], cells: &mut [cells], offset: 0, strides };
        reduce(&twice(DType::F64), &[3], &[source], &mut folds, &mut Scratch::new())
    };
    let mut words = [0i64; 2 * ExactSum::WORDS];
    let bytes = bytes_of_mut(&mut words);
    let got = try_fold(LaneFold::Prod, bytes, &[0], source);
    let error = Error::Unsupported { operator: Operator::Prod, dtype: DType::F64 };
    check(got, &error, "operator prod is not defined for elements of type f64");
    let got = try_fold(LaneFold::Any, bytes, &[0], source);
    let error = Error::DTypes { got: DType::F64, expected: DType::Bool };
    check(got, &error, "got a value of type f64, expected bool");
    let got = try_fold(LaneFold::Sum, bytes, &[1], source);
    let error = Error::Reach { lowest: 0, highest: 2, elements: 2 };
    check(got, &error, "places 0 to 2 are used, expected them in 0..2");
    let got = try_fold(LaneFold::Sum, &mut bytes[8..], &[0], source);
    let misfit = |bytes, dtype| Error::Elements(pantile_lanes::Error::Misfit { dtype, bytes });
    let about = "1128 bytes are not whole and aligned elements of type i64";
    check(got, &misfit(1128, DType::I64), about);
    let got = try_fold(LaneFold::Max, &mut bytes[4..20], &[0], source);
    check(got, &misfit(16, DType::F64), "16 bytes are not whole and aligned elements of type f64");
    let got = LaneFold::Sum.start(DType::F64, &mut bytes[..8]);
    check(got, &misfit(8, DType::I64), "8 bytes are not whole and aligned elements of type i64");
    let buffer = Source::Buffer { buffer: 0, offset: 0, strides: &[1] };
    let error = Error::Counts { what: "buffers", got: 0, expected: 1 };
    check(try_fold(LaneFold::Sum, bytes, &[0], buffer), &error, "got 0 buffers, expected 1");
    let mut none = Folds { folds: &[], cells: &mut [], offset: 0, strides: &[0] };
    let got = reduce(&twice(DType::F64), &[3], &[source], &mut none, &mut Scratch::new());
    let error = Error::Counts { what: "folds", got: 0, expected: 1 };
    check(got, &error, "got 0 folds, expected 1");
    let mut none = Folds { folds: &[LaneFold::Sum], cells: &mut [], offset: 0, strides: &[0] };
    let got = reduce(&twice(DType::F64), &[3], &[source], &mut none, &mut Scratch::new());
    let error = Error::Counts { what: "cells", got: 0, expected: 1 };
    check(got, &error, "got 0 cells, expected 1");
    assert_eq!(try_fold(LaneFold::Sum, bytes, &[0], source), Ok(()));
    assert_eq!(ExactSum::read(words.first_chunk().unwrap()).to_f64(), 12.0);
}
