//! How fast loop bodies and reductions run, beside hand-written loops.
//!
//! `cargo bench -p pantile-kernels --bench lanes` prints medians of interleaved runs. The last
//! column is the time of the plain loop divided by ours: 1 is as fast, less is slower. Plain sums
//! are not exact: they have as many accumulators as are good for speed.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![allow(unsafe_code, reason = "the plain loops are compiled for the same vectors as ours")]

use std::hint::black_box;
use std::time::Duration;

use pantile_kernels::lanes::{Program, Scratch, Source, Target, Targets, map};
use pantile_kernels::reduce::{Fold, Folds, reduce};
use pantile_kernels::{DType, ExactSum, Scalar, Vectors, bytes_of, bytes_of_mut};
use pantile_lanes::{Body, Node, Op, Two};
use pantile_testkit::timing::medians;

/// Median times of two closures, run in turns.
fn compared(elements: usize, one: impl FnMut(), other: impl FnMut()) -> [Duration; 2] {
    medians(if elements > 1 << 20 { 15 } else { 101 }, one, other)
}

/// What one element costs, and how the plain loop compares.
fn report(what: &str, elements: usize, [ours, plain]: [Duration; 2]) {
    let each = ours.as_secs_f64() * 1e9 / elements as f64;
    let ratio = plain.as_secs_f64() / ours.as_secs_f64();
    println!("{what:<48} {ours:>9.1?} {each:>7.3} ns {plain:>9.1?} {ratio:>5.2}");
}

/// Numbers that look random.
fn numbers(count: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..count).map(|_| (0..4).map(|_| next() - 0.5).sum()).collect()
}

/// Plain loops, compiled for the vectors that ours use.
macro_rules! plain {
    ($($name:ident, $loops:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        #[inline(always)]
        fn $loops($($argument: $type),*) $body

        fn $name($($argument: $type),*) {
            #[target_feature(enable = "avx2,fma,avx512f")]
            #[cfg(target_arch = "x86_64")]
            fn with_avx512($($argument: $type),*) {
                $loops($($argument),*);
            }

            #[target_feature(enable = "avx2,fma")]
            #[cfg(target_arch = "x86_64")]
            fn with_avx2($($argument: $type),*) {
                $loops($($argument),*);
            }

            #[cfg(target_arch = "x86_64")]
            match Vectors::widest().bytes() {
                // SAFETY: the processor has them.
                64 => return unsafe { with_avx512($($argument),*) },
                // SAFETY: the processor has them.
                32 => return unsafe { with_avx2($($argument),*) },
                _ => {}
            }
            $loops($($argument),*);
        }
    )*};
}

plain! {
    plain_triad, triad_loop(a: &mut [f64], b: &[f64], c: &[f64]) {
        a.iter_mut().zip(b.iter().zip(c)).for_each(|(a, (b, c))| *a = b + 3.0 * c);
    }

    plain_stencil, stencil_loop(u: &[f64], into: &mut [f64], n: usize) {
        for y in 1..n - 1 {
            let [up, at, down] = [y - 1, y, y + 1].map(|y| &u[y * n..][..n]);
            let into = &mut into[y * n..][..n];
            for x in 1..n - 1 {
                into[x] = (up[x] + down[x] + at[x - 1] + at[x + 1]) * 0.25 - at[x];
            }
        }
    }

    plain_sums, sum_loop(u: &[f64], columns: usize, into: &mut [f64]) {
        for (into, row) in into.iter_mut().zip(u.chunks(columns)) {
            let mut sums = [0.0; 64];
            let (rows, rest) = row.as_chunks::<64>();
            for row in rows {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            *into = sums.iter().chain(rest).sum();
        }
    }

    plain_squares, square_loop(u: &[f64], into: &mut [f64]) {
        let mut sums = [0.0; 64];
        let (rows, rest) = u.as_chunks::<64>();
        for row in rows {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value * value);
        }
        into[0] = sums.iter().chain(rest).sum();
    }

    plain_columns, column_loop(u: &[f64], columns: usize, into: &mut [f64]) {
        into.fill(0.0);
        for row in u.chunks(columns) {
            into.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
}

/// A program of some inputs.
fn program(inputs: usize, build: impl FnOnce(&mut Body, &[Node]) -> Node) -> Program {
    let mut body = Body::new();
    let inputs: Vec<Node> = (0..inputs).map(|_| body.input(DType::F64).expect("a lane")).collect();
    let output = build(&mut body, &inputs);
    body.output(output);
    Program::compile(&body).expect("its own node")
}

fn two(body: &mut Body, two: Two, one: Node, other: Node) -> Node {
    body.push(Op::Two(two, one, other)).expect("floats")
}

fn number(body: &mut Body, value: f64) -> Node {
    body.constant(Scalar::of(value)).expect("a lane")
}

fn exact_sums() {
    let case = |what: &str, values: &[f64]| {
        let times = compared(
            values.len(),
            || {
                let mut sum = ExactSum::new();
                sum.add_slice_f64(black_box(values));
                black_box(sum.to_f64());
            },
            || {
                let mut sum = [0.0];
                plain_sums(black_box(values), values.len(), &mut sum);
                black_box(sum);
            },
        );
        report(&format!("exact sum of {} f64{what}", values.len()), values.len(), times);
    };
    for count in [100, 1000, 16_384, 131_072, 16 << 20] {
        case("", &numbers(count));
    }
    let spread: Vec<f64> = numbers(131_072).iter().map(|value| (value * 16.0).exp()).collect();
    case(", of many sizes", &spread);
}

fn triad(count: usize) {
    let program = program(2, |body, inputs| {
        let three = number(body, 3.0);
        let product = two(body, Two::Mul, inputs[1], three);
        two(body, Two::Add, inputs[0], product)
    });
    let (b, c) = (numbers(count), numbers(count));
    let (mut a, mut plain) = (vec![0.0; count], vec![0.0; count]);
    let mut scratch = Scratch::new();
    let times = compared(
        count,
        || {
            let sources = [&b, &c].map(|from| Source::Memory {
                bytes: bytes_of(from),
                offset: 0,
                strides: &[1],
            });
            let places = [Target { buffer: 0, offset: 0, strides: &[1] }];
            let mut targets = Targets { buffers: &mut [bytes_of_mut(&mut a)], places: &places };
            map(&program, &[count], &sources, &mut targets, &mut scratch).expect("it fits");
            black_box(&mut a);
        },
        || {
            plain_triad(&mut plain, black_box(&b), black_box(&c));
            black_box(&mut plain);
        },
    );
    assert_eq!(a, plain);
    report(&format!("triad of {count} f64"), count, times);
}

fn stencil(n: usize) {
    let program = program(5, |body, inputs| {
        let sum = two(body, Two::Add, inputs[0], inputs[1]);
        let sum = two(body, Two::Add, sum, inputs[2]);
        let sum = two(body, Two::Add, sum, inputs[3]);
        let quarter = number(body, 0.25);
        let mean = two(body, Two::Mul, sum, quarter);
        two(body, Two::Sub, mean, inputs[4])
    });
    let u = numbers(n * n);
    let (mut ours, mut plain) = (vec![0.0; n * n], vec![0.0; n * n]);
    let mut scratch = Scratch::new();
    let row = n.cast_signed();
    let steps = [row, 1];
    let times = compared(
        n * n,
        || {
            let sources = [-row, row, -1, 1, 0].map(|by| Source::Memory {
                bytes: bytes_of(&u),
                offset: row + 1 + by,
                strides: &steps,
            });
            let places = [Target { buffer: 0, offset: row + 1, strides: &steps }];
            let mut targets = Targets { buffers: &mut [bytes_of_mut(&mut ours)], places: &places };
            map(&program, &[n - 2; 2], &sources, &mut targets, &mut scratch).expect("it fits");
            black_box(&mut ours);
        },
        || {
            plain_stencil(black_box(&u), &mut plain, n);
            black_box(&mut plain);
        },
    );
    assert_eq!(ours, plain);
    report(&format!("5-point stencil of {n}x{n} f64"), n * n, times);
}

/// Sums of a matrix, over rows or over columns, or of all.
fn sums(what: &str, program: &Program, [rows, columns]: [usize; 2], strides: [isize; 2]) {
    let u = numbers(rows * columns);
    let cells = [rows, columns].into_iter().zip(strides);
    let cells: usize = cells.map(|(extent, step)| if step == 0 { 1 } else { extent }).product();
    let mut words = vec![0; cells * ExactSum::WORDS];
    let (mut ours, mut plain) = (vec![0.0; cells], vec![0.0; cells]);
    let mut scratch = Scratch::new();
    let steps = [columns.cast_signed(), 1];
    let source = |_| Source::Memory { bytes: bytes_of(&u), offset: 0, strides: &steps };
    let sources: Vec<Source<'_>> = program.inputs().iter().map(source).collect();
    let squares = sources.len() == 2;
    let times = compared(
        rows * columns,
        || {
            words.fill(0);
            let mut folds = Folds {
                folds: &[Fold::Sum],
                cells: &mut [bytes_of_mut(&mut words)],
                offset: 0,
                strides: &strides,
            };
            reduce(program, &[rows, columns], &sources, &mut folds, &mut scratch).expect("fits");
            for (result, words) in ours.iter_mut().zip(words.as_chunks().0) {
                *result = ExactSum::read(words).to_f64();
            }
            black_box(&mut ours);
        },
        || {
            match strides {
                [0, 0] if squares => plain_squares(black_box(&u), &mut plain),
                [0, 0] => plain_sums(black_box(&u), u.len(), &mut plain),
                [_, 0] => plain_sums(black_box(&u), columns, &mut plain),
                _ => plain_columns(black_box(&u), columns, &mut plain),
            }
            black_box(&mut plain);
        },
    );
    report(&format!("{what}, {rows}x{columns} f64"), rows * columns, times);
}

fn main() {
    println!("{:<48} {:>9} {:>10} {:>9} ratio", "", "ours", "element", "plain");
    exact_sums();
    for count in [100, 4096, 65_536, 8 << 20] {
        triad(count);
    }
    for n in [34, 258, 4098] {
        stencil(n);
    }
    let itself = program(1, |_, inputs| inputs[0]);
    let squares = program(2, |body, inputs| two(body, Two::Mul, inputs[0], inputs[1]));
    for shape in [[512, 512], [4096, 4096]] {
        sums("exact sum of all", &itself, shape, [0, 0]);
        sums("exact sum of squares", &squares, shape, [0, 0]);
        sums("exact sums over axis 0", &itself, shape, [0, 1]);
        sums("exact sums over axis 1", &itself, shape, [1, 0]);
    }
    sums("exact sums over axis 1", &itself, [10_000, 100], [1, 0]);
}
