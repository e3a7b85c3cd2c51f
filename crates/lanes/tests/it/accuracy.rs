//! Real functions against correctly rounded values.

use crate::common::{at, at2, float, float32, named, run, steps, steps32, vectors};
use pantile_lanes::{Binary, DType, Unary};

const FUNCTIONS: [&str; 23] = [
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "pow",
    "hypot",
    "atan2",
    "logaddexp",
];

/// An error of at most one unit leaves a result at most one float from the rounded one.
#[test]
fn results_are_the_nearest_float_or_one_beside_it() {
    println!("{:10} {:>6} {:>9} {:>6} {:>9}", "", "f64", "not best", "f32", "not best");
    for name in FUNCTIONS {
        let (body, operands) = named(name, DType::F64);
        let (short, _) = named(name, DType::F32);
        let (mut count, mut beside) = ([0; 2], [0; 2]);
        for words in vectors(&format!("{name}.txt")) {
            let (inputs, result) = words[1..].split_at(operands);
            let narrow = usize::from(words[0] == "f32");
            let apart = if narrow == 1 {
                let inputs: Vec<f32> = inputs.iter().map(|x| float32(x)).collect();
                steps32(run(&short, &inputs)[0], float32(&result[0]))
            } else {
                let inputs: Vec<f64> = inputs.iter().map(|x| float(x)).collect();
                let got = run(&body, &inputs)[0];
                steps(got, float(&result[0]))
            };
            assert!(apart <= 1, "{name} {words:?}: {apart} floats away");
            count[narrow] += 1;
            beside[narrow] += apart;
        }
        println!("{name:10} {:6} {:9} {:6} {:9}", count[0], beside[0], count[1], beside[1]);
        assert!(count[0] >= 300 && count[1] >= 40, "{name}: {count:?} vectors");
        // Within 0.55 units on the average: not every second result may be off.
        assert!(beside[0] * 10 < count[0] * 2, "{name}: {} of {}", beside[0], count[0]);
        assert!(beside[1] * 100 <= count[1], "{name}: {} of {}", beside[1], count[1]);
    }
}

#[test]
fn logarithms_of_whole_powers_are_whole() {
    for k in -1074..1024 {
        let x = if k < -1022 { f64::from_bits(1 << (k + 1074)) } else { 2f64.powi(k) };
        assert_eq!(at(Unary::Log2, x), f64::from(k));
    }
    for k in 0..23 {
        let x: f64 = format!("1e{k}").parse().unwrap();
        assert_eq!(at(Unary::Log10, x), f64::from(k));
    }
}

#[test]
fn powers_that_are_floats_are_exact() {
    for base in 1..200u64 {
        let mut power = 1u64;
        for k in 0..64 {
            let x = [base as f64, f64::from(k)];
            assert_eq!(at2(Binary::Pow, x[0], x[1]), power as f64, "{base}^{k}");
            assert_eq!(at2(Binary::Pow, -x[0], x[1]).abs(), power as f64);
            match power.checked_mul(base) {
                Some(next) if next < 1 << 53 => power = next,
                _ => break,
            }
        }
    }
    for k in -1074..1024 {
        let x = if k < -1022 { f64::from_bits(1 << (k + 1074)) } else { 2f64.powi(k) };
        assert_eq!(at2(Binary::Pow, 2.0, f64::from(k)), x);
    }
    for x in 0..500 {
        let x = f64::from(x) * 0.37;
        assert!(steps(at2(Binary::Pow, x, 0.5), x.sqrt()) <= 1);
        assert!(steps(at2(Binary::Pow, x, 2.0), x * x) <= 1);
    }
}
