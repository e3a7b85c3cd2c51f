//! Complex functions against correctly rounded parts and special values.

#![allow(clippy::print_stdout, reason = "the table of errors is printed on request")]

use crate::common::{binary, float, named, run, same, steps, unary, vectors};
use pantile_lanes::expand::{self, ElementLanes};
use pantile_lanes::{Binary, BinaryOp, DType, Element, LaneOp, LoopBody, Unary};

/// Functions with the distance in floats that their parts may have from the rounded value.
const FUNCTIONS: [(&str, u64); 24] = [
    ("exp", 3),
    ("log", 1),
    ("log1p", 2),
    ("log2", 1),
    ("log10", 1),
    ("sqrt", 1),
    ("sin", 3),
    ("cos", 3),
    ("tan", 4),
    ("sinh", 3),
    ("cosh", 3),
    ("tanh", 4),
    ("asin", 4),
    ("acos", 3),
    ("atan", 4),
    ("asinh", 4),
    ("acosh", 3),
    ("atanh", 4),
    ("reciprocal", 3),
    ("sign", 2),
    ("divide", 3),
    ("pow", 4),
    // The plain formulas cancel; see the law below.
    ("square", u64::MAX),
    ("multiply", u64::MAX),
];

/// The distance of a value from the rounded one, in units of the larger part.
fn by_norm(got: &[f64], expected: &[f64]) -> f64 {
    let unit = expected[0].abs().max(expected[1].abs()) * f64::EPSILON;
    let unit = unit.max(f64::from_bits(1));
    (got[0] - expected[0]).abs().max((got[1] - expected[1]).abs()) / unit
}

fn check(name: &str, bound: u64, norm_bound: f64) {
    let (body, operands) = named(name, DType::C128);
    let (mut worst, mut worst_norm, mut edges) = ([0; 2], 0f64, 0);
    for words in vectors(&format!("complex_{name}.txt")) {
        let numbers: Vec<f64> = words[1..].iter().map(|x| float(x)).collect();
        let (inputs, expected) = numbers.split_at(2 * operands);
        let got: Vec<f64> = run(&body, inputs);
        if words[0] == "edge" {
            edges += 1;
            let fits = |i: usize| {
                // Beside a NaN the standard leaves the sign open; values that are no special ones
                // may be a few floats away.
                let open = expected[1 - i].is_nan() && same(got[i].abs(), expected[i].abs());
                let near = expected[i] != 0.0 && steps(got[i], expected[i]) <= 4;
                same(got[i], expected[i]) || open || near
            };
            assert!(fits(0) && fits(1), "{name} {inputs:?}: got {got:?}, expected {expected:?}");
            continue;
        }
        worst_norm = worst_norm.max(by_norm(&got, expected));
        for part in 0..2 {
            let apart = steps(got[part], expected[part]);
            assert!(apart <= bound, "{name} {inputs:?}: got {got:?}, expected {expected:?}");
            worst[part] = worst[part].max(apart);
        }
    }
    println!("{name:10} re {} im {} norm {worst_norm:.2} edges {edges}", worst[0], worst[1]);
    assert!(worst_norm <= norm_bound, "{name}: {worst_norm} units of the larger part");
}

#[test]
fn parts_are_within_a_few_floats_and_edges_are_right() {
    for (name, bound) in FUNCTIONS {
        check(name, bound, 4.0);
    }
    // The real part of expm1 cancels where exp(x) cos(y) is near 1.
    check("expm1", u64::MAX, 4.0);
}

#[test]
fn short_parts_are_the_rounded_long_ones() {
    for name in ["exp", "sqrt", "log", "tan", "acos", "divide", "pow"] {
        let (long, operands) = named(name, DType::C128);
        let (short, _) = named(name, DType::C64);
        for words in vectors(&format!("complex_{name}.txt")) {
            let inputs = words[1..=2 * operands].iter().map(|x| float(x));
            #[allow(clippy::cast_possible_truncation, reason = "rounding is what is tested")]
            let inputs: Vec<f32> = inputs.map(|x| x as f32).collect();
            let wide: Vec<f64> = inputs.iter().map(|x| f64::from(*x)).collect();
            let (got, expected): (Vec<f32>, Vec<f64>) = (run(&short, &inputs), run(&long, &wide));
            for (got, expected) in got.iter().zip(expected) {
                #[allow(clippy::cast_possible_truncation, reason = "rounding is what is tested")]
                let expected = expected as f32;
                assert!(same(f64::from(*got), f64::from(expected)), "{name} {inputs:?}");
            }
        }
    }
}

#[test]
fn products_are_the_plain_formula() {
    let body = binary(Binary::Multiply, DType::C64);
    let [a, b, c, d] = [1.1f32, -0.3, 7.7, 2.9e-3];
    let got: Vec<f32> = run(&body, &[a, b, c, d]);
    assert_eq!(got, [a * c - b * d, a * d + b * c]);
    let body = unary(Unary::Square, DType::C128);
    let got: Vec<f64> = run(&body, &[1.1, -0.3]);
    assert_eq!(got, [1.1 * 1.1 - 0.3 * 0.3, 1.1 * -0.3 + -0.3 * 1.1]);
}

#[test]
fn imaginary_powers_of_positive_numbers_have_length_one() {
    let body = binary(Binary::Pow, DType::C128);
    let pow = |z: [f64; 2], w: [f64; 2]| run::<f64, f64>(&body, &[z[0], z[1], w[0], w[1]]);
    for exponent in 0..300 {
        // Also angles whose low part is no small number.
        let w = 1.37 * 10f64.powi(exponent / 15);
        let base = 0.5 + f64::from(exponent) / 7.0;
        let got = pow([base, 0.0], [0.0, w]);
        let length = got[0].hypot(got[1]);
        assert!((length - 1.0).abs() < 1e-14, "{base}^({w} i) has length {length}");
    }
    // cos and -sin of 1e18 ln 2, computed with 80 digits.
    let got = pow([0.5, 0.0], [0.0, 1e18]);
    assert!((got[0] + 0.319_585_213_530_746_54).abs() < 1e-11, "{got:?}");
    assert!((got[1] - 0.947_557_539_832_018_4).abs() < 1e-11, "{got:?}");
}

#[test]
fn small_whole_powers_are_products() {
    let body = binary(Binary::Pow, DType::C128);
    let pow = |z: [f64; 2], w: [f64; 2]| run::<f64, f64>(&body, &[z[0], z[1], w[0], w[1]]);
    assert_eq!(pow([1.0, 2.0], [2.0, 0.0]), [-3.0, 4.0]);
    assert_eq!(pow([1.0, 2.0], [1.0, 0.0]), [1.0, 2.0]);
    assert_eq!(pow([1.0, 1.0], [8.0, 0.0]), [16.0, 0.0]);
    assert_eq!(pow([0.0, 2.0], [-2.0, 0.0]), [-0.25, 0.0]);
    assert_eq!(pow([3.0, -4.0], [0.0, 0.0]), [1.0, 0.0]);
    assert_eq!(pow([0.0, 0.0], [0.0, 0.0]), [1.0, 0.0]);
    assert_eq!(pow([0.0, 0.0], [2.5, 1.0]), [0.0, 0.0]);
    assert!(pow([0.0, 0.0], [-2.5, 1.0])[0].is_nan());
}

#[test]
fn quotients_do_not_overflow_on_the_way() {
    let body = binary(Binary::Divide, DType::C128);
    let divide = |z: [f64; 2], w: [f64; 2]| run::<f64, f64>(&body, &[z[0], z[1], w[0], w[1]]);
    let huge = 1.0e308;
    assert_eq!(divide([huge, huge], [huge, huge]), [1.0, 0.0]);
    assert_eq!(divide([1e-308, 1e-308], [1e-308, 1e-308]), [1.0, 0.0]);
    assert_eq!(divide([5e-324, 0.0], [5e-324, 0.0]), [1.0, 0.0]);
    assert_eq!(divide([f64::MAX, 0.0], [2.0, 0.0]), [f64::MAX / 2.0, 0.0]);
    assert_eq!(divide([1.0, -2.0], [f64::INFINITY, 1.0]), [0.0, -0.0]);
    // Zeros have the signs of the plain formula.
    let signs = |z, w| divide(z, w).into_iter().map(f64::is_sign_negative).collect::<Vec<_>>();
    assert_eq!(signs([1.5, -0.0], [1.0, 0.0]), [false, true]);
    assert_eq!(signs([-0.0, -0.5], [1.0, 0.0]), [true, true]);
    assert_eq!(signs([0.0, 0.0], [-1.0, 0.0]), [false, true]);
    assert_eq!(signs([-0.0, 0.0], [2.0, 0.0]), [false, false]);
    assert_eq!(signs([-0.0, -0.0], [2.0, 0.0]), [true, false]);
    assert!(divide([1.0, 0.0], [0.0, 0.0])[0] == f64::INFINITY);
    assert_eq!(divide([f64::INFINITY, 1.0], [2.0, 1.0])[0], f64::INFINITY);
}

/// The parts of a complex or real input after a cast.
fn cast<T: Element>(from: DType, to: DType, inputs: &[f64]) -> Vec<T> {
    let mut body = LoopBody::new();
    let (part, count) = crate::common::parts(from);
    let nodes: Vec<_> = (0..count).map(|_| body.input(part).unwrap()).collect();
    let x = if count == 2 {
        ElementLanes::Complex(nodes[0], nodes[1])
    } else {
        ElementLanes::Real(nodes[0])
    };
    let outputs = match expand::cast(&mut body, x, to).unwrap() {
        ElementLanes::Real(y) => vec![y],
        ElementLanes::Complex(re, im) => vec![re, im],
    };
    outputs.iter().for_each(|y| body.output(*y));
    run(&body, inputs)
}

#[test]
fn casts_drop_and_add_imaginary_parts() {
    let zero = cast::<f64>(DType::F64, DType::C128, &[-2.5]);
    assert!(zero[0] == -2.5 && same(zero[1], 0.0));
    assert_eq!(cast::<f32>(DType::F64, DType::C64, &[0.1]), [0.1, 0.0]);
    assert_eq!(cast::<f32>(DType::C128, DType::C64, &[0.1, 0.2]), [0.1, 0.2]);
    assert_eq!(cast::<f64>(DType::C128, DType::F64, &[7.0, 8.0]), [7.0]);
    assert_eq!(cast::<u8>(DType::C128, DType::U8, &[7.9, 8.0]), [7]);
    let truths = [[0.0, -0.0], [0.0, 1.0], [1.0, 0.0], [0.0, f64::NAN]];
    let truths = truths.map(|z| cast::<bool>(DType::C128, DType::Bool, &z)[0]);
    assert_eq!(truths, [false, true, true, true]);
}

#[test]
fn choices_take_both_parts() {
    let mut body = LoopBody::new();
    let lanes: Vec<_> = (0..4).map(|_| body.input(DType::F64).unwrap()).collect();
    let which = body.push(LaneOp::Binary(BinaryOp::Lt, lanes[0], lanes[2])).unwrap();
    let (yes, no) =
        (ElementLanes::Complex(lanes[0], lanes[1]), ElementLanes::Complex(lanes[2], lanes[3]));
    let chosen = expand::select(&mut body, which, yes, no).unwrap();
    let ElementLanes::Complex(re, im) = chosen else { unreachable!() };
    body.output(re);
    body.output(im);
    assert_eq!(run::<f64, f64>(&body, &[1.0, 9.0, 2.0, 3.0]), [1.0, 9.0]);
    assert_eq!(run::<f64, f64>(&body, &[2.0, 3.0, 1.0, 9.0]), [1.0, 9.0]);
}

#[test]
fn parts_classes_and_bools() {
    let of =
        |function, re: f64, im: f64| run::<f64, bool>(&unary(function, DType::C128), &[re, im])[0];
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    assert!(
        of(Unary::IsNan, 1.0, nan) && of(Unary::IsInf, nan, inf) && of(Unary::IsFinite, 1.0, 2.0)
    );
    assert!(!of(Unary::IsFinite, inf, 0.0) && !of(Unary::IsNan, inf, 0.0));
    assert!(of(Unary::LogicalNot, 0.0, -0.0) && !of(Unary::LogicalNot, 0.0, 1.0));
    let part =
        |function, re: f64, im: f64| run::<f64, f64>(&unary(function, DType::C128), &[re, im]);
    assert_eq!(part(Unary::Abs, 3.0, -4.0), [5.0]);
    assert_eq!(part(Unary::Abs, nan, -inf), [inf]);
    assert_eq!(part(Unary::Real, 3.0, -4.0), [3.0]);
    assert_eq!(part(Unary::Imag, 3.0, -4.0), [-4.0]);
    assert_eq!(part(Unary::Conj, 3.0, -4.0), [3.0, 4.0]);
    assert_eq!(part(Unary::Negative, 3.0, -4.0), [-3.0, 4.0]);
    assert_eq!(part(Unary::Positive, 3.0, -4.0), [3.0, -4.0]);
    assert_eq!(part(Unary::Round, 2.5, -3.5), [2.0, -4.0]);
    let both = |function, z: [f64; 4]| run::<f64, bool>(&binary(function, DType::C128), &z)[0];
    assert!(
        both(Binary::Equal, [1.0, 2.0, 1.0, 2.0]) && !both(Binary::Equal, [1.0, 2.0, 1.0, 3.0])
    );
    assert!(
        both(Binary::NotEqual, [1.0, 2.0, 1.0, 3.0])
            && both(Binary::NotEqual, [nan, 0.0, nan, 0.0])
    );
    assert!(both(Binary::LogicalAnd, [0.0, 2.0, 1.0, 0.0]) && !both(Binary::LogicalOr, [0.0; 4]));
    assert!(both(Binary::LogicalXor, [0.0, 2.0, 0.0, 0.0]));
    let sum = |function| run::<f64, f64>(&binary(function, DType::C128), &[1.0, 2.0, 3.0, 5.0]);
    assert_eq!((sum(Binary::Add), sum(Binary::Subtract)), (vec![4.0, 7.0], vec![-2.0, -3.0]));
}
