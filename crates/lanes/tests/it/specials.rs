//! Special values of real functions, as the array API standard lists them.

use crate::common::{at, at2, binary, run, same, unary};
use pantile_lanes::{Binary, DType, Unary};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn check(function: Unary, cases: &[(f64, f64)]) {
    let short = unary(function, DType::F32);
    for (x, expected) in cases {
        let got = at(function, *x);
        assert!(same(got, *expected), "{function}({x}) is {got}, expected {expected}");
        #[allow(clippy::cast_possible_truncation, reason = "special values are short floats")]
        let (x, expected) = (*x as f32, *expected as f32);
        let got = run::<f32, f32>(&short, &[x])[0];
        assert!(same(got.into(), expected.into()), "f32 {function}({x}) is {got}");
    }
}

#[test]
fn of_one_number() {
    check(Unary::Exp, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN)]);
    check(Unary::Exp, &[(1e5, INF), (-1e5, 0.0)]);
    check(Unary::Expm1, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (NAN, NAN)]);
    for log in [Unary::Log, Unary::Log2, Unary::Log10] {
        check(log, &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-1.0, NAN)]);
        check(log, &[(-INF, NAN), (NAN, NAN)]);
    }
    check(Unary::Log1p, &[(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (INF, INF)]);
    check(Unary::Log1p, &[(-INF, NAN), (NAN, NAN)]);
    check(Unary::Sin, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]);
    check(Unary::Cos, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]);
    check(Unary::Tan, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]);
    check(Unary::Asin, &[(0.0, 0.0), (-0.0, -0.0), (1.0, FRAC_PI_2), (-1.0, -FRAC_PI_2)]);
    check(Unary::Asin, &[(1.5, NAN), (-1.5, NAN), (INF, NAN), (NAN, NAN)]);
    check(Unary::Acos, &[(1.0, 0.0), (-1.0, PI), (0.0, FRAC_PI_2), (1.5, NAN), (-INF, NAN)]);
    check(Unary::Acos, &[(NAN, NAN)]);
    check(Unary::Atan, &[(0.0, 0.0), (-0.0, -0.0), (INF, FRAC_PI_2), (-INF, -FRAC_PI_2)]);
    check(Unary::Atan, &[(1.0, FRAC_PI_4), (NAN, NAN)]);
    check(Unary::Sinh, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)]);
    check(Unary::Cosh, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN)]);
    check(Unary::Tanh, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN)]);
    check(Unary::Asinh, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)]);
    check(Unary::Acosh, &[(1.0, 0.0), (0.5, NAN), (-1.0, NAN), (INF, INF), (-INF, NAN)]);
    check(Unary::Acosh, &[(NAN, NAN)]);
    check(Unary::Atanh, &[(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN)]);
    check(Unary::Atanh, &[(-INF, NAN), (INF, NAN), (NAN, NAN)]);
    check(Unary::Erf, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN)]);
    check(Unary::Sqrt, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-1.0, NAN), (NAN, NAN)]);
}

#[test]
fn of_roundings_and_signs() {
    check(Unary::Round, &[(0.5, 0.0), (1.5, 2.0), (-0.5, -0.0), (2.5, 2.0), (INF, INF)]);
    check(Unary::Floor, &[(-0.5, -1.0), (-0.0, -0.0), (INF, INF), (NAN, NAN)]);
    check(Unary::Ceil, &[(-0.5, -0.0), (0.5, 1.0), (-INF, -INF)]);
    check(Unary::Trunc, &[(-0.5, -0.0), (1.75, 1.0), (-INF, -INF)]);
    check(Unary::Abs, &[(-0.0, 0.0), (-INF, INF), (NAN, NAN), (-2.0, 2.0)]);
    check(Unary::Sign, &[(-3.0, -1.0), (0.0, 0.0), (-0.0, 0.0), (INF, 1.0), (NAN, NAN)]);
    check(Unary::Square, &[(-3.0, 9.0), (-INF, INF), (NAN, NAN)]);
    check(Unary::Reciprocal, &[(4.0, 0.25), (-0.0, -INF), (INF, 0.0), (NAN, NAN)]);
    check(Unary::Negative, &[(0.0, -0.0), (-INF, INF)]);
    check(Unary::Positive, &[(-0.0, -0.0), (NAN, NAN)]);
    check(Unary::Conj, &[(-2.0, -2.0)]);
    check(Unary::Real, &[(-2.0, -2.0)]);
    check(Unary::Imag, &[(-2.0, 0.0)]);
    let truth = |function, x: f64| run::<f64, bool>(&unary(function, DType::F64), &[x])[0];
    let signs = [0.0, -0.0, INF, -INF, NAN, -NAN, 5e-324].map(|x| truth(Unary::SignBit, x));
    assert_eq!(signs, [false, true, false, true, false, true, false]);
    assert_eq!(
        [1.0, INF, -INF, NAN].map(|x| truth(Unary::IsFinite, x)),
        [true, false, false, false]
    );
    assert_eq!([1.0, INF, -INF, NAN].map(|x| truth(Unary::IsInf, x)), [false, true, true, false]);
    assert_eq!([1.0, INF, -INF, NAN].map(|x| truth(Unary::IsNan, x)), [false, false, false, true]);
    assert_eq!(
        [0.0, -0.0, 0.1, NAN].map(|x| truth(Unary::LogicalNot, x)),
        [true, true, false, false]
    );
}

fn check2(function: Binary, cases: &[(f64, f64, f64)]) {
    let short = binary(function, DType::F32);
    for (x, y, expected) in cases {
        let got = at2(function, *x, *y);
        assert!(same(got, *expected), "{function}({x}, {y}) is {got}, expected {expected}");
        #[allow(clippy::cast_possible_truncation, reason = "special values are short floats")]
        let (x, y, expected) = (*x as f32, *y as f32, *expected as f32);
        let got = run::<f32, f32>(&short, &[x, y])[0];
        assert!(same(got.into(), expected.into()), "f32 {function}({x}, {y}) is {got}");
    }
}

#[test]
fn of_powers() {
    let pow = Binary::Pow;
    check2(pow, &[(NAN, 0.0, 1.0), (NAN, -0.0, 1.0), (INF, 0.0, 1.0), (1.0, NAN, 1.0)]);
    check2(pow, &[(1.0, INF, 1.0), (NAN, 2.0, NAN), (2.0, NAN, NAN)]);
    check2(pow, &[(2.0, INF, INF), (2.0, -INF, 0.0), (-2.0, INF, INF), (-2.0, -INF, 0.0)]);
    check2(pow, &[(-1.0, INF, 1.0), (-1.0, -INF, 1.0), (0.5, INF, 0.0), (0.5, -INF, INF)]);
    check2(pow, &[(0.0, INF, 0.0), (0.0, -INF, INF), (INF, INF, INF), (INF, -INF, 0.0)]);
    check2(pow, &[(INF, 2.0, INF), (INF, -2.0, 0.0), (INF, 0.5, INF), (-INF, 3.0, -INF)]);
    check2(pow, &[(-INF, 2.0, INF), (-INF, 0.5, INF), (-INF, -3.0, -0.0), (-INF, -2.0, 0.0)]);
    check2(pow, &[(-INF, -0.5, 0.0), (0.0, 3.0, 0.0), (0.0, 0.5, 0.0), (0.0, -3.0, INF)]);
    check2(pow, &[(0.0, -0.5, INF), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, 0.5, 0.0)]);
    check2(pow, &[(-0.0, -3.0, -INF), (-0.0, -2.0, INF), (-0.0, -0.5, INF)]);
    check2(pow, &[(-2.0, 0.5, NAN), (-2.0, 3.0, -8.0), (-2.0, -2.0, 0.25), (2.0, 2000.0, INF)]);
    check2(pow, &[(-2.0, 2001.0, -INF), (2.0, -2000.0, 0.0), (-2.0, -2001.0, -0.0)]);
}

#[test]
fn of_angles_and_lengths() {
    let (three, angle) = (3.0 * FRAC_PI_4, Binary::Atan2);
    check2(angle, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (1.0, 0.0, FRAC_PI_2)]);
    check2(angle, &[(1.0, -0.0, FRAC_PI_2), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (0.0, -0.0, PI)]);
    check2(angle, &[(0.0, -1.0, PI), (-0.0, 1.0, -0.0), (-0.0, 0.0, -0.0), (-0.0, -0.0, -PI)]);
    check2(angle, &[(-0.0, -1.0, -PI), (-1.0, 0.0, -FRAC_PI_2), (-1.0, -0.0, -FRAC_PI_2)]);
    check2(angle, &[(1.0, INF, 0.0), (1.0, -INF, PI), (-1.0, INF, -0.0), (-1.0, -INF, -PI)]);
    check2(angle, &[(INF, 1.0, FRAC_PI_2), (-INF, 1.0, -FRAC_PI_2), (INF, INF, FRAC_PI_4)]);
    check2(angle, &[(INF, -INF, three), (-INF, INF, -FRAC_PI_4), (-INF, -INF, -three)]);
    let hypot = Binary::Hypot;
    check2(hypot, &[(INF, NAN, INF), (NAN, -INF, INF), (NAN, 1.0, NAN), (1.0, NAN, NAN)]);
    check2(hypot, &[(0.0, -0.0, 0.0), (3.0, -4.0, 5.0), (-2.0, 0.0, 2.0)]);
    assert_eq!(at2(hypot, 3e300, 4e300), 5e300);
    assert_eq!(at2(hypot, 5e-324, 0.0), 5e-324);
    let sum = Binary::LogAddExp;
    check2(sum, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (INF, 1.0, INF), (1.0, INF, INF)]);
    check2(sum, &[(INF, INF, INF), (-INF, -INF, -INF), (-INF, 2.0, 2.0), (3.0, -INF, 3.0)]);
    check2(sum, &[(INF, -INF, INF), (INF, NAN, NAN)]);
    // What is added to 0 is as small as the power, down to nothing.
    check2(sum, &[(0.0, -744.0, 1e-323), (-745.0, 0.0, 5e-324), (0.0, -746.0, 0.0)]);
    check2(sum, &[(0.0, -1e6, 0.0), (f64::MIN, 0.0, 0.0), (-0.0, -1e30, 0.0)]);
}

#[test]
fn of_quotients() {
    let divide = Binary::FloorDivide;
    check2(divide, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (INF, INF, NAN), (0.0, 0.0, NAN)]);
    check2(divide, &[(0.0, 2.0, 0.0), (-0.0, 2.0, -0.0), (0.0, -2.0, -0.0), (-0.0, -2.0, 0.0)]);
    check2(divide, &[(1.0, 0.0, INF), (1.0, -0.0, -INF), (-1.0, 0.0, -INF), (-1.0, -0.0, INF)]);
    check2(divide, &[(1.0, INF, 0.0), (1.0, -INF, -1.0), (-1.0, INF, -1.0), (-1.0, -INF, 0.0)]);
    check2(divide, &[(7.0, 2.0, 3.0), (-7.0, 2.0, -4.0), (7.0, -2.0, -4.0), (-7.0, -2.0, 3.0)]);
    check2(divide, &[(INF, 2.0, NAN), (INF, -2.0, NAN), (-INF, 2.0, NAN), (-INF, -2.0, NAN)]);
    check2(divide, &[(INF, 0.0, INF), (-0.0, INF, -0.0), (0.0, INF, 0.0)]);
    check2(divide, &[(6.0, -2.0, -3.0), (INF, -INF, NAN)]);
    let rest = Binary::Remainder;
    check2(rest, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (INF, 1.0, NAN), (1.0, 0.0, NAN)]);
    check2(rest, &[(0.0, 2.0, 0.0), (-0.0, 2.0, 0.0), (0.0, -2.0, -0.0), (-0.0, -2.0, -0.0)]);
    check2(rest, &[(1.0, INF, 1.0), (1.0, -INF, -INF), (-1.0, INF, INF), (-1.0, -INF, -1.0)]);
    check2(rest, &[(7.0, 2.0, 1.0), (-7.0, 2.0, 1.0), (7.0, -2.0, -1.0), (-7.0, -2.0, -1.0)]);
    check2(rest, &[(6.0, -2.0, -0.0), (0.0, 0.0, NAN), (-INF, INF, NAN)]);
    check2(Binary::Divide, &[(1.0, -0.0, -INF), (0.0, 0.0, NAN), (INF, INF, NAN), (1.0, INF, 0.0)]);
}

#[test]
fn of_steps_and_orders() {
    check2(Binary::CopySign, &[(1.0, -0.0, -1.0), (-0.0, 1.0, 0.0), (INF, -1.0, -INF)]);
    check2(Binary::CopySign, &[(-3.0, NAN, 3.0), (NAN, -1.0, NAN)]);
    check2(Binary::Maximum, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (-0.0, 0.0, 0.0), (2.0, 3.0, 3.0)]);
    check2(
        Binary::Minimum,
        &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (-0.0, 0.0, -0.0), (2.0, 3.0, 2.0)],
    );
    check2(
        Binary::NextAfter,
        &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (0.0, -0.0, -0.0), (-0.0, 0.0, 0.0)],
    );
    for (x, y, expected) in [
        (0.0, 1.0, 5e-324),
        (0.0, -1.0, -5e-324),
        (1.0, 2.0, 1.0 + f64::EPSILON),
        (1.0, 0.0, 1.0 - f64::EPSILON / 2.0),
        (-1.0, 0.0, -1.0 + f64::EPSILON / 2.0),
        (5e-324, -1.0, 0.0),
        (-5e-324, 1.0, -0.0),
        (f64::MAX, INF, INF),
        (INF, 0.0, f64::MAX),
        (-INF, 0.0, -f64::MAX),
    ] {
        let got = at2(Binary::NextAfter, x, y);
        assert!(same(got, expected), "nextafter({x}, {y}) is {got}, expected {expected}");
    }
    let short = binary(Binary::NextAfter, DType::F32);
    assert_eq!(run::<f32, f32>(&short, &[1.0, 2.0]), [1.0 + f32::EPSILON]);
    let order =
        |function, x: f64, y: f64| run::<f64, bool>(&binary(function, DType::F64), &[x, y])[0];
    assert!(order(Binary::Greater, 2.0, 1.0) && !order(Binary::Greater, NAN, 1.0));
    assert!(order(Binary::GreaterEqual, 2.0, 2.0) && !order(Binary::GreaterEqual, 1.0, NAN));
    assert!(order(Binary::Less, 1.0, 2.0) && order(Binary::LessEqual, 2.0, 2.0));
    assert!(order(Binary::Equal, 0.0, -0.0) && order(Binary::NotEqual, NAN, NAN));
    assert!(order(Binary::LogicalAnd, NAN, 1.0) && !order(Binary::LogicalAnd, 0.0, 1.0));
    assert!(order(Binary::LogicalOr, 0.0, 1.0) && !order(Binary::LogicalXor, 2.0, 1.0));
}
