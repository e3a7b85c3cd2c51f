//! How fast elements are packed and combined, beside plain copies and hand-written loops.
//!
//! `cargo bench -p pantile-kernels` prints medians of interleaved runs. The last column is the
//! time of the plain loop divided by ours: 1 is as fast, less is slower.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::time::Duration;

use bytemuck::AnyBitPattern;
use pantile_geometry::{IndexSet, Operator, Segment, Segments, Slab};
use pantile_kernels::pack::{self, Spread};
use pantile_kernels::{Combination, DType, Element, Layout, Nest, bytes_of, bytes_of_mut};
use pantile_testkit::timing::medians;

/// What one element costs, and how the plain loop compares.
fn report(what: &str, elements: usize, bytes: usize, [ours, plain]: [Duration; 2]) {
    let nanoseconds = ours.as_secs_f64() * 1e9;
    let (each, rate) = (nanoseconds / elements as f64, bytes as f64 / nanoseconds);
    let ratio = plain.as_secs_f64() / ours.as_secs_f64();
    println!("{what:<56} {ours:>9.1?} {each:>7.3} ns {rate:>6.2} GB/s {plain:>9.1?} {ratio:>5.2}");
}

fn layout(axes: &[IndexSet], shape: &[usize]) -> Layout {
    let axes = axes.iter().map(|set| set.indices().clone()).collect();
    Layout::of(&Slab { axes }, shape).expect("the places lie inside of the shape")
}

fn to_dense(layout: &Layout) -> Nest {
    Nest::joint(layout, &Layout::dense(0, layout.len())).expect("equally long")
}

/// Packs `nest` against a plain copy of as many bytes.
fn pack_case(what: &str, nest: &Nest, streaming: bool, runs: usize) {
    let source: Vec<f64> = (0..nest.source_span()).map(|at| at as f64).collect();
    let plain = source[..nest.len()].to_vec();
    let (mut target, mut copy) = (vec![0.0; nest.target_span()], vec![0.0; nest.len()]);
    let times = medians(
        runs,
        || {
            let target = bytes_of_mut(&mut target);
            pack::copy_bytes(nest, 8, bytes_of(&source), target, streaming).expect("it fits");
            black_box(target);
        },
        || {
            copy.copy_from_slice(black_box(&plain));
            black_box(&mut copy);
        },
    );
    report(what, nest.len(), 8 * nest.len(), times);
}

fn columns_of_a_matrix() {
    let rows = IndexSet::range(0, 4096);
    let block = layout(&[rows, IndexSet::range(1024, 3072)], &[4096, 4096]);
    let nest = to_dense(&block);
    pack_case("4096x2048 of 4096x4096 f64, streaming", &nest, true, 15);
    pack_case("4096x2048 of 4096x4096 f64, ordinary", &nest, false, 15);
    for columns in [128, 256, 512, 1024] {
        let rows = IndexSet::range(0, 1 << 13);
        let block = layout(&[rows, IndexSet::range(3, 3 + columns)], &[1 << 13, 2048]);
        let nest = to_dense(&block);
        pack_case(&format!("8192x{columns} of 8192x2048 f64, streaming"), &nest, true, 15);
        pack_case(&format!("8192x{columns} of 8192x2048 f64, ordinary"), &nest, false, 15);
    }
}

fn dealt_runs() {
    let dealt: Segments = Segment::strided(64, 64, 256, 65_536).into_iter().collect();
    let nest = to_dense(&layout(&[IndexSet::from_segments(dealt)], &[256 * 65_536]));
    pack_case("cyclic(64), 32 MB of 128 MB f64, ordinary", &nest, false, 15);
    let dealt: Segments = Segment::strided(8, 8, 32, 4096).into_iter().collect();
    let nest = to_dense(&layout(&[IndexSet::from_segments(dealt)], &[32 * 4096]));
    pack_case("cyclic(8), 256 KiB of 1 MiB f64", &nest, false, 101);
}

/// A box `[a, b, c]` to `[c, b, a]`, against loops over blocks of 32 by 32 of the outer axes.
fn transposed<T: Element + AnyBitPattern + Default>([a, b, c]: [usize; 3], runs: usize) {
    let source = vec![T::default(); a * b * c];
    let (mut target, mut plain) = (source.clone(), source.clone());
    let from = [1, c as isize, (b * c) as isize];
    let into = [(b * a) as isize, a as isize, 1];
    let times = medians(
        runs,
        || {
            let from = (bytes_of(&source), Spread { offset: 0, strides: &from });
            let into = (bytes_of_mut(&mut target), Spread { offset: 0, strides: &into });
            pack::copy_box_bytes(&[c, b, a], size_of::<T>(), from, into).expect("it fits");
            black_box(&mut target);
        },
        || {
            let source = black_box(&source);
            for top in (0..a).step_by(32) {
                for middle in 0..b {
                    for left in (0..c).step_by(32) {
                        for column in left..c.min(left + 32) {
                            for row in top..a.min(top + 32) {
                                plain[(column * b + middle) * a + row] =
                                    source[(row * b + middle) * c + column];
                            }
                        }
                    }
                }
            }
            black_box(&mut plain);
        },
    );
    let what = format!("turn {a}x{b}x{c} {}, beside blocks of 32", T::DTYPE);
    report(&what, source.len(), size_of_val(source.as_slice()), times);
}

/// Matrices and boxes whose axes change places.
fn transposed_boxes() {
    transposed::<f64>([4096, 1, 4096], 9);
    transposed::<f64>([4095, 1, 4097], 9);
    transposed::<f32>([4096, 1, 4096], 9);
    transposed::<i16>([4096, 1, 4096], 9);
    transposed::<u8>([4096, 1, 4096], 9);
    transposed::<f64>([256, 256, 256], 9);
    transposed::<f64>([4096, 1024, 3], 9);
    transposed::<f64>([512, 1, 512], 41);
    transposed::<f64>([64, 1, 64], 101);
    transposed::<f32>([64, 1, 64], 101);
}

/// Columns of a tile against the two loops that one would write by hand for them.
fn halo_columns() {
    let (rows, pitch) = (2048, 2050);
    for width in [1, 2, 3, 4, 8] {
        let columns = IndexSet::range(7, 7 + width);
        let halo = layout(&[IndexSet::range(0, rows), columns], &[rows, pitch]);
        let nest = to_dense(&halo);
        let source: Vec<f64> = (0..rows * pitch).map(|at| at as f64).collect();
        let (mut target, mut plain) = (vec![0.0; nest.len()], vec![0.0; nest.len()]);
        let times = medians(
            201,
            || {
                pack::copy_elements(&nest, &source, &mut target).expect("it fits");
                black_box(&mut target);
            },
            || {
                let rows = black_box(&source).chunks(pitch).zip(plain.chunks_mut(width));
                rows.for_each(|(row, into)| {
                    into.iter_mut().zip(&row[7..7 + width]).for_each(|(into, from)| *into = *from);
                });
                black_box(&mut plain);
            },
        );
        let what = format!("pack {width} columns of 2048 rows, f64, beside loops");
        report(&what, nest.len(), 8 * nest.len(), times);
    }
}

/// Sums of two arrays, in place and into a third.
fn sums(elements: usize, runs: usize) {
    let kib = elements * 8 / (1 << 10);
    let nest = to_dense(&Layout::dense(0, elements));
    let sum = Combination::new(DType::F64, Operator::Sum).expect("floats have sums");
    let (one, other) = (vec![1.0; elements], vec![2.0; elements]);
    let (mut ours, mut plain) = (vec![0.0; elements], vec![0.0; elements]);
    let times = medians(
        runs,
        || {
            let target = bytes_of_mut(&mut ours);
            pack::combine_bytes(&nest, sum, bytes_of(&one), target).expect("it fits");
            black_box(target);
        },
        || {
            plain.iter_mut().zip(black_box(&one)).for_each(|(into, term)| *into += term);
            black_box(&mut plain);
        },
    );
    report(&format!("combine sum, {kib} KiB f64"), elements, 8 * elements, times);
    for streaming in [true, false] {
        let times = medians(
            runs,
            || {
                let target = bytes_of_mut(&mut ours);
                let sources = [bytes_of(&one), bytes_of(&other)];
                pack::combine_two_bytes([&nest, &nest], sum, sources, target, streaming)
                    .expect("it fits");
                black_box(target);
            },
            || {
                let terms = black_box(&one).iter().zip(black_box(&other));
                plain.iter_mut().zip(terms).for_each(|(into, (one, other))| *into = one + other);
                black_box(&mut plain);
            },
        );
        let how = if streaming { "streaming" } else { "ordinary" };
        report(&format!("combine_two sum, {kib} KiB f64, {how}"), elements, 8 * elements, times);
    }
}

fn smallest_of_integers() {
    let elements = 1 << 12;
    let nest = to_dense(&Layout::dense(0, elements));
    let min = Combination::new(DType::I64, Operator::Min).expect("integers have minima");
    let one: Vec<i64> = (0..elements as i64).collect();
    let (mut ours, mut plain) = (vec![5; elements], vec![5; elements]);
    let times = medians(
        101,
        || {
            pack::combine_elements(&nest, min, &one, &mut ours).expect("it fits");
            black_box(&mut ours);
        },
        || {
            let pairs = plain.iter_mut().zip(black_box(&one));
            pairs.for_each(|(into, term)| *into = (*into).min(*term));
            black_box(&mut plain);
        },
    );
    report("combine min, 32 KiB i64", elements, 8 * elements, times);
}

fn main() {
    println!("{:<56} {:>9} {:>10} {:>11} {:>9} ratio", "", "ours", "element", "", "plain");
    columns_of_a_matrix();
    dealt_runs();
    transposed_boxes();
    halo_columns();
    sums(8 << 20, 15);
    sums(4096, 101);
    smallest_of_integers();
}
