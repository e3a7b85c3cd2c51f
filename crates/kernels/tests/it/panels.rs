//! Loop bodies over sources whose rows are columns in memory, against a loop over all positions.

use pantile_kernels::lanes::{LoopProgram, OutputTarget, OutputTargets, Scratch, Source, map};
use pantile_kernels::{DType, Element, Scalar, Vectors, bytes_of, bytes_of_mut};
use pantile_lanes::{BinaryOp, LaneFunction, LaneOp, LoopBody, evaluate};
use pantile_testkit::{Rng, cases};

/// `x * y + z`, and `x` as it is.
fn body(dtype: DType) -> LoopBody {
    let mut body = LoopBody::new();
    let [x, y, z] = [0, 1, 2].map(|_| body.input(dtype).unwrap());
    let product = body.push(LaneOp::Binary(BinaryOp::Mul, x, y)).unwrap();
    let sum = body.push(LaneOp::Binary(BinaryOp::Add, product, z)).unwrap();
    body.output(sum);
    body.output(x);
    body
}

/// Where the elements of a matrix lie.
#[derive(Clone, Debug)]
struct PanelView {
    offset: isize,
    strides: [isize; 3],
    elements: usize,
}

/// Axes in some order with some room, some of them backwards.
fn view(rng: &mut Rng, shape: [usize; 3], order: [usize; 3]) -> PanelView {
    let mut view = PanelView { offset: 0, strides: [0; 3], elements: 1 };
    for axis in order.into_iter().rev() {
        let stride = view.elements as isize;
        view.strides[axis] = stride;
        if rng.chance(1, 6) {
            view.strides[axis] = -stride;
            view.offset += stride * (shape[axis] as isize - 1);
        }
        view.elements = view.elements * shape[axis] + if rng.chance(1, 3) { 3 } else { 0 };
    }
    view
}

impl PanelView {
    fn place(&self, at: [usize; 3]) -> usize {
        let along = at.iter().zip(self.strides).map(|(at, stride)| *at as isize * stride);
        (self.offset + along.sum::<isize>()) as usize
    }
}

const ORDERS: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 2], [2, 1, 0], [1, 2, 0]];

fn check<T: Element + PartialEq + bytemuck::AnyBitPattern>(
    rng: &mut Rng,
    shape: [usize; 3],
    number: impl Fn(usize) -> T,
    compute: impl Fn(T, T, T) -> T,
) {
    let sets: Vec<Vectors> = Vectors::all().collect();
    let program = LoopProgram::compile_for(&body(T::DTYPE), *rng.pick(&sets)).unwrap();
    let views: Vec<PanelView> = (0..3)
        .map(|_| {
            let order = *rng.pick(&ORDERS);
            view(rng, shape, order)
        })
        .collect();
    let make = |view: &PanelView| -> Vec<T> {
        let salt = view.elements;
        (0..view.elements).map(|at| number(at.wrapping_mul(salt * 2 + 7919))).collect()
    };
    let arrays: Vec<Vec<T>> = views.iter().map(make).collect();
    let targets = [[0, 1, 2], *rng.pick(&ORDERS)].map(|order| view(rng, shape, order));
    let mut results = [make(&targets[0]), make(&targets[1])];
    let mut expected = results.clone();
    for at in positions(shape) {
        let [x, y, z] = [0, 1, 2].map(|source| arrays[source][views[source].place(at)]);
        expected[0][targets[0].place(at)] = compute(x, y, z);
        expected[1][targets[1].place(at)] = x;
    }
    let sources: Vec<Source<'_>> = (arrays.iter().zip(&views))
        .map(|(array, view)| Source::Memory {
            bytes: bytes_of(array),
            offset: view.offset,
            strides: &view.strides,
        })
        .collect();
    let [one, other] = &mut results;
    let mut buffers = [bytes_of_mut(one), bytes_of_mut(other)];
    let places = [0, 1].map(|buffer| OutputTarget {
        buffer,
        offset: targets[buffer].offset,
        strides: &targets[buffer].strides,
    });
    let mut into = OutputTargets { buffers: &mut buffers, places: &places };
    map(&program, &shape, &sources, &mut into, &mut Scratch::new()).unwrap();
    assert!(results == expected, "{shape:?} of {:?}: {views:?} to {targets:?}", T::DTYPE);
}

fn positions([a, b, c]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| [i, j, k])))
}

fn check_some(rng: &mut Rng, shape: [usize; 3]) {
    match rng.below(4) {
        0 => check(rng, shape, |at| (at % 1009) as f64, |x, y, z| x * y + z),
        1 => check(rng, shape, |at| (at % 1009) as f32, |x, y, z| x * y + z),
        2 => {
            let wrap = |x: i16, y: i16, z: i16| x.wrapping_mul(y).wrapping_add(z);
            check(rng, shape, |at| i16::try_from(at % 30011).unwrap(), wrap);
        }
        _ => {
            let wrap = |x: u8, y: u8, z: u8| x.wrapping_mul(y).wrapping_add(z);
            check(rng, shape, |at| u8::try_from(at % 251).unwrap(), wrap);
        }
    }
}

#[test]
fn transposed_sources_are_read_as_they_are() {
    cases("panels", 300, |rng| {
        let most = *rng.pick(&[5, 40, 300]);
        let shape = [1 + rng.below(3), 1 + rng.below(most), 1 + rng.below(most)];
        check_some(rng, shape);
    });
}

/// Rows that are longer than panels, and panels that are longer than blocks: the functions keep
/// what they are given in memory of their own.
#[test]
fn transposed_sources_of_long_rows() {
    let mut body = LoopBody::new();
    let [x, y] = [0, 1].map(|_| body.input(DType::F64).unwrap());
    let functions = [LaneFunction::Exp, LaneFunction::Atan, LaneFunction::Erf];
    let [a, b, c] = functions.map(|function| body.push(LaneOp::Call(function, [x; 3])).unwrap());
    let mut sum = y;
    for node in [a, b, c] {
        sum = body.push(LaneOp::Binary(BinaryOp::Add, sum, node)).unwrap();
    }
    body.output(sum);
    let sets: Vec<Vectors> = Vectors::all().collect();
    cases("long panels", 12, |rng| {
        let (rows, columns) = (1 + rng.below(20), 1000 + rng.below(200));
        let numbers = |salt: usize| -> Vec<f64> {
            (0..rows * columns).map(|at| ((at * salt) % 1009) as f64 / 512.0 - 1.0).collect()
        };
        let (across, along) = (numbers(7919), numbers(104_729));
        let mut got = vec![0.0; rows * columns];
        let program = LoopProgram::compile_for(&body, *rng.pick(&sets)).unwrap();
        let strides = [[1, rows.cast_signed()], [columns.cast_signed(), 1]];
        let sources = [(&across, &strides[0]), (&along, &strides[1])]
            .map(|(array, strides)| Source::Memory { bytes: bytes_of(array), offset: 0, strides });
        let places = [OutputTarget { buffer: 0, offset: 0, strides: &strides[1] }];
        let mut buffers = [bytes_of_mut(&mut got)];
        let mut into = OutputTargets { buffers: &mut buffers, places: &places };
        map(&program, &[rows, columns], &sources, &mut into, &mut Scratch::new()).unwrap();
        // Blocks begin at multiples of 256; all of the first row, and some of the others.
        for (at, got) in got.iter().enumerate().filter(|(at, _)| *at < columns || at % 37 == 0) {
            let place = (at % columns) * rows + at / columns;
            let inputs = [across[place], along[at]].map(Scalar::of);
            assert_eq!(evaluate(&body, &inputs).unwrap(), [Scalar::of(*got)], "{at}");
        }
    });
}

/// Targets that are written with non-temporal stores.
#[test]
fn transposed_sources_of_large_targets() {
    cases("large panels", 3, |rng| {
        let shape = [1, 512 + rng.below(70), 1024 + rng.below(9)];
        check(rng, shape, |at| (at % 1009) as f64, |x, y, z| x * y + z);
    });
}
