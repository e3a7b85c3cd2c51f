//! Every function of the program text has a method or an operator, with the values of plain Rust.

use pantile::ir::{Binary, Unary};
use pantile::prelude::*;

/// Whoever adds a function has to say how it is called.
fn unary(function: Unary, a: &Array) -> Array {
    match function {
        Unary::Abs => a.abs(),
        Unary::Acos => a.acos(),
        Unary::Acosh => a.acosh(),
        Unary::Asin => a.asin(),
        Unary::Asinh => a.asinh(),
        Unary::Atan => a.atan(),
        Unary::Atanh => a.atanh(),
        Unary::Ceil => a.ceil(),
        Unary::Cos => a.cos(),
        Unary::Cosh => a.cosh(),
        Unary::Erf => a.erf(),
        Unary::Exp => a.exp(),
        Unary::Expm1 => a.expm1(),
        Unary::Floor => a.floor(),
        Unary::IsFinite => a.is_finite(),
        Unary::IsInf => a.is_inf(),
        Unary::IsNan => a.is_nan(),
        Unary::Log => a.log(),
        Unary::Log1p => a.log1p(),
        Unary::Log2 => a.log2(),
        Unary::Log10 => a.log10(),
        Unary::Round => a.round(),
        Unary::Sign => a.sign(),
        Unary::Sin => a.sin(),
        Unary::Sinh => a.sinh(),
        Unary::Square => a.square(),
        Unary::Sqrt => a.sqrt(),
        Unary::Tan => a.tan(),
        Unary::Tanh => a.tanh(),
        Unary::Trunc => a.trunc(),
        Unary::Negative => -a,
        Unary::Positive => a.positive(),
        Unary::LogicalNot => a.logical_not(),
        Unary::BitwiseInvert => !a,
        Unary::Conj => a.conj(),
        Unary::Real => a.real(),
        Unary::Imag => a.imag(),
        Unary::Reciprocal => a.reciprocal(),
        Unary::SignBit => a.signbit(),
    }
}

/// The same for one float, truths as 0 and 1; nothing where there is no such function of floats.
fn plain_unary(function: Unary, x: f64) -> Option<f64> {
    let truth = |value: bool| f64::from(u8::from(value));
    Some(match function {
        Unary::Abs => x.abs(),
        Unary::Acos => x.acos(),
        Unary::Acosh => x.acosh(),
        Unary::Asin => x.asin(),
        Unary::Asinh => x.asinh(),
        Unary::Atan => x.atan(),
        Unary::Atanh => x.atanh(),
        Unary::Ceil => x.ceil(),
        Unary::Cos => x.cos(),
        Unary::Cosh => x.cosh(),
        Unary::Erf => {
            // A series of terms of one sign: nothing is lost.
            let (mut sum, mut term) = (0.0, x);
            for n in 0..200 {
                sum += term;
                term *= 2.0 * x * x / (2.0 * f64::from(n) + 3.0);
            }
            sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI
        }
        Unary::Exp => x.exp(),
        Unary::Expm1 => x.exp_m1(),
        Unary::Floor => x.floor(),
        Unary::IsFinite => truth(x.is_finite()),
        Unary::IsInf => truth(x.is_infinite()),
        Unary::IsNan => truth(x.is_nan()),
        Unary::Log => x.ln(),
        Unary::Log1p => x.ln_1p(),
        Unary::Log2 => x.log2(),
        Unary::Log10 => x.log10(),
        Unary::Round => x.round_ties_even(),
        Unary::Sign if x == 0.0 => 0.0,
        Unary::Sign => x.signum(),
        Unary::Sin => x.sin(),
        Unary::Sinh => x.sinh(),
        Unary::Square => x * x,
        Unary::Sqrt => x.sqrt(),
        Unary::Tan => x.tan(),
        Unary::Tanh => x.tanh(),
        Unary::Trunc => x.trunc(),
        Unary::Negative => -x,
        Unary::Positive | Unary::Conj | Unary::Real => x,
        Unary::LogicalNot => truth(x == 0.0),
        Unary::Reciprocal => 1.0 / x,
        Unary::SignBit => truth(x.is_sign_negative()),
        Unary::BitwiseInvert => return None,
        Unary::Imag => 0.0,
    })
}

fn binary(function: Binary, a: &Array, b: &Array) -> Array {
    match function {
        Binary::Add => a + b,
        Binary::Atan2 => a.atan2(b),
        Binary::BitwiseAnd => a & b,
        Binary::BitwiseLeftShift => a << b,
        Binary::BitwiseOr => a | b,
        Binary::BitwiseRightShift => a >> b,
        Binary::BitwiseXor => a ^ b,
        Binary::Equal => a.equal(b),
        Binary::FloorDivide => a.floor_divide(b),
        Binary::Greater => a.greater(b),
        Binary::GreaterEqual => a.greater_equal(b),
        Binary::Less => a.less(b),
        Binary::LessEqual => a.less_equal(b),
        Binary::LogAddExp => a.logaddexp(b),
        Binary::LogicalAnd => a.logical_and(b),
        Binary::LogicalOr => a.logical_or(b),
        Binary::LogicalXor => a.logical_xor(b),
        Binary::Maximum => a.maximum(b),
        Binary::Minimum => a.minimum(b),
        Binary::Remainder => a % b,
        Binary::Multiply => a * b,
        Binary::NotEqual => a.not_equal(b),
        Binary::Pow => a.pow(b),
        Binary::Subtract => a - b,
        Binary::Divide => a / b,
        Binary::CopySign => a.copysign(b),
        Binary::Hypot => a.hypot(b),
        Binary::NextAfter => a.nextafter(b),
    }
}

fn plain_binary(function: Binary, x: f64, y: f64) -> Option<f64> {
    let truth = |value: bool| f64::from(u8::from(value));
    Some(match function {
        Binary::Add => x + y,
        Binary::Atan2 => x.atan2(y),
        Binary::Equal => truth(x == y),
        Binary::FloorDivide => (x / y).floor(),
        Binary::Greater => truth(x > y),
        Binary::GreaterEqual => truth(x >= y),
        Binary::Less => truth(x < y),
        Binary::LessEqual => truth(x <= y),
        Binary::LogAddExp => (x.exp() + y.exp()).ln(),
        Binary::LogicalAnd => truth(x != 0.0 && y != 0.0),
        Binary::LogicalOr => truth(x != 0.0 || y != 0.0),
        Binary::LogicalXor => truth((x != 0.0) != (y != 0.0)),
        Binary::Maximum => x.max(y),
        Binary::Minimum => x.min(y),
        Binary::Remainder => x - y * (x / y).floor(),
        Binary::Multiply => x * y,
        Binary::NotEqual => truth(x != y),
        Binary::Pow => x.powf(y),
        Binary::Subtract => x - y,
        Binary::Divide => x / y,
        Binary::CopySign => x.copysign(y),
        Binary::Hypot => x.hypot(y),
        Binary::NextAfter if x < y => x.next_up(),
        Binary::NextAfter if x > y => x.next_down(),
        Binary::NextAfter => y,
        Binary::BitwiseAnd
        | Binary::BitwiseLeftShift
        | Binary::BitwiseOr
        | Binary::BitwiseRightShift
        | Binary::BitwiseXor => return None,
    })
}

/// Whole numbers, for functions of bits.
fn bits(function: Binary, x: i64, y: i64) -> i64 {
    match function {
        Binary::BitwiseAnd => x & y,
        Binary::BitwiseLeftShift => x << y,
        Binary::BitwiseOr => x | y,
        Binary::BitwiseRightShift => x >> y,
        _ => x ^ y,
    }
}

fn near(name: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{name}");
    for (got, expected) in got.iter().zip(expected) {
        let same = got == expected || (got.is_nan() && expected.is_nan());
        let close = (got - expected).abs() <= 1e-13 * expected.abs().max(1e-3);
        assert!(same || close, "{name}: got {got}, expected {expected}");
    }
}

const XS: [f64; 9] = [-2.5, -1.0, -0.3, 0.0, 0.2, 0.5, 1.0, 1.5, 3.25];
const YS: [f64; 9] = [2.0, -1.0, 0.7, 1.5, -0.4, 0.5, 2.0, -3.0, 1.25];

#[test]
fn every_function_of_one_element() {
    for ranks in [1, 3] {
        let world = Session::threads(ranks).unwrap().dist("block(r)");
        let a = world.from_vec(&[9], &XS);
        for function in Unary::ALL {
            if let Some(expected) =
                XS.iter().map(|x| plain_unary(*function, *x)).collect::<Option<Vec<_>>>()
            {
                let got = unary(*function, &a);
                // `imag` of real numbers and the like may have another type.
                near(function.name(), &got.cast(DType::F64).to_vec::<f64>().unwrap(), &expected);
            } else {
                assert!(unary(*function, &a).compute().is_err(), "{function} of floats");
                let whole = unary(*function, &world.arange(-2, 3, 1));
                assert_eq!(whole.to_vec::<i64>().unwrap(), [1, 0, -1, -2, -3], "{function}");
            }
        }
    }
}

#[test]
fn every_function_of_two_elements() {
    let whole: [(i64, i64); 5] = [(12, 3), (-7, 2), (5, 0), (0, 1), (255, 7)];
    for ranks in [1, 3] {
        let world = Session::threads(ranks).unwrap().dist("block(r)");
        let (a, b) = (world.from_vec(&[9], &XS), world.from_vec(&[9], &YS));
        let p = world.from_vec(&[5], &whole.map(|pair| pair.0));
        let q = world.from_vec(&[5], &whole.map(|pair| pair.1));
        for function in Binary::ALL {
            let pairs = XS.iter().zip(&YS);
            let expected: Option<Vec<f64>> =
                pairs.map(|(x, y)| plain_binary(*function, *x, *y)).collect();
            if let Some(expected) = expected {
                let got = binary(*function, &a, &b).cast(DType::F64);
                near(function.name(), &got.to_vec::<f64>().unwrap(), &expected);
            } else {
                let got = binary(*function, &p, &q).to_vec::<i64>().unwrap();
                assert_eq!(got, whole.map(|(x, y)| bits(*function, x, y)), "{function}");
                assert!(binary(*function, &a, &b).compute().is_err(), "{function} of floats");
            }
        }
    }
}

#[test]
fn operators_that_assign_and_numbers_on_both_sides() {
    let world = Session::threads(2).unwrap();
    let mut a = world.arange(0, 8, 1);
    let seen = a.get(s![by(.., 3)]);
    a %= 5;
    a |= 8;
    a &= 11;
    a ^= 1;
    let expected: Vec<i64> = (0..8).map(|x| (((x % 5) | 8) & 11) ^ 1).collect();
    assert_eq!(a.to_vec::<i64>().unwrap(), expected);
    assert_eq!(seen.to_vec::<i64>().unwrap(), [expected[0], expected[3], expected[6]]);
    assert_eq!((1 << world.arange(0, 4, 1)).to_vec::<i64>().unwrap(), [1, 2, 4, 8]);
    assert_eq!((world.arange(0, 9, 4) >> 2).to_vec::<i64>().unwrap(), [0, 1, 2]);
    // Two numbers keep their own type.
    let mask = world.arange(0, 3, 1).equal(1);
    assert_eq!(mask.choose(7, -7).to_vec::<i64>().unwrap(), [-7, 7, -7]);
    assert_eq!(mask.choose(0.5, 1).to_vec::<f64>().unwrap(), [1.0, 0.5, 1.0]);
    assert_eq!(mask.choose(false, true).to_vec::<bool>().unwrap(), [true, false, true]);
}
