//! Programs on blocks against their bodies, element by element.

use crate::bodies::{
    BodyCase, BodyView, LANES, ONES, TABLE, TWOS, edges, element, is_float, memory, positions,
    shape, value, view,
};
use pantile_kernels::lanes::{LoopProgram, OutputTarget, OutputTargets, Scratch, Source, map};
use pantile_kernels::{DType, Scalar, Vectors, bytes_of_mut};
use pantile_lanes::{LaneNode, LaneOp, LoopBody, SumTerms};
use pantile_testkit::{Rng, cases};

/// Runs a body on all combinations of edge values of its inputs.
fn check_edges(case: &BodyCase) {
    let body = &case.body;
    let values: Vec<Vec<Scalar>> = body.inputs().iter().map(|dtype| edges(*dtype)).collect();
    let values: Vec<Vec<Scalar>> = match values.len() {
        // Three operands: not all combinations of all edges.
        3 => values.into_iter().map(|few| few.into_iter().step_by(3).collect()).collect(),
        _ => values,
    };
    let shape: Vec<usize> = values.iter().map(Vec::len).collect();
    let memory: Vec<Vec<u8>> =
        values.iter().map(|few| few.iter().flat_map(|v| v.as_bytes().to_vec()).collect()).collect();
    let strides: Vec<Vec<isize>> = (0..shape.len())
        .map(|input| (0..shape.len()).map(|axis| isize::from(axis == input)).collect())
        .collect();
    let sources: Vec<Source<'_>> = (memory.iter().zip(&strides))
        .map(|(bytes, strides)| Source::Memory { bytes, offset: 0, strides })
        .collect();
    let dtype = body.dtype(body.outputs()[0]);
    let positions = positions(&shape);
    let dense: Vec<isize> = (0..shape.len())
        .map(|axis| shape[axis + 1..].iter().product::<usize>().cast_signed())
        .collect();
    for vectors in Vectors::all() {
        let program = LoopProgram::compile_for(body, vectors).unwrap();
        let mut bytes = vec![0xAA; positions.len() * dtype.bytes()];
        let places = [OutputTarget { buffer: 0, offset: 0, strides: &dense }];
        let mut targets = OutputTargets { buffers: &mut [&mut bytes], places: &places };
        map(&program, &shape, &sources, &mut targets, &mut Scratch::new()).unwrap();
        for (place, position) in positions.iter().enumerate() {
            let inputs: Vec<Scalar> =
                position.iter().zip(&values).map(|(at, values)| values[*at]).collect();
            case.check(&inputs, &[element(dtype, &bytes, place)], &vectors);
        }
    }
}

#[test]
fn every_operation_on_every_type() {
    let mut met = 0;
    let mut check = |inputs: &[DType], op: &dyn Fn(&[LaneNode]) -> LaneOp, fixed: bool| {
        if let Some(case) = BodyCase::single(inputs, op, fixed) {
            met += 1;
            check_edges(&case);
        }
    };
    for dtype in LANES {
        for one in ONES {
            check(
                &[dtype],
                &|n| LaneOp::Unary(one, n[0]),
                one == pantile_lanes::UnaryOp::Canonical,
            );
        }
        for two in TWOS {
            check(&[dtype, dtype], &|n| LaneOp::Binary(two, n[0], n[1]), !is_float(dtype));
        }
        for to in LANES {
            check(&[dtype], &|n| LaneOp::Cast(n[0], to), !is_float(to));
            check(&[dtype], &|n| LaneOp::Bits(n[0], to), true);
        }
        check(&[DType::Bool, dtype, dtype], &|n| LaneOp::Select(n[0], n[1], n[2]), true);
        check(&[dtype; 3], &|n| LaneOp::MulAdd(n[0], n[1], n[2]), false);
        check(&[dtype], &|n| LaneOp::Table(TABLE, n[0]), true);
        for count in 1..=3 {
            check(&vec![dtype; count], &|n| LaneOp::Sum(SumTerms::new(n).unwrap()), false);
        }
    }
    // 41 of one lane, 162 of two, 121 casts, 26 as bits, 11 choices, 2 fused, 1 table, 6 sums.
    assert_eq!(met, 41 + 162 + 121 + 26 + 11 + 2 + 1 + 6);
}

/// Where an input of a random case comes from.
#[derive(Debug)]
enum TestSource {
    Memory(Vec<u8>, BodyView),
    OutputTarget(usize),
    Index(i64, Vec<i64>),
    Scalar(Scalar),
}

/// Targets, all in buffers of their own or, like parts of complex numbers, two in one.
struct TestPlaces {
    views: Vec<(usize, BodyView)>,
    buffers: Vec<Vec<u8>>,
}

fn places(rng: &mut Rng, case: &BodyCase, shape: &[usize]) -> TestPlaces {
    let types: Vec<DType> = case.body.outputs().iter().map(|node| case.body.dtype(*node)).collect();
    let (mut views, mut buffers): (Vec<(usize, BodyView)>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    let mut output = 0;
    while output < types.len() {
        let dtype = types[output];
        let pair = types.get(output + 1) == Some(&dtype) && rng.chance(1, 2);
        let mut first = view(rng, shape, false, 1 + usize::from(pair));
        first.elements += 1;
        buffers.push(memory(rng, dtype, first.elements));
        views.push((buffers.len() - 1, first.clone()));
        if pair {
            first.offset += 1;
            views.push((buffers.len() - 1, first));
        }
        output += 1 + usize::from(pair);
    }
    TestPlaces { views, buffers }
}

fn origin(rng: &mut Rng, case: &BodyCase, shape: &[usize], input: usize) -> TestSource {
    let dtype = case.body.inputs()[input];
    let outputs = case.body.outputs();
    let same: Vec<usize> =
        (0..outputs.len()).filter(|output| case.body.dtype(outputs[*output]) == dtype).collect();
    match rng.below(8) {
        0 => TestSource::Scalar(value(rng, dtype)),
        1 if dtype == DType::I64 => {
            let strides = shape.iter().map(|_| rng.range(-9, 99)).collect();
            TestSource::Index(rng.bits().cast_signed(), strides)
        }
        2 | 3 if !same.is_empty() => TestSource::OutputTarget(*rng.pick(&same)),
        _ => {
            let view = view(rng, shape, true, 1);
            TestSource::Memory(memory(rng, dtype, view.elements), view)
        }
    }
}

/// Runs a case and checks every element, and that nothing else was written.
fn check_random(
    case: &BodyCase,
    shape: &[usize],
    origins: &[TestSource],
    places: TestPlaces,
    (vectors, scratch): (Vectors, &mut Scratch),
) {
    let TestPlaces { views, mut buffers } = places;
    let before = buffers.clone();
    let sources: Vec<Source<'_>> = (origins.iter())
        .map(|origin| match origin {
            TestSource::Memory(bytes, view) => {
                Source::Memory { bytes, offset: view.offset, strides: &view.strides }
            }
            TestSource::OutputTarget(target) => {
                let (buffer, view) = &views[*target];
                Source::Buffer { buffer: *buffer, offset: view.offset, strides: &view.strides }
            }
            TestSource::Index(start, strides) => Source::Index { start: *start, strides },
            TestSource::Scalar(value) => Source::Scalar(*value),
        })
        .collect();
    let targets: Vec<OutputTarget<'_>> = (views.iter())
        .map(|(buffer, view)| OutputTarget {
            buffer: *buffer,
            offset: view.offset,
            strides: &view.strides,
        })
        .collect();
    let program = LoopProgram::compile_for(&case.body, vectors).unwrap();
    let mut slices: Vec<&mut [u8]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
    let mut all = OutputTargets { buffers: &mut slices, places: &targets };
    map(&program, shape, &sources, &mut all, scratch).unwrap();
    let mut expected = before.clone();
    for position in positions(shape) {
        let inputs: Vec<Scalar> = (origins.iter().zip(case.body.inputs()))
            .map(|(origin, dtype)| match origin {
                TestSource::Memory(bytes, view) => element(*dtype, bytes, view.place(&position)),
                TestSource::OutputTarget(target) => {
                    let (buffer, view) = &views[*target];
                    element(*dtype, &before[*buffer], view.place(&position))
                }
                TestSource::Index(start, strides) => {
                    let along = position.iter().zip(strides).map(|(at, step)| *at as i64 * step);
                    Scalar::of(along.fold(*start, i64::wrapping_add))
                }
                TestSource::Scalar(value) => *value,
            })
            .collect();
        let got: Vec<Scalar> = (views.iter().zip(case.body.outputs()))
            .map(|((buffer, view), node)| {
                element(case.body.dtype(*node), &buffers[*buffer], view.place(&position))
            })
            .collect();
        case.check(&inputs, &got, &(shape, vectors, &position));
        for (((buffer, view), node), got) in views.iter().zip(case.body.outputs()).zip(&got) {
            let bytes = case.body.dtype(*node).bytes();
            expected[*buffer][view.place(&position) * bytes..][..bytes]
                .copy_from_slice(got.as_bytes());
        }
    }
    assert_eq!(buffers, expected, "bytes between the elements, or bools above 1");
}

#[test]
fn programs_compute_what_their_bodies_mean() {
    let mut scratch = Scratch::new();
    let sets: Vec<Vectors> = Vectors::all().collect();
    cases("programs", 1500, |rng| {
        let (inputs, ops, outputs) = (rng.below(4), rng.below(25), rng.below(4));
        let case = BodyCase::random(rng, inputs, ops).outputs(rng, outputs);
        let shape = shape(rng);
        let places = places(rng, &case, &shape);
        let origins: Vec<TestSource> =
            (0..inputs).map(|input| origin(rng, &case, &shape, input)).collect();
        check_random(&case, &shape, &origins, places, (*rng.pick(&sets), &mut scratch));
    });
}

#[test]
fn two_arrays_change_places() {
    let mut body = LoopBody::new();
    let (a, b) = (body.input(DType::F64).unwrap(), body.input(DType::F64).unwrap());
    body.output(b);
    body.output(a);
    let program = LoopProgram::compile(&body).unwrap();
    let (mut one, mut other) = (vec![1.0; 3000], vec![2.0; 3000]);
    let mut buffers = [bytes_of_mut(&mut one), bytes_of_mut(&mut other)];
    let sources = [0, 1].map(|buffer| Source::Buffer { buffer, offset: 0, strides: &[1] });
    let places = [0, 1].map(|buffer| OutputTarget { buffer, offset: 0, strides: &[1] });
    let mut targets = OutputTargets { buffers: &mut buffers, places: &places };
    map(&program, &[3000], &sources, &mut targets, &mut Scratch::new()).unwrap();
    assert!(one.iter().all(|value| *value == 2.0) && other.iter().all(|value| *value == 1.0));
}

#[test]
fn bools_that_are_moved_as_numbers_are_0_or_1() {
    for length in [1, 5, 300, 9000] {
        let mut body = LoopBody::new();
        let a = body.input(DType::Bool).unwrap();
        let number = body.push(LaneOp::Cast(a, DType::I8)).unwrap();
        body.output(number);
        let program = LoopProgram::compile(&body).unwrap();
        let bytes: Vec<u8> = [0, 1, 2, 3].into_iter().cycle().take(length).collect();
        let mut found = vec![9u8; length];
        let sources = [Source::Memory { bytes: &bytes, offset: 0, strides: &[1] }];
        let places = [OutputTarget { buffer: 0, offset: 0, strides: &[1] }];
        let mut targets = OutputTargets { buffers: &mut [&mut found], places: &places };
        map(&program, &[length], &sources, &mut targets, &mut Scratch::new()).unwrap();
        let expected: Vec<u8> = bytes.iter().map(|byte| u8::from(*byte != 0)).collect();
        assert_eq!(found, expected, "{length}");
    }
}
