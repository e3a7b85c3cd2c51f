//! How fast products of matrices are, beside a plain nest of loops.
//!
//! `cargo bench -p pantile-kernels --bench contract` prints, for every case, billions of operations a
//! second (a term is two) of ours and of the loops, and theirs divided by ours in time. The loops go
//! through rows, terms and columns in this order, so that a compiler makes vectors of them, and
//! round every step: they are what one writes without much thought. Words after `--` choose cases.
#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::cast_possible_truncation, reason = "numbers are made for the type")]

use std::time::Instant;

use pantile_kernels::contract::{MatrixLayout, Packed, contract};
use pantile_kernels::{DType, Element, bytes_of, bytes_of_mut};

/// Shape of a product, and whether the left side lies across.
struct ContractCase {
    name: &'static str,
    shape: [usize; 3],
    across: bool,
}

const CASES: [ContractCase; 8] = [
    ContractCase { name: "square 2048", shape: [2048, 2048, 2048], across: false },
    ContractCase { name: "square 512", shape: [512, 512, 512], across: false },
    ContractCase { name: "square 64", shape: [64, 64, 64], across: false },
    ContractCase { name: "square 8", shape: [8, 8, 8], across: false },
    ContractCase { name: "across 512", shape: [512, 512, 512], across: true },
    ContractCase { name: "matrix vector", shape: [4096, 1, 4096], across: false },
    ContractCase { name: "vector matrix", shape: [1, 4096, 4096], across: false },
    ContractCase { name: "tall 100000x16", shape: [100_000, 16, 16], across: false },
];

fn numbers(count: usize, seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..count).map(move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    })
}

/// The median of a few times.
fn seconds(mut run: impl FnMut()) -> f64 {
    run();
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let (start, mut count) = (Instant::now(), 0);
            while count == 0 || start.elapsed().as_millis() < 20 {
                run();
                count += 1;
            }
            start.elapsed().as_secs_f64() / f64::from(count)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure<T: Element + bytemuck::Pod>(
    case: &ContractCase,
    dtype: DType,
    of: impl Fn(f64) -> T,
) -> f64 {
    let [rows, columns, terms] = case.shape;
    let left: Vec<T> = numbers(rows * terms, 1).map(&of).collect();
    let right: Vec<T> = numbers(terms * columns, 2).map(&of).collect();
    let mut to: Vec<T> = numbers(rows * columns, 3).map(&of).collect();
    let stride = |length: usize| length.cast_signed();
    let one = if case.across { [1, 0, stride(rows)] } else { [stride(terms), 0, 1] };
    let (other, result) = ([0, 1, stride(columns)], [stride(columns), 1, 0]);
    let place = |strides| MatrixLayout { offset: 0, strides };
    let mut packed = Packed::default();
    seconds(|| {
        contract(
            (dtype, &case.shape),
            (bytes_of(&left), place(&one)),
            (bytes_of(&right), place(&other)),
            (bytes_of_mut(&mut to), place(&result)),
            &mut packed,
        )
        .expect("the operands fit");
    })
}

/// Rows, terms, columns.
fn plain(case: &ContractCase) -> f64 {
    let [rows, columns, terms] = case.shape;
    let left: Vec<f64> = numbers(rows * terms, 1).collect();
    let right: Vec<f64> = numbers(terms * columns, 2).collect();
    let mut to = vec![0.0; rows * columns];
    seconds(|| {
        to.fill(0.0);
        for (row, to) in to.chunks_exact_mut(columns).enumerate() {
            for term in 0..terms {
                let factor = match case.across {
                    true => left[term * rows + row],
                    false => left[row * terms + term],
                };
                let line = &right[term * columns..][..columns];
                for (sum, value) in to.iter_mut().zip(line) {
                    *sum += factor * value;
                }
            }
        }
        std::hint::black_box(&to);
    })
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(&**word));
    for case in CASES.iter().filter(|case| wanted(case.name)) {
        let operations = case.shape.iter().map(|length| *length as f64).product::<f64>() * 2.0;
        let speed = |seconds: f64| operations / seconds * 1e-9;
        let (ours, loops) = (measure(case, DType::F64, |x| x), plain(case));
        let single = measure(case, DType::F32, |x| x as f32);
        let whole = measure(case, DType::I32, |x| (x * 1000.0) as i32);
        println!(
            "{:16} f64 {:7.2} loops {:7.2} (ratio {:5.2})   f32 {:7.2}   i32 {:7.2}",
            case.name,
            speed(ours),
            speed(loops),
            loops / ours,
            speed(single),
            speed(whole),
        );
    }
}
