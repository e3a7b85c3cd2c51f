//! Reductions over large and small domains.

use std::hint::black_box;

use pantile_bench::bounds;
use pantile_kernels::lanes::{LoopProgram, Scratch, Source};
use pantile_kernels::reduce::{Folds, LaneFold, reduce};
use pantile_kernels::{DType, ExactSum, bytes_of, bytes_of_mut};
use pantile_lanes::BinaryOp;

use crate::maps::program;
use crate::numbers;
use crate::rounds::{BenchSetting, compare};

fn itself() -> LoopProgram {
    program(DType::F64, 1, |_, inputs| inputs[0])
}

fn product() -> LoopProgram {
    program(DType::F64, 2, |b, inputs| b.two(BinaryOp::Mul, inputs[0], inputs[1]))
}

/// Sums of all elements of arrays that lie side by side, as a number.
fn total(program: &LoopProgram, arrays: &[&[f64]], scratch: &mut Scratch) -> f64 {
    let count = arrays[0].len();
    let sources: Vec<Source<'_>> = (arrays.iter())
        .map(|array| Source::Memory { bytes: bytes_of(array), offset: 0, strides: &[1] })
        .collect();
    let mut words = [0; ExactSum::WORDS];
    let mut folds = Folds {
        folds: &[LaneFold::Sum],
        cells: &mut [bytes_of_mut(&mut words)],
        offset: 0,
        strides: &[0],
    };
    reduce(program, &[count], &sources, &mut folds, scratch).expect("it fits");
    ExactSum::read(&words).to_f64()
}

fn one_sum(setting: BenchSetting) {
    let count = setting.share(16 << 20, 16 << 10);
    let ours = itself();
    compare("sum", setting, count, &|go| {
        let (a, mut scratch) = (numbers(count, 1), Scratch::new());
        go(vec![
            (
                "ours",
                Box::new(|| {
                    black_box(total(&ours, &[&a], &mut scratch));
                }),
            ),
            (
                "plain",
                Box::new(|| {
                    black_box(bounds::sum(black_box(&a)));
                }),
            ),
        ]);
    });
}

fn one_dot(setting: BenchSetting) {
    let count = setting.share(16 << 20, 16 << 10);
    let ours = product();
    compare("dot", setting, count, &|go| {
        let (a, b, mut scratch) = (numbers(count, 1), numbers(count, 2), Scratch::new());
        go(vec![
            (
                "ours",
                Box::new(|| {
                    black_box(total(&ours, &[&a, &b], &mut scratch));
                }),
            ),
            (
                "plain",
                Box::new(|| {
                    black_box(bounds::dot(black_box(&a), black_box(&b)));
                }),
            ),
        ]);
    });
}

/// Sums of a matrix along an axis.
fn along(setting: BenchSetting, axis: usize, [rows, columns]: [usize; 2]) {
    let ours = itself();
    let what = format!("axis {axis} of {rows}x{columns}");
    compare(&what, setting, rows * columns, &|go| {
        let u = numbers(rows * columns, 1);
        let (cells, strides) = if axis == 0 { (columns, [0, 1]) } else { (rows, [1, 0]) };
        let mut words = vec![0; cells * ExactSum::WORDS];
        let (mut sums, mut plain) = (vec![0.0; cells], vec![0.0; cells]);
        let mut scratch = Scratch::new();
        let steps = [columns.cast_signed(), 1];
        go(vec![
            (
                "ours",
                Box::new(|| {
                    words.fill(0);
                    let source = Source::Memory { bytes: bytes_of(&u), offset: 0, strides: &steps };
                    let mut folds = Folds {
                        folds: &[LaneFold::Sum],
                        cells: &mut [bytes_of_mut(&mut words)],
                        offset: 0,
                        strides: &strides,
                    };
                    reduce(&ours, &[rows, columns], &[source], &mut folds, &mut scratch)
                        .expect("it fits");
                    for (result, words) in sums.iter_mut().zip(words.as_chunks().0) {
                        *result = ExactSum::read(words).to_f64();
                    }
                    black_box(&mut sums);
                }),
            ),
            (
                "plain",
                Box::new(|| match axis {
                    0 => bounds::columns(black_box(&u), columns, black_box(&mut plain)),
                    _ => bounds::rows(black_box(&u), columns, black_box(&mut plain)),
                }),
            ),
        ]);
    });
}

/// Sums of a matrix along an axis that are rounded at once, divided by a count.
fn rounded(setting: BenchSetting, axis: usize, [rows, columns]: [usize; 2], count: u64) {
    let ours = itself();
    let name = if count == 1 { "round" } else { "mean" };
    let what = format!("{name} {axis} {rows}x{columns}");
    compare(&what, setting, rows * columns, &|go| {
        let u = numbers(rows * columns, 1);
        let (cells, strides) = if axis == 0 { (columns, [0, 1]) } else { (rows, [1, 0]) };
        let (mut sums, mut plain) = (vec![0.0; cells], vec![0.0; cells]);
        let mut scratch = Scratch::new();
        let steps = [columns.cast_signed(), 1];
        go(vec![
            (
                "ours",
                Box::new(|| {
                    let source = Source::Memory { bytes: bytes_of(&u), offset: 0, strides: &steps };
                    let mut folds = Folds {
                        folds: &[LaneFold::Rounded { count }],
                        cells: &mut [bytes_of_mut(sums.as_mut_slice())],
                        offset: 0,
                        strides: &strides,
                    };
                    reduce(&ours, &[rows, columns], &[source], &mut folds, &mut scratch)
                        .expect("it fits");
                    black_box(&mut sums);
                }),
            ),
            (
                "plain",
                Box::new(|| match axis {
                    0 => bounds::columns(black_box(&u), columns, black_box(&mut plain)),
                    _ if columns < 256 => {
                        bounds::short_rows(black_box(&u), columns, black_box(&mut plain));
                    }
                    _ => bounds::rows(black_box(&u), columns, black_box(&mut plain)),
                }),
            ),
        ]);
    });
}

/// All cases whose names contain a word.
pub(crate) fn all(setting: BenchSetting, wanted: &dyn Fn(&str) -> bool) {
    if wanted("sum") {
        one_sum(setting);
    }
    if wanted("dot") {
        one_dot(setting);
    }
    if wanted("round") && setting.threads == 1 {
        if setting.big {
            rounded(setting, 1, [400_000, 4], 1);
            rounded(setting, 1, [400_000, 4], 3);
            rounded(setting, 1, [40_000, 100], 1);
            rounded(setting, 0, [1 << 20, 16], 1);
            rounded(setting, 0, [4096, 4096], 1);
            rounded(setting, 1, [4096, 4096], 1);
        } else {
            rounded(setting, 1, [1000, 4], 1);
            rounded(setting, 1, [1000, 20], 1);
            rounded(setting, 1, [1000, 100], 1);
            rounded(setting, 1, [1000, 100], 100);
            rounded(setting, 0, [512, 512], 1);
            rounded(setting, 1, [512, 512], 1);
        }
    }
    if !wanted("axis") || setting.threads > 1 {
        return;
    }
    if setting.big {
        along(setting, 0, [1 << 20, 16]);
        along(setting, 0, [4096, 4096]);
        along(setting, 1, [4096, 4096]);
    } else {
        along(setting, 0, [512, 512]);
        along(setting, 1, [512, 512]);
        along(setting, 1, [1000, 100]);
    }
}
